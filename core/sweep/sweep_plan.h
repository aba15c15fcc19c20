#ifndef RINGSCOPE_CORE_SWEEP_SWEEP_PLAN_H_
#define RINGSCOPE_CORE_SWEEP_SWEEP_PLAN_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/sweep/needed_sizes.h"
#include "core/sweep/sweep_choices.h"
#include "core/sweep/sweep_result.h"

namespace ringscope {

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
  bool streams = false;                         // into a file
  uint64_t commit_bytes = 0;  // of all requests: no buffer can be filled with more
  std::vector<RetargetRule> unused_splits;
};

/// Reads the records of a session to their end.
Result<SessionFacts> ScanSession(OpSource& ops, const std::vector<RetargetRule>& splits);

/// Whether a plan can be made without knowing the session.
bool PlansBlindly(const SweepChoices& choices);

/// Hands records on, and adds what they hold to a session's facts.
class FactsSource : public OpSource {
 public:
  /// @param source and `facts` outlive this
  FactsSource(OpSource& source, SessionFacts& facts) : source_(source), facts_(facts) {}
  Result<std::optional<Op>> Next() override;

 private:
  OpSource& source_;
  SessionFacts& facts_;
  ServiceReads service_{/*all=*/false, /*period_ns=*/0};
};

/// All but the sizes of a configuration.
struct SweepSetting {
  std::optional<std::string> engine;  // absent: the log's
  std::optional<FillPolicy> policy;   // absent: the log's
  NamedReads reads;
  std::optional<NamedPrograms> programs;  // absent: as the service runs them
};

/// One configuration.
struct SweepPoint {
  size_t setting = 0;            // index
  std::optional<double> scale;   // times the log's own sizes; absent: `size`
  std::optional<uint64_t> size;  // of all buffers that have no size of their own
  ReplayOptions config;
};

/// Configurations, setting by setting, and in each by size.
struct SweepPlan {
  std::vector<SweepSetting> settings;
  std::vector<SweepPoint> points;
};

/// All combinations of what was chosen; without sizes, from an eighth to eight times the log's own.
/// kUsage if there are too many.
Result<SweepPlan> MakePlan(const SweepChoices& choices, const SessionFacts& facts);

/// Gives the settings of a plan that was made blindly the reads that they have with these facts.
void NameReads(const SessionFacts& facts, SweepPlan& plan);

/// The settings alone.
std::vector<SweepSetting> MakeSettings(const SweepChoices& choices, const SessionFacts& facts);
/// A configuration in which all buffers but those in `fixed` have `scale` times their own size,
/// rounded up to 4 KiB pages and at most kMaxScaledSize.
SweepPoint ScaledPoint(const SweepSetting& setting, size_t index, double scale,
                       const SweepChoices& choices, const SessionFacts& facts,
                       const std::map<BufferId, uint64_t>& fixed);

/// What the buffers need to lose nothing, by setting; of one without reads nothing is known.
Result<std::vector<std::optional<BufferNeeds>>> FindNeededSizes(
    const SweepInput& input, const std::vector<SweepSetting>& settings, const SweepChoices& choices,
    const SessionFacts& facts);
/// Adds a configuration with them for each setting that has any.
void AddNeededSizes(const std::vector<std::optional<BufferNeeds>>& needs,
                    const SweepChoices& choices, const SessionFacts& facts, SweepPlan& plan);

inline constexpr uint64_t kMaxScaledSize = uint64_t{2} << 30;

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_SWEEP_SWEEP_PLAN_H_
