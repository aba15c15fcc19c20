#ifndef RINGSCOPE_CORE_SWEEP_SWEEP_REPORT_H_
#define RINGSCOPE_CORE_SWEEP_SWEEP_REPORT_H_

#include <optional>
#include <string>
#include <vector>

#include "core/base/ids.h"
#include "core/base/result.h"
#include "core/sweep/smallest_size.h"
#include "core/sweep/sweep.h"

namespace ringscope {

/// Sizes to try for a buffer.
struct SizeList {
  std::optional<BufferKey> buffer;  // absent: all buffers
  std::vector<uint64_t> sizes;      // bytes; ascending, none twice
};

/// When to read, and how the user wrote it.
struct NamedReads {
  std::string name;
  ReadsChoice choice;
  bool assumed = false;  // nobody chose it, and the log does not show when it was read
};

/// A user's choices about a sweep. Empty lists stand for what the log has.
struct SweepChoices {
  std::vector<SizeList> sizes;
  std::vector<FillPolicy> policies;
  std::vector<NamedReads> reads;
  std::vector<std::string> engines;
};

/// All but the sizes of a configuration.
struct SweepSetting {
  std::optional<std::string> engine;  // absent: the log's
  std::optional<FillPolicy> policy;   // absent: the log's
  NamedReads reads;
};

/// One configuration, and its result.
struct SweepPoint : SweepConfig {
  std::optional<double> scale = {};   // times the log's own sizes; absent: `size`
  std::optional<uint64_t> size = {};  // of all buffers that have no size of their own
  std::vector<SweepRow> rows = {};    // by buffer id
};

/// A goal for a buffer.
struct SweepTarget {
  std::string text;                         // as the user wrote it
  std::optional<uint64_t> keep_ns;          // each sequence reaches back that far
  std::optional<uint64_t> loss_millionths;  // at most this share of the packets is lost
};

/// Result of the search for the smallest buffers of one setting.
struct FoundSize {
  size_t setting = 0;          // index
  std::vector<SweepRow> rows;  // of the sizes that meet the targets; empty: none do
  /// If none do: of each buffer that misses a target, with the smallest size that loses as little
  /// as any.
  std::vector<SweepRow> misses;
};

/// The result of a sweep of one session.
struct SweepReport {
  std::string path;               // of the log
  std::optional<uint64_t> clone;  // whose holder's view this is; absent: the session's own
  SessionIndex facts;
  std::vector<SweepSetting> settings;
  std::vector<SweepPoint> points;  // setting by setting, and in each by size
  ReplayOutcome outcome;           // what all configurations have in common
  std::vector<SweepTarget> targets;
  std::vector<FoundSize> found;  // of a search: by setting

  /// The log's own size of a buffer; 0 if it is not known.
  uint64_t OwnSize(BufferId buffer) const;
};

/// Sweeps a session with all combinations of what was chosen; without sizes, from an eighth to
/// eight times the log's own. kUsage if there are too many.
Result<SweepReport> SweepSession(Sweep& sweep, const SweepChoices& choices);

/// kUsage: sizes were chosen that a search for targets cannot keep.
Status CheckTargetSizes(const SweepChoices& choices);
/// Finds the smallest sizes that meet all targets, in each setting.
Result<SweepReport> FindTargets(Sweep& sweep, const SweepChoices& choices,
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

// Parts of the above (sweep_plan.cc).

/// The settings of a sweep.
std::vector<SweepSetting> MakeSettings(const SweepChoices& choices, const SessionIndex& facts);
/// A setting with the log's own sizes.
SweepConfig OwnConfig(const SweepSetting& setting, size_t index);
/// The configurations of these settings.
Result<std::vector<SweepPoint>> MakePoints(const std::vector<SweepSetting>& settings,
                                           const SweepChoices& choices, const SessionIndex& facts);

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_SWEEP_SWEEP_REPORT_H_
