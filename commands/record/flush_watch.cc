#include "commands/record/flush_watch.h"

#include <algorithm>

#include "formats/ipc/ipc_messages.h"

namespace ringscope {
namespace {

/// The service's own default, and the longest that is waited for.
constexpr uint64_t kDefaultFlushTimeoutMs = 5000;
constexpr uint64_t kLongestFlushTimeoutMs = uint64_t{24} * 3600 * 1000;

}  // namespace

void FlushWatch::OnRequested(const FlushRequested& request, std::optional<SessionId> session,
                             Clock::time_point now) {
  if (!request.producer) return;
  const auto [entry, is_new] = open_.try_emplace(request.flush);
  Flush& flush = entry->second;
  flush.waits_for.insert(*request.producer);
  if (!is_new) return;
  flush.session = session;
  flush.by_service = (request.flags >> ipc::kFlushInitiatorShift & ipc::kFlushInitiatorMask) ==
                     ipc::kFlushByService;
  uint64_t timeout = kDefaultFlushTimeoutMs;
  if (session) {
    if (const SessionPlan* plan = buffers_.PlanOf(*session)) timeout = plan->flush_timeout_ms;
    const auto call = calls_.find(*session);
    if (!flush.by_service && call != calls_.end() && call->second != 0) timeout = call->second;
  }
  flush.until = now + std::chrono::milliseconds(std::min(timeout, kLongestFlushTimeoutMs));
}

void FlushWatch::OnAcknowledged(ProducerId producer, uint64_t flush) {
  for (auto open = open_.begin(); open != open_.end() && open->first <= flush;) {
    open->second.waits_for.erase(producer);
    open = open->second.waits_for.empty() ? open_.erase(open) : std::next(open);
  }
}

std::set<uint64_t> FlushWatch::TakeTimedOut(Clock::time_point now) {
  std::set<uint64_t> timed_out;
  std::erase_if(open_, [&](const auto& open) {
    if (open.second.until > now) return false;
    timed_out.insert(open.first);
    log_.Append(FlushTimedOut{open.first});
    return true;
  });
  return timed_out;
}

std::set<uint64_t> FlushWatch::OnConsumerReply(SessionId session, bool success) {
  calls_.erase(session);
  std::set<uint64_t> timed_out;
  if (success) return timed_out;
  std::erase_if(open_, [&](const auto& open) {
    if (open.second.session != session || open.second.by_service) return false;
    timed_out.insert(open.first);
    log_.Append(FlushTimedOut{open.first});
    return true;
  });
  return timed_out;
}

}  // namespace ringscope
