#ifndef RINGSCOPE_CORE_SWEEP_SWEEP_PLAN_H_
#define RINGSCOPE_CORE_SWEEP_SWEEP_PLAN_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/log/retarget.h"
#include "core/perfetto/fill_policy.h"
#include "core/sweep/sweep.h"

namespace ringscope {

/// Sizes to try for a buffer.
struct SizeList {
  std::optional<BufferId> buffer;  // absent: all buffers
  std::vector<uint64_t> sizes;     // bytes; ascending, none twice
};

/// When to read, and how the user wrote it.
struct NamedReads {
  std::string name;
  ReadsChoice choice;
  bool assumed = false;  // nobody chose it, and the log does not show when it was read
};

/// What a user chooses about a sweep. Lists that are empty: as the log has it.
struct SweepChoices {
  std::vector<SizeList> sizes;
  std::vector<FillPolicy> policies;
  std::vector<NamedReads> reads;
  std::vector<std::string> engines;
  std::optional<uint64_t> pass_bytes;
  std::vector<RetargetRule> splits;
};

/// A buffer as the log sets it up.
struct BufferFacts {
  uint64_t size = 0;
  FillPolicy policy = FillPolicy::kRingBuffer;
};

/// What must be known of a session before it can be swept.
struct SessionFacts {
  std::map<BufferId, BufferFacts> buffers;
  std::map<ProducerId, std::string> producers;  // their names
  bool has_reads = false;                       // that touch the buffers, see ServiceReads
  bool has_limited_reads = false;               // of these, some stop at so many bytes
  bool streams = false;                         // into a file
  bool has_programs = false;                    // ProtoVM
  uint64_t commit_bytes = 0;                    // of all requests
  std::vector<RetargetRule> unused_splits;

  /// Completes the input of a sweep.
  void AddTo(SweepInput& input) const;
};

/// Reads the records of a session to their end.
Result<SessionFacts> ScanSession(OpSource& ops, const std::vector<RetargetRule>& splits);

/// All but the sizes of a configuration.
struct SweepSetting {
  std::optional<std::string> engine;  // absent: the log's
  std::optional<FillPolicy> policy;   // absent: the log's
  NamedReads reads;
};

/// One configuration.
struct SweepPoint : SweepConfig {
  std::optional<double> scale = {};   // times the log's own sizes; absent: `size`
  std::optional<uint64_t> size = {};  // of all buffers that have no size of their own
};

/// Configurations, setting by setting, and in each by size.
struct SweepPlan {
  std::vector<SweepSetting> settings;
  std::vector<SweepPoint> points;
};

/// All combinations of what was chosen; without sizes, from an eighth to eight times the log's own.
/// kUsage if there are too many.
Result<SweepPlan> MakePlan(const SweepChoices& choices, const SessionFacts& facts);
/// The settings alone.
std::vector<SweepSetting> MakeSettings(const SweepChoices& choices, const SessionFacts& facts);
/// A setting with the log's own sizes.
SweepConfig OwnConfig(const SweepSetting& setting, size_t index, const SweepChoices& choices);

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_SWEEP_SWEEP_PLAN_H_
