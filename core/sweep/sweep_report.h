#ifndef RINGSCOPE_CORE_SWEEP_SWEEP_REPORT_H_
#define RINGSCOPE_CORE_SWEEP_SWEEP_REPORT_H_

#include "core/sweep/smallest_size.h"

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

/// A goal for a buffer.
struct SweepTarget {
  std::string text;                         // as the user wrote it
  std::optional<uint64_t> keep_ns;          // each sequence reaches back that far
  std::optional<uint64_t> loss_millionths;  // at most this share of the packets is lost
};

/// A user's choices about a sweep. Empty lists stand for what the log has.
struct SweepChoices {
  std::vector<SizeList> sizes;
  std::vector<FillPolicy> policies;
  std::vector<NamedReads> reads;
  std::vector<std::string> engines;
  std::vector<SweepTarget> targets;  // to search the smallest sizes for; empty: none
};

/// All but the sizes of a configuration: those are the log's own, and so may be engine and policy.
struct SweepSetting : SweepConfig {
  NamedReads reads;
};

/// One configuration, and its result.
struct SweepPoint : SweepConfig {
  std::optional<double> scale = {};   // times the log's own sizes; absent: `size`
  std::optional<uint64_t> size = {};  // of all buffers that have no size of their own
  std::vector<SweepRow> rows = {};    // by buffer id
};

/// Result of the search for the smallest buffers of one setting.
struct FoundSize {
  std::vector<SweepRow> rows;  // of the sizes that meet the targets; empty: none do
  /// If none do: of each buffer that misses a target, with the smallest size that loses as little
  /// as any.
  std::vector<SweepRow> misses;
};

/// The result of a sweep of one session.
struct SweepReport {
  SessionIndex facts;
  std::vector<SweepSetting> settings;
  std::vector<SweepPoint> points;  // setting by setting, and in each by size
  ReplayOutcome outcome;           // what all configurations have in common
  std::vector<SweepTarget> targets;
  std::vector<FoundSize> found;  // of a search: of each setting

  /// The log's own size of a buffer; 0 if it is not known.
  uint64_t OwnSize(BufferId buffer) const;
};

/// Sweeps a session with all combinations of what was chosen; without sizes, from an eighth to
/// eight times the log's own. kUsage if there are too many. With targets finds the smallest sizes
/// that meet all of them, in each setting: sizes are then of single buffers, one for each.
Result<SweepReport> SweepSession(Sweep& sweep, const SweepChoices& choices);

/// The rows of each buffer in each setting, by size. Configurations that differ in other buffers
/// alone mostly have equal rows for one buffer: such rows are here once. Of a search, the rows
/// around what was found.
std::map<std::pair<size_t, BufferId>, std::vector<const SweepRow*>> SeriesOf(
    const SweepReport& report);

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_SWEEP_SWEEP_REPORT_H_
