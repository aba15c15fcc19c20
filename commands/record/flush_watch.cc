#include "commands/record/flush_watch.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/log/flush_tracker.h"

namespace ringscope {
namespace {

/// The longest that is waited for a flush.
constexpr uint64_t kLongestFlushMs = uint64_t{24} * 3600 * 1000;

}  // namespace

void FlushWatch::OnRequested(const FlushRequested& request, Clock::time_point now) {
  if (!request.producer) return;
  const Instance* instance = nullptr;  // the first whose session is known
  for (const uint64_t id : request.instances) {
    const auto known = instances_.find({*request.producer, id});
    if (instance == nullptr && known != instances_.end() && known->second.session)
      instance = &known->second;
  }
  const auto [entry, is_new] = flushes_.try_emplace(request.flush);
  Flush& flush = entry->second;
  flush.waits_for.insert(*request.producer);
  if (is_new) {
    if (instance != nullptr) flush.session = instance->session;
    flush.by_consumer = InitiatorOf(request.flags) >= FlushInitiator::kPerfettoCmd;
    const auto* const session = buffers_.Find(flush.session);
    const uint64_t timeout =
        (session == nullptr ? TraceConfigFacts() : session->config).flush_timeout_ms;
    flush.until = now + std::chrono::milliseconds(std::min(timeout, kLongestFlushMs));
  }
  if (ReasonOf(request.flags) != FlushReason::kTraceClone || instance == nullptr) return;
  for (auto& clone : clones_) {
    if (!clone.second.session) Begin(clone, *instance->session);
    LogRequest(clone);
    if (clone.second.session != instance->session) continue;
    for (Group& group : clone.second.groups) {
      if (group.cloned || !group.buffers.contains(instance->target)) continue;
      if (!group.flush) group.flush = request.flush;
      if (group.flush == request.flush) return;
    }
  }
}

void FlushWatch::OnAcknowledged(ProducerId producer, uint64_t flush) {
  for (auto open = flushes_.begin(); open != flushes_.end() && open->first <= flush;) {
    open->second.waits_for.erase(producer);
    open = open->second.waits_for.empty() ? flushes_.erase(open) : std::next(open);
  }
  for (auto& [number, clone] : clones_) {
    for (Group& group : clone.groups) {
      if (group.cloned || !group.flush || *group.flush > flush) continue;
      group.waits_for.erase(producer);
      group.due = group.waits_for.empty();
    }
  }
}

void FlushWatch::OnTime(Clock::time_point now) {
  TimeOut([now](const Flush& flush) { return !flush.by_consumer && flush.until <= now; });
}

void FlushWatch::OnConsumersFailure(SessionId session) {
  TimeOut([session](const Flush& flush) { return flush.by_consumer && flush.session == session; });
}

void FlushWatch::TimeOut(const std::function<bool(const Flush&)>& is_late) {
  std::erase_if(flushes_, [&](const auto& flush) {
    if (!is_late(flush.second)) return false;
    log_.Append(FlushTimedOut{flush.first});
    return true;
  });
}

uint64_t FlushWatch::OnCloneRequested(Bytes request) {
  const uint64_t number = ++last_clone_;
  auto& clone = *clones_.emplace(number, Clone{}).first;
  clone.second.request = std::string(wire::AsText(request));
  if (const auto session = buffers_.ClonedBy(request)) Begin(clone, *session);
  return number;
}

void FlushWatch::Begin(Clones::value_type& clone, SessionId session) {
  clone.second.session = session;
  if (const auto* const cloned = buffers_.Find(session))
    for (const auto& [index, id] : cloned->ids)
      clone.second.groups.at(cloned->config.buffers[index].transfer_on_clone ? 0 : 1)
          .buffers.insert(id);
  for (Group& group : clone.second.groups) {
    group.waits_for = WhoFlushes(instances_, group.buffers);
    group.due = group.waits_for.empty();
  }
}

void FlushWatch::LogRequest(Clones::value_type& clone) {
  auto& [number, state] = clone;
  if (state.request)
    log_.Append(CloneRequested{.clone = number,
                               .session = state.session,
                               .request = *std::exchange(state.request, std::nullopt)});
  const auto* const cloned = buffers_.Find(state.session);
  if (cloned == nullptr || std::exchange(state.cleared, true)) return;
  for (const auto& [index, id] : cloned->ids)
    if (cloned->config.buffers[index].clear_before_clone) log_.Append(BufferCleared{id});
}

void FlushWatch::LogClone(uint64_t clone, Group& group) {
  if (std::exchange(group.cloned, true)) return;
  for (const BufferId id : group.buffers)
    if (!buffers_.IsFreed(id))
      log_.Append(BufferCloned{.clone = clone, .buffer = id, .transfer = group.transfer});
}

void FlushWatch::MarkClone(const Clones::value_type& clone, std::string detail) {
  log_.MarkInexact({.reason = InexactReason::kClone,
                    .session = clone.second.session,
                    .detail = std::move(detail)});
}

bool FlushWatch::IsCloning() const {
  return std::ranges::any_of(clones_, [](const auto& clone) {
    return !std::ranges::all_of(clone.second.groups, &Group::cloned);
  });
}

void FlushWatch::OnPassed(BufferId buffer) {
  for (auto& [number, clone] : clones_)
    for (Group& group : clone.groups) group.passed |= group.buffers.contains(buffer);
}

void FlushWatch::OnRead(SessionId session) {
  for (auto& [number, clone] : clones_)
    for (Group& group : clone.groups) group.read |= group.due && clone.session == session;
}

void FlushWatch::OnRequestHandled() {
  for (auto& clone : clones_) LogRequest(clone);
}

void FlushWatch::OnHandled() {
  for (auto& clone : clones_) {
    for (Group& group : clone.second.groups) {
      if (!group.due || group.cloned) continue;
      if (group.read)
        MarkClone(clone, fmt::format("whether buffers of clone {} were cloned before or after a "
                                     "read for the session's file is not known",
                                     clone.first));
      LogClone(clone.first, group);
    }
  }
}

void FlushWatch::OnCloneReply(uint64_t clone, CloneEnded reply) {
  const auto open = clones_.find(clone);
  if (open == clones_.end()) return;
  LogRequest(*open);
  if (reply.success) {  // what was not cloned until now was cloned without a flush, or after it
    const auto is_estimate = [](const Group& group) {
      return !group.due && !group.cloned && group.passed;
    };
    if (std::ranges::any_of(open->second.groups, is_estimate))
      MarkClone(*open, fmt::format("the flush for clone {} was not acknowledged by all, and chunks "
                                   "were committed until it timed out",
                                   clone));
    for (Group& group : open->second.groups) LogClone(clone, group);
    if (!open->second.session)
      log_.Append(
          Note{"it is not known which session was cloned: the clone's buffers are not logged"});
  }
  reply.clone = clone;
  log_.Append(std::move(reply));
  clones_.erase(open);
}

}  // namespace ringscope
