#include "commands/record/clone_watch.h"

#include <fmt/format.h>

#include <algorithm>

#include "formats/ipc/ipc_messages.h"

namespace ringscope {
namespace {

constexpr size_t kTransferGroup = 0;
/// How long others wait for a clone beyond the timeout of its flushes.
constexpr std::chrono::seconds kGrace{1};
/// The timeout of flushes of a session whose config is not known: the service's default.
constexpr uint64_t kDefaultTimeoutMs = 5000;
constexpr uint64_t kLongestWaitMs = 60'000;

}  // namespace

std::optional<CloneWatch::SessionId> CloneWatch::Resolve(Bytes request) const {
  ipc::CloneSession decoded;
  if (!DecodeMessage(request, decoded)) return std::nullopt;
  if (!decoded.unique_session_name.empty()) return buffers_.FindByName(decoded.unique_session_name);
  if (const auto session = buffers_.FindByServiceId(decoded.session_id)) return session;
  // The service chooses one, or its number of this one is not known, as no producer got it.
  const std::optional<SessionId> only = buffers_.OnlySession();
  const bool is_another = only && buffers_.ServiceIdOf(*only) != 0 && decoded.session_id != 0 &&
                          decoded.session_id != ipc::kAnySession;
  return is_another ? std::nullopt : only;
}

uint64_t CloneWatch::OnRequested(Bytes request, Clock::time_point now) {
  const uint64_t number = ++last_clone_;
  auto& clone = *open_.emplace(number, Clone{}).first;
  const std::optional<SessionId> session = Resolve(request);
  const SessionPlan* const plan = session ? buffers_.PlanOf(*session) : nullptr;
  const uint64_t timeout = plan == nullptr ? kDefaultTimeoutMs : plan->flush_timeout_ms;
  clone.second.until = now + std::chrono::milliseconds(std::min(timeout, kLongestWaitMs)) + kGrace;
  log_.Append(CloneRequested{
      .clone = number, .session = session, .request = std::string(wire::AsText(request))});
  if (session) Begin(clone, *session);
  return number;
}

void CloneWatch::Begin(Clones::value_type& clone, SessionId session) {
  clone.second.session = session;
  for (const BufferId id : buffers_.BuffersOf(session)) {
    const PlannedBuffer* const plan = buffers_.FindBuffer(session, id);
    if (plan == nullptr) continue;
    if (plan->clear_before_clone) log_.Append(BufferCleared{id});
    clone.second.groups[plan->transfer_on_clone ? kTransferGroup : 1].buffers.insert(id);
  }
  for (size_t i = 0; i < clone.second.groups.size(); ++i) {
    Group& group = clone.second.groups[i];
    group.waits_for = instances_.WhoFlushes(group.buffers);
    if (group.waits_for.empty()) CloneGroup(clone.first, group, i == kTransferGroup);
  }
}

void CloneWatch::CloneGroup(uint64_t clone, Group& group, bool transfer) {
  if (group.cloned) return;
  group.cloned = true;
  for (const BufferId id : group.buffers)
    if (!buffers_.IsFreed(id))
      log_.Append(BufferCloned{.clone = clone, .buffer = id, .transfer = transfer});
}

void CloneWatch::OnFlush(const FlushRequested& request) {
  if ((request.flags & ipc::kFlushReasonMask) != ipc::kFlushReasonClone || !request.producer)
    return;
  if (AnyOpen()) asked_[*request.producer] = request.flush;
  const Instance* instance = nullptr;
  for (const uint64_t id : request.instances)
    if (instance == nullptr) instance = instances_.Find(*request.producer, id);
  if (instance == nullptr || !instance->session) return;
  for (auto& clone : open_) {
    if (!clone.second.session) Begin(clone, *instance->session);
    if (clone.second.session != instance->session) continue;
    for (Group& group : clone.second.groups) {
      if (group.cloned || !group.buffers.contains(instance->target)) continue;
      if (!group.flush) group.flush = request.flush;
      if (group.flush == request.flush) return;
    }
  }
}

bool CloneWatch::AnyOpen() const {
  return std::ranges::any_of(open_, [](const auto& clone) { return !clone.second.expired; });
}

bool CloneWatch::Expire(Clock::time_point now) {
  bool any = false;
  for (auto& [number, clone] : open_) {
    if (clone.expired || clone.until > now) continue;
    any = clone.expired = true;
    log_.MarkInexact(
        {.reason = InexactReason::kClone,
         .session = clone.session,
         .detail = fmt::format("the service does not reply to the request for clone {}", number)});
  }
  return any;
}

void CloneWatch::OnAcknowledged(ProducerId producer, uint64_t flush) {
  if (const auto asked = asked_.find(producer); asked != asked_.end() && asked->second <= flush)
    asked_.erase(asked);
  for (auto& [number, clone] : open_) {
    for (size_t i = 0; i < clone.groups.size(); ++i) {
      Group& group = clone.groups[i];
      if (group.cloned || !group.flush || *group.flush > flush) continue;
      group.waits_for.erase(producer);
      if (group.waits_for.empty()) CloneGroup(number, group, i == kTransferGroup);
    }
  }
}

void CloneWatch::OnTimedOut(const std::set<uint64_t>& flushes) {
  for (auto& [number, clone] : open_) {
    for (size_t i = 0; i < clone.groups.size(); ++i) {
      Group& group = clone.groups[i];
      if (group.flush && flushes.contains(*group.flush))
        CloneGroup(number, group, i == kTransferGroup);
    }
  }
}

void CloneWatch::OnReply(uint64_t clone, CloneEnded reply) {
  const auto open = open_.find(clone);
  if (open == open_.end()) return;
  if (reply.success && !asked_.empty() && !open->second.expired) {
    log_.MarkInexact(
        {.reason = InexactReason::kClone,
         .session = open->second.session,
         .detail = fmt::format("a producer has not acknowledged the flush for clone {}", clone)});
  }
  if (reply.success) {  // what was not cloned until now was cloned without a flush
    for (size_t i = 0; i < open->second.groups.size(); ++i)
      CloneGroup(clone, open->second.groups[i], i == kTransferGroup);
    if (!open->second.session)
      log_.Append(
          Note{"it is not known which session was cloned: the clone's buffers are not logged"});
  }
  reply.clone = clone;
  log_.Append(std::move(reply));
  open_.erase(open);
  if (open_.empty()) asked_.clear();
}

}  // namespace ringscope
