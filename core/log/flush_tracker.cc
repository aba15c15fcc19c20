#include "core/log/flush_tracker.h"

#include <algorithm>

#include "core/base/lookup.h"

namespace ringscope {
namespace {

FlushAccount::Answer* FindAnswer(FlushAccount& flush, ProducerId producer) {
  return FindBy(flush.answers, producer, &FlushAccount::Answer::producer);
}

bool AllAcknowledged(const FlushAccount& flush) {
  return std::ranges::all_of(flush.answers, &FlushAccount::Answer::acknowledged);
}

}  // namespace

void FlushTracker::Apply(const LifeEvent& event) {
  const ProducerId producer = event.producer.value_or(ProducerId{});
  if (event.Is<FlushRequested>()) Request(event);
  if (event.Is<FlushAcknowledged>()) Acknowledge(event.flush.value_or(0), producer, event.time_ns);
  if (event.Is<FlushTimedOut>()) {
    FlushAccount& flush = At(event.flush.value_or(0), event.time_ns);
    flush.timed_out = true;
    Decide(flush, FlushOutcome::kFailed);
  }
  if (event.Is<ProducerConnected>()) connected_.insert(producer);
  if (event.Is<ProducerDisconnected>()) connected_.erase(producer);
}

FlushAccount& FlushTracker::At(uint64_t id, std::optional<uint64_t> time_ns) {
  const auto [entry, is_new] = kept_.try_emplace(id);
  FlushAccount& flush = entry->second;
  if (!is_new) return flush;
  flush.flush = id;
  flush.time_ns = time_ns;
  ++counts_[static_cast<size_t>(flush.outcome)];
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

void FlushTracker::Request(const LifeEvent& request) {
  FlushAccount& flush = At(request.flush.value_or(0), request.time_ns);
  if (flush.flags == 0) flush.flags = request.flags;
  const auto ask = [&](ProducerId producer) {
    if (FindAnswer(flush, producer) == nullptr)
      flush.answers.push_back({.producer = producer, .asked_ns = request.time_ns});
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

void FlushTracker::Acknowledge(uint64_t up_to, ProducerId producer,
                               std::optional<uint64_t> time_ns) {
  if (!last_retired_ || up_to > *last_retired_) At(up_to, time_ns);
  // A reply is for all flushes up to its own.
  for (auto& [id, flush] : kept_) {
    if (id > up_to) break;
    const bool is_late = id == up_to && flush.timed_out;
    if (flush.outcome != FlushOutcome::kOpen && !is_late) continue;
    FlushAccount::Answer* answer = FindAnswer(flush, producer);
    if (answer == nullptr) {
      if (is_late || (!flush.asks_anybody && !flush.answers.empty())) continue;
      answer = &flush.answers.emplace_back(FlushAccount::Answer{
          .producer = producer, .asked_ns = flush.asks_anybody ? flush.time_ns : std::nullopt});
    }
    if (!std::exchange(answer->acknowledged, true)) answer->acknowledged_ns = time_ns;
    if (!is_late && AllAcknowledged(flush)) Decide(flush, FlushOutcome::kSucceeded);
  }
}

void FlushTracker::Decide(FlushAccount& flush, FlushOutcome outcome) {
  if (flush.outcome == outcome) return;
  --counts_[static_cast<size_t>(flush.outcome)];
  ++counts_[static_cast<size_t>(outcome)];
  flush.outcome = outcome;
  if (ReasonOf(flush.flags) == FlushReason::kTraceStop &&
      InitiatorOf(flush.flags) == FlushInitiator::kTraced)
    final_outcome_ = outcome;
}

void FlushTracker::Retire(FlushAccount& flush) {
  if (flush.outcome == FlushOutcome::kOpen) Decide(flush, FlushOutcome::kFailed);
  if (flush.outcome == FlushOutcome::kFailed)
    for (const FlushAccount::Answer& answer : flush.answers)
      if (!answer.acknowledged) ++missed_[answer.producer];
  if (on_end_) on_end_(flush);
}

}  // namespace ringscope
