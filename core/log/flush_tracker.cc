#include "core/log/flush_tracker.h"

#include <algorithm>

namespace ringscope {
namespace {

// Bits of the flags. Source: Perfetto's wire protocol.
constexpr uint64_t kReasonMask = 0xF;
constexpr unsigned kInitiatorShift = 4;
constexpr uint64_t kInitiatorMask = 0xF;

template <typename Enum>
Enum PartOf(uint64_t value) {
  return value < kEnumNames<Enum>.size() ? static_cast<Enum>(value) : Enum{};
}

bool IsFinal(uint64_t flags) {
  return ReasonOf(flags) == FlushReason::kTraceStop &&
         InitiatorOf(flags) == FlushInitiator::kTraced;
}

FlushAccount::Answer* FindAnswer(FlushAccount& flush, ProducerId producer) {
  const auto found = std::ranges::find_if(flush.answers, [&](const FlushAccount::Answer& answer) {
    return answer.producer == producer;
  });
  return found == flush.answers.end() ? nullptr : &*found;
}

bool AllAcknowledged(const FlushAccount& flush) {
  return std::ranges::all_of(
      flush.answers, [](const FlushAccount::Answer& answer) { return answer.acknowledged; });
}

}  // namespace

FlushReason ReasonOf(uint64_t flush_flags) {
  return PartOf<FlushReason>(flush_flags & kReasonMask);
}

FlushInitiator InitiatorOf(uint64_t flush_flags) {
  return PartOf<FlushInitiator>(flush_flags >> kInitiatorShift & kInitiatorMask);
}

void FlushTracker::Apply(const Op& op) {
  if (const auto* request = std::get_if<FlushRequested>(&op.body)) {
    Request(*request, op.time_ns);
  } else if (const auto* acknowledged = std::get_if<FlushAcknowledged>(&op.body)) {
    Acknowledge(*acknowledged, op.time_ns);
  } else if (const auto* timed_out = std::get_if<FlushTimedOut>(&op.body)) {
    TimeOut(*timed_out, op.time_ns);
  } else if (const auto* connected = std::get_if<ProducerConnected>(&op.body)) {
    Connect(connected->producer);
  } else if (const auto* gone = std::get_if<ProducerDisconnected>(&op.body)) {
    Disconnect(gone->producer);
  }
}

void FlushTracker::TimeOut(const FlushTimedOut& timed_out, std::optional<uint64_t> time_ns) {
  FlushAccount& flush = At(timed_out.flush, time_ns);
  flush.timed_out = true;
  Decide(flush, FlushOutcome::kFailed);
}

FlushAccount& FlushTracker::At(uint64_t id, std::optional<uint64_t> time_ns) {
  const auto [entry, is_new] = kept_.try_emplace(id);
  FlushAccount& flush = entry->second;
  if (!is_new) return flush;
  flush.flush = id;
  flush.time_ns = time_ns;
  ++counts_.requested;
  open_.insert(id);
  if (kept_.size() > kMaxKept) {
    // Never the one that is returned: an id from before is as old as all that was retired.
    auto oldest = kept_.begin();
    if (oldest->first == id) ++oldest;
    Retire(oldest->second);
    last_retired_ = std::max(last_retired_.value_or(0), oldest->first);
    kept_.erase(oldest);
  }
  return flush;
}

void FlushTracker::Request(const FlushRequested& request, std::optional<uint64_t> time_ns) {
  FlushAccount& flush = At(request.flush, time_ns);
  if (flush.flags == 0) flush.flags = request.flags;
  if (flush.instances.empty()) flush.instances = request.instances;
  const auto ask = [&](ProducerId producer) {
    if (FindAnswer(flush, producer) == nullptr)
      flush.answers.push_back({.producer = producer, .asked_ns = time_ns, .acknowledged_ns = {}});
  };
  if (request.producer) {
    ask(*request.producer);
  } else {
    for (const ProducerId producer : connected_) ask(producer);
    flush.asks_anybody = connected_.empty();
  }
  // An acknowledgement of the first can precede the request to the second.
  if (!flush.timed_out && !AllAcknowledged(flush)) Decide(flush, FlushOutcome::kOpen);
}

void FlushTracker::Acknowledge(const FlushAcknowledged& acknowledged,
                               std::optional<uint64_t> time_ns) {
  const bool is_old = last_retired_ && acknowledged.flush <= *last_retired_;
  if (!is_old && !kept_.contains(acknowledged.flush)) At(acknowledged.flush, time_ns);
  if (const auto late = kept_.find(acknowledged.flush);
      late != kept_.end() && late->second.timed_out) {
    FlushAccount::Answer* const answer = FindAnswer(late->second, acknowledged.producer);
    if (answer != nullptr && !answer->acknowledged) {
      answer->acknowledged = true;
      answer->acknowledged_ns = time_ns;
    }
  }
  // It is for all flushes up to its own.
  for (auto next = open_.begin(); next != open_.end() && *next <= acknowledged.flush;) {
    FlushAccount& flush = kept_.at(*next++);
    FlushAccount::Answer* const answer = FindAnswer(flush, acknowledged.producer);
    if (answer != nullptr && !answer->acknowledged) {
      answer->acknowledged = true;
      answer->acknowledged_ns = time_ns;
    }
    const bool was_asked = answer != nullptr || flush.asks_anybody || flush.answers.empty();
    if (!was_asked) continue;
    if (flush.answers.empty() || (flush.asks_anybody && answer == nullptr)) {
      flush.answers.push_back({.producer = acknowledged.producer,
                               .asked_ns = flush.asks_anybody ? flush.time_ns : std::nullopt,
                               .acknowledged = true,
                               .acknowledged_ns = time_ns});
    }
    if (AllAcknowledged(flush)) Decide(flush, FlushOutcome::kSucceeded);
  }
}

void FlushTracker::Decide(FlushAccount& flush, FlushOutcome outcome) {
  if (flush.outcome == outcome) return;
  counts_.succeeded -= flush.outcome == FlushOutcome::kSucceeded ? 1 : 0;
  counts_.failed -= flush.outcome == FlushOutcome::kFailed ? 1 : 0;
  counts_.succeeded += outcome == FlushOutcome::kSucceeded ? 1 : 0;
  counts_.failed += outcome == FlushOutcome::kFailed ? 1 : 0;
  flush.outcome = outcome;
  if (outcome == FlushOutcome::kOpen)
    open_.insert(flush.flush);
  else
    open_.erase(flush.flush);
  if (IsFinal(flush.flags)) final_outcome_ = outcome;
}

void FlushTracker::Retire(FlushAccount& flush) {
  if (flush.outcome == FlushOutcome::kOpen) Decide(flush, FlushOutcome::kFailed);
  if (on_end_) on_end_(flush);
}

void FlushTracker::Finish() {
  for (auto& [id, flush] : kept_) Retire(flush);
  kept_.clear();
  open_.clear();
}

}  // namespace ringscope
