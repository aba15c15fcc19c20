#ifndef RINGSCOPE_COMMANDS_SIZES_SWEEP_REPORT_H_
#define RINGSCOPE_COMMANDS_SIZES_SWEEP_REPORT_H_

#include <string>
#include <vector>

#include "commands/sizes/sweep_logs.h"
#include "commands/replays/session_reader.h"
#include "commands/view/report.h"
#include "core/sweep/sweep_report.h"

namespace ringscope {

/// Passes over the log: reading, and the replay that makes what all sizes are tried with.
inline constexpr size_t kSweepSteps = 2;

/// What 'ringscope sweep' finds without further options, of one session.
/// @param selection the session, in one log
Result<SweepReport> SweepOwnSizes(Context& context, const SessionSelection& selection);

/// "keep=30s and loss=0"
std::string TargetsText(const SweepReport& report);
/// "1 MiB", or "1 MiB for buffer 1, 64 KiB for buffer 2"
std::string SizesText(const std::vector<SweepRow>& rows);

/// "the log lasts only 3.710 s", "even with 2 GiB for buffer 1, ..."
std::string WhyNotText(const SweepReport& report, const FoundSize& found);

/// "v2@58, ring_buffer, read at the end", and what the programs do if that was chosen
std::string SettingText(const SweepSetting& setting, const SweepRow& row);

/// Tables for people: one for each setting and buffer.
/// @param sequences list those of each row, too
void PrintSweep(Report& out, const SweepReport& report, bool sequences);

/// The result for programs and for reports on many logs.
/// @param sequences with those of each row
SweptSession Swept(const SweepReport& report, bool sequences);

/// A picture of loss and history against size, complete in itself.
std::string SweepSvg(const SweepReport& report);
/// The rules of its style sheet that other pictures do not have, see SvgStyle.
extern const char* const kSweepPlotStyle;
/// The same in a page, with the numbers.
std::string SweepHtml(const SweepReport& report);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_SIZES_SWEEP_REPORT_H_
