#ifndef RINGSCOPE_CORE_SWEEP_SWEEP_REPORT_H_
#define RINGSCOPE_CORE_SWEEP_SWEEP_REPORT_H_

#include <optional>
#include <string>
#include <vector>

#include "core/sweep/sweep_plan.h"

namespace ringscope {

/// What a buffer has to achieve.
struct SweepTarget {
  std::string text;                         // as the user wrote it
  std::optional<uint64_t> keep_ns;          // each sequence reaches back that far
  std::optional<uint64_t> loss_millionths;  // at most this share of the packets is lost
};

/// Why no size that was tried meets the targets.
struct TargetMiss {
  enum class Kind : uint8_t {
    kLogTooShort,  // the log is shorter than the history wanted
    kHistory,      // a sequence of `row` does not reach back far enough
    kLoss,         // `row` loses too much
  };
  Kind kind = Kind::kLoss;
  SweepRow row;  // of the smallest size that loses as little as any
};

/// What a search for the smallest buffers found for one setting.
struct FoundSize {
  size_t setting = 0;              // index
  std::optional<size_t> point;     // that meets the targets; absent: none does
  std::vector<TargetMiss> misses;  // if none does: of each buffer that misses a target
};

/// The result of a sweep of one session.
struct SweepReport {
  std::string path;               // of the log
  uint64_t session = 0;           // number in the input, from 1
  std::optional<uint64_t> clone;  // whose holder's view this is; absent: the session's own
  SessionFacts facts;
  SweepPlan plan;
  ReplayOutcome outcome;                    // what all configurations have in common
  std::vector<std::vector<SweepRow>> rows;  // of each of the plan's points, by buffer id
  std::vector<SweepTarget> targets;
  std::vector<FoundSize> found;  // of a search: by setting

  /// The log's own size of a buffer; 0 if it is not known.
  uint64_t OwnSize(BufferId buffer) const;
};

/// Sweeps a session as planned by the choices.
Result<SweepReport> SweepSession(Sweep& sweep, SessionFacts facts, const SweepChoices& choices);

/// kUsage: sizes were chosen that a search for targets cannot keep.
Status CheckTargetSizes(const SweepChoices& choices);
/// Finds the smallest sizes that meet all targets, in each setting.
Result<SweepReport> FindTargets(Sweep& sweep, SessionFacts facts, const SweepChoices& choices,
                                std::vector<SweepTarget> targets);

/// The rows of one buffer in one setting, by size.
struct SweepSeries {
  const SweepSetting* setting = nullptr;
  BufferId buffer{};
  std::vector<const SweepRow*> rows;  // at least one
};
/// Setting by setting, and in each by buffer. Configurations that differ in other buffers alone
/// mostly have equal rows for one buffer: such rows are here once. Of a search, the rows around
/// what was found.
std::vector<SweepSeries> SeriesOf(const SweepReport& report);

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_SWEEP_SWEEP_REPORT_H_
