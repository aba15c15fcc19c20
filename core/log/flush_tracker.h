#ifndef RINGSCOPE_CORE_LOG_FLUSH_TRACKER_H_
#define RINGSCOPE_CORE_LOG_FLUSH_TRACKER_H_

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <vector>

#include "core/log/summary.h"

namespace ringscope {

enum class FlushOutcome : uint8_t {
  kOpen,       // not everybody has answered
  kSucceeded,  // everybody who was asked has acknowledged it
  kFailed,     // timed out, or not acknowledged by everybody when the log ends
};
template <>
inline constexpr std::array kEnumNames<FlushOutcome> = {"open", "succeeded", "failed"};

/// Why the service flushes, and who asked it to: parts of FlushRequested::flags.
enum class FlushReason : uint8_t { kUnknown, kPeriodic, kTraceStop, kTraceClone, kExplicit };
enum class FlushInitiator : uint8_t { kUnknown, kTraced, kPerfettoCmd, kConsumerSdk };
template <>
inline constexpr auto kEnumRows<FlushReason> = EnumTable<EnumRow<FlushReason>>({
    {FlushReason::kUnknown, "unknown", ""},
    {FlushReason::kPeriodic, "periodic", "periodic"},
    {FlushReason::kTraceStop, "trace_stop", "before the stop"},
    {FlushReason::kTraceClone, "trace_clone", "for a clone"},
    {FlushReason::kExplicit, "explicit", "asked for"},
});
template <>
inline constexpr auto kEnumRows<FlushInitiator> = EnumTable<EnumRow<FlushInitiator>>({
    {FlushInitiator::kUnknown, "unknown", ""},
    {FlushInitiator::kTraced, "traced", "by the service"},
    {FlushInitiator::kPerfettoCmd, "perfetto_cmd", "by the perfetto command"},
    {FlushInitiator::kConsumerSdk, "consumer_sdk", "by a consumer"},
});

/// Returns a part of a flush's flags, which is in four bits. Source: Perfetto's wire protocol.
template <typename Part>
Part FlushPartOf(uint64_t flags) {
  const uint64_t value = flags & 0xF;
  return value < kEnumNames<Part>.size() ? static_cast<Part>(value) : Part{};
}
inline FlushReason ReasonOf(uint64_t flags) { return FlushPartOf<FlushReason>(flags); }
inline FlushInitiator InitiatorOf(uint64_t flags) {
  return FlushPartOf<FlushInitiator>(flags >> 4);
}

/// A flush, and the producers' answers.
struct FlushAccount {
  struct Answer {
    ProducerId producer{};
    std::optional<uint64_t> asked_ns;
    bool acknowledged = false;
    std::optional<uint64_t> acknowledged_ns = {};

    /// Returns the time from request to acknowledgement, if it is known.
    std::optional<uint64_t> latency_ns() const {
      if (!asked_ns || !acknowledged_ns || *acknowledged_ns < *asked_ns) return std::nullopt;
      return *acknowledged_ns - *asked_ns;
    }
  };

  uint64_t flush = 0;
  std::optional<uint64_t> time_ns;  // of the first record about it
  uint64_t flags = 0;
  std::vector<Answer> answers;  // in the order in which the producers were asked
  bool asks_anybody = false;    // all producers were asked, and none is known
  bool timed_out = false;
  FlushOutcome outcome = FlushOutcome::kOpen;
};

/// Follows the flushes of a log. A log without requests (its recorder saw only acknowledgements)
/// shows how many there were. Memory: kMaxKept flushes; older ones that are open have failed, as
/// the service has no more than 1000 pending.
class FlushTracker {
 public:
  static constexpr size_t kMaxKept = 1000;
  /// Receives each flush when nothing more is expected of it, in the order of their ids.
  using OnEnd = std::function<void(const FlushAccount&)>;

  explicit FlushTracker(OnEnd on_end = {}) : on_end_(std::move(on_end)) {}

  void Apply(const LifeEvent& event);
  /// Ends the log: open flushes have failed.
  void Finish() {
    for (auto& [id, flush] : kept_) Retire(flush);
    kept_.clear();
  }

  /// Returns the number of flushes with an outcome so far.
  uint64_t Count(FlushOutcome outcome) const { return counts_[static_cast<size_t>(outcome)]; }
  uint64_t requested() const { return std::reduce(counts_.begin(), counts_.end()); }
  /// Returns the outcome of the last flush that the service itself asked for at a trace's end.
  /// Returns kOpen if there was none.
  FlushOutcome final_outcome() const { return final_outcome_; }
  /// Returns how many failed flushes each producer did not acknowledge, after Finish.
  const std::map<ProducerId, uint64_t>& missed() const { return missed_; }

 private:
  FlushAccount& At(uint64_t flush, std::optional<uint64_t> time_ns);
  void Request(const LifeEvent& request);
  void Acknowledge(uint64_t up_to, ProducerId producer, std::optional<uint64_t> time_ns);
  /// Sets and counts the outcome.
  void Decide(FlushAccount& flush, FlushOutcome outcome);
  void Retire(FlushAccount& flush);

  OnEnd on_end_;
  std::array<uint64_t, kEnumNames<FlushOutcome>.size()> counts_{};
  FlushOutcome final_outcome_ = FlushOutcome::kOpen;
  std::map<ProducerId, uint64_t> missed_;
  std::map<uint64_t, FlushAccount> kept_;  // the newest, by id
  std::optional<uint64_t> last_retired_;
  std::set<ProducerId> connected_;  // a flush continues to wait for one that disconnects
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_LOG_FLUSH_TRACKER_H_
