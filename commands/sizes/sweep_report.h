#ifndef RINGSCOPE_COMMANDS_SIZES_SWEEP_REPORT_H_
#define RINGSCOPE_COMMANDS_SIZES_SWEEP_REPORT_H_

#include <string>
#include <string_view>
#include <vector>

#include "commands/replays/session_reader.h"
#include "commands/view/report.h"
#include "core/sweep/sweep_report.h"

namespace ringscope {

/// "the log lasts only 3.710 s", "even with 2 GiB for buffer 1, ..."
std::string WhyNotText(const SweepReport& report, const FoundSize& found);

/// Prints tables for people: one for each setting and buffer.
void PrintSweep(Report& out, const SweepReport& report);
/// The result for programs.
Json SweepJson(const SweepReport& report);
/// Rows of CSV; the first columns are the same for all tools that compare sizes.
/// @param report nullptr for their titles
std::string SweepCsv(const SweepReport* report);

// Syntax of the values of a sweep's options. All errors are kUsage and name what is expected.

/// "1M,2M,4M", "256k..64M" (each twice the one before), "256k..64Mx1.5" (1.5 times), and commas
/// between any of them. Both ends of a range are always in it. Sizes between them that are no whole
/// number of 4 KiB pages are rounded up to one. In front of all: `BUFFER=`.
Result<SizeList> ParseSizeList(std::string_view text);
Result<NamedReads> ParseSweptReads(std::string_view text);
/// "keep=30s", "loss=0", "loss=0.1%"
Result<SweepTarget> ParseTarget(std::string_view text);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_SIZES_SWEEP_REPORT_H_
