#ifndef RINGSCOPE_COMMANDS_SIZES_SWEEP_REPORT_H_
#define RINGSCOPE_COMMANDS_SIZES_SWEEP_REPORT_H_

#include <string>
#include <vector>

#include "commands/replays/session_reader.h"
#include "commands/view/report.h"
#include "core/sweep/sweep_report.h"

namespace ringscope {

/// "v2@58, ring_buffer, read at the end"
std::string SettingText(const SweepSetting& setting, const SweepRow& row);
/// "the log lasts only 3.710 s", "even with 2 GiB for buffer 1, ..."
std::string WhyNotText(const SweepReport& report, const FoundSize& found);
/// "keep=30s and loss=0"
std::string TargetsText(const SweepReport& report);
/// "1 MiB", or "1 MiB for buffer 1, 64 KiB for buffer 2"
std::string SizesText(const std::vector<SweepRow>& rows);

/// Prints tables for people: one for each setting and buffer.
/// @param sequences list those of each row, too
void PrintSweep(Report& out, const SweepReport& report, bool sequences);
/// The result for programs.
Json SweepJson(const SweepReport& report);
/// Rows of numbers; the first columns are the same for all tools that compare sizes.
Table SweepCsv();
void AddToCsv(const SweepReport& report, Table& rows);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_SIZES_SWEEP_REPORT_H_
