#ifndef RINGSCOPE_COMMANDS_SWEEP_REPORT_H_
#define RINGSCOPE_COMMANDS_SWEEP_REPORT_H_

#include <string>
#include <vector>

#include "commands/json_output.h"
#include "commands/sweep_plan.h"

namespace ringscope {

/// What came of looking for the smallest buffers for one setting.
struct FoundSize {
  size_t setting = 0;           // index
  std::optional<size_t> point;  // that meets the target; absent: none does
  bool verified = false;        // by an exact replay
  std::string why_not;          // none does, in words
};

/// All that a sweep of one session came to.
struct SweepReport {
  SessionFacts facts;
  SweepPlan plan;
  SweepResult result;  // a row for each of the plan's points
  std::vector<SweepTarget> targets;
  std::vector<FoundSize> found;  // a target's: by setting
};

/// Packets that a buffer lost, of those written to it: overwritten and discarded.
inline uint64_t LostPackets(const SweepRow& row) {
  return row.overwritten.packets + row.discarded.packets;
}
/// Packets that it kept: read, or still there to be read.
inline uint64_t KeptPackets(const SweepRow& row) { return row.read.packets + row.unread.packets; }

/// Packets that are missing for reasons that lie outside of any buffer.
inline uint64_t OtherPackets(const SweepRow& row) {
  const uint64_t known = KeptPackets(row) + LostPackets(row);
  return row.written.packets > known ? row.written.packets - known : 0;
}

/// The rows of one buffer in one setting, by size.
struct SweepSeries {
  const SweepSetting* setting = nullptr;
  BufferId buffer{};
  std::vector<const SweepRow*> rows;  // at least one
  std::vector<size_t> points;         // of the plan; of each row
};
/// Setting by setting, and in each by buffer. Configurations that differ in other buffers alone
/// mostly come out alike for one: such rows stand here once.
std::vector<SweepSeries> SeriesOf(const SweepReport& report);
/// The rows that a person wants to see of a search: those around what was found.
SweepSeries AroundFound(const SweepReport& report, const SweepSeries& series);
/// The log's own size of a buffer; 0 if it is not known.
uint64_t OwnSize(const SweepReport& report, BufferId buffer);
/// "keep=30s and loss=0"
std::string TargetsText(const SweepReport& report);
/// "1 MiB", or "1 MiB for buffer 1, 64 KiB for buffer 2"
std::string SizesText(const std::vector<SweepRow>& rows);

/// "v2@58, ring_buffer, read at the end"
std::string SettingText(const SweepSetting& setting, const SweepRow& row);
/// A share in percent that says 0% and 100% only of nothing and of all.
std::string ShareText(uint64_t part, uint64_t whole);

/// Tables for people: one for each setting and buffer.
/// @param sequences list those of each row, too
void PrintSweep(Console& console, const SweepReport& report, bool sequences);

/// One session as an object.
/// @param sequences with those of each row
Json SweepJson(const SweepReport& report, bool sequences);

/// Rows of numbers; the first columns are the same for all tools that compare sizes.
extern const char* const kSweepCsvTitles;
void PrintSweepCsv(Console& console, const Json& session, const std::string& log);

/// A picture of loss and history against size, which needs nothing from elsewhere.
std::string SweepSvg(const SweepReport& report);
/// The same in a page, with the numbers.
std::string SweepHtml(const SweepReport& report);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_SWEEP_REPORT_H_
