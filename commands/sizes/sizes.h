#ifndef RINGSCOPE_COMMANDS_SIZES_SIZES_H_
#define RINGSCOPE_COMMANDS_SIZES_SIZES_H_

#include "commands/session/replay_run.h"
#include "core/examine/examination.h"
#include "core/sweep/sweep_report.h"

namespace ringscope {

/// Reports the sweep of a session: as text a table for each setting and buffer, as JSON an object
/// of the array "sessions", else rows of CSV.
void ReportSweep(Report& out, const SweepReport& report);
/// The columns of CSV; the first ones are the same for all tools that compare sizes.
extern const std::string_view kSweepColumns;
/// Sweeps the sessions of an input as 'ringscope sweep' does without sizes, and returns what it
/// prints for programs.
/// @param choices its engine, policy, reads and config are those of all sizes
Result<Json> SweepDocument(Context& context, const SessionSelection& input,
                           const ReplayChoices& choices);

/// Reports the remedies of an examined session of a log.
/// @param keep_ns how far back each sequence is to reach; absent: nothing is to be overwritten
/// @return kNotice if a change is recommended
ExitCode ReportAdvice(const Examination& examination, std::optional<uint64_t> keep_ns, Report& out);

// Syntax of the values of a sweep's options. All errors are kUsage and name what is expected.

/// "1M,2M,4M", "256k..64M" (each twice the one before), "256k..64Mx1.5" (1.5 times), and commas
/// between any of them. Both ends of a range are always in it. Sizes between them that are no whole
/// number of 4 KiB pages are rounded up to one. In front of all: `BUFFER=`.
Result<SizeList> ParseSizeList(std::string_view text);
Result<NamedReads> ParseSweptReads(std::string_view text);
/// "keep=30s", "loss=0", "loss=0.1%"
Result<SweepTarget> ParseTarget(std::string_view text);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_SIZES_SIZES_H_
