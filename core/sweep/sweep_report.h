#ifndef RINGSCOPE_CORE_SWEEP_SWEEP_REPORT_H_
#define RINGSCOPE_CORE_SWEEP_SWEEP_REPORT_H_

#include <optional>
#include <string>
#include <vector>

#include "core/sweep/needed_sizes.h"
#include "core/sweep/sweep_plan.h"

namespace ringscope {

/// Why no size that was tried meets the targets.
struct TargetMiss {
  enum class Kind : uint8_t {
    kLogTooShort,  // the log is shorter than the history wanted
    kHistory,      // a sequence of `row` does not reach back far enough
    kLoss,         // `row` loses too much
  };
  Kind kind = Kind::kLoss;
  SweepRow row;  // of the largest size tried; kLoss: of the smallest that loses as few as any
};

/// What a search for the smallest buffers found for one setting.
struct FoundSize {
  size_t setting = 0;              // index
  std::optional<size_t> point;     // that meets the targets; absent: none does
  bool verified = false;           // by an exact replay
  std::vector<TargetMiss> misses;  // if none does: of each buffer that misses a target
};

/// The result of a sweep of one session.
struct SweepReport {
  std::string path;               // of the log
  uint64_t session = 0;           // number in the input, from 1
  std::optional<uint64_t> clone;  // whose holder's view this is; absent: the session's own
  SessionFacts facts;
  SweepPlan plan;
  SweepResult result;  // a row for each of the plan's points
  std::vector<SweepTarget> targets;
  std::vector<FoundSize> found;  // of a search: by setting
  /// What the buffers need to lose nothing: by setting, see FindNeededSizes; empty: not looked for.
  /// The plan has a point with these sizes.
  std::vector<std::optional<BufferNeeds>> needs;

  /// What the buffers need in a setting; nullptr: not known.
  const BufferNeeds* NeedsOf(size_t setting) const {
    return setting < needs.size() && needs[setting] ? &*needs[setting] : nullptr;
  }
  /// The size with which a buffer lost nothing in a setting, by a replay; nullopt: it needs none,
  /// or none was found.
  std::optional<uint64_t> LosslessSizeOf(size_t setting, BufferId buffer) const;
};

/// The rows of one buffer in one setting, by size.
struct SweepSeries {
  const SweepSetting* setting = nullptr;
  BufferId buffer{};
  std::vector<const SweepRow*> rows;  // at least one
  std::vector<size_t> points;         // of the plan; of each row
};
/// Setting by setting, and in each by buffer. Configurations that differ in other buffers alone
/// mostly have equal rows for one buffer: such rows are here once.
std::vector<SweepSeries> SeriesOf(const SweepReport& report);
/// Of a search: the rows around what was found.
SweepSeries AroundFound(const SweepReport& report, const SweepSeries& series);
/// Whether this is the size that the buffer needs to lose nothing, and does so by a replay.
bool IsNeededSize(const SweepReport& report, const SweepSeries& series, uint64_t size);
/// The log's own size of a buffer; 0 if it is not known.
uint64_t OwnSize(const SweepReport& report, BufferId buffer);

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_SWEEP_SWEEP_REPORT_H_
