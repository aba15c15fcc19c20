#include "commands/record/session_buffers.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace ringscope {

void SessionBuffers::SetUp(BufferId id, const PlannedBuffer& buffer) {
  known_.insert(id);
  any_ = true;
  log_.Append(BufferSetUp{.id = id,
                          .index = {},
                          .size = buffer.size,
                          .policy = buffer.policy,
                          .engine = buffer.engine});
}

SessionBuffers::SessionId SessionBuffers::Start(SessionPlan plan) {
  const SessionId id = ++last_id_;
  Session& session = sessions_[id];
  session.plan = std::move(plan);
  log_.Append(SessionStarted{.session = id, .name = session.plan.name});
  return id;
}

void SessionBuffers::End(SessionId id) {
  const auto session = sessions_.find(id);
  if (session == sessions_.end()) return;
  for (const auto& [index, buffer] : session->second.ids) {
    log_.Append(BufferFreed{buffer});
    known_.erase(buffer);
    freed_.insert(buffer);
  }
  log_.Append(SessionEnded{id});
  sessions_.erase(session);
}

void SessionBuffers::MarkStarted(SessionId id) {
  const auto session = sessions_.find(id);
  if (session == sessions_.end() || std::exchange(session->second.started, true)) return;
  log_.Append(SessionChanged{.session = id, .change = SessionChange::kStarted, .detail = {}});
}

void SessionBuffers::Identify(SessionId id, const std::vector<ipc::ListedSession>& listed) {
  const auto session = sessions_.find(id);
  uint64_t newest = 0;
  for (const ipc::ListedSession& other : listed) {
    if (!listed_.insert(other.id).second || other.state == ipc::kClonedState) continue;
    if (session == sessions_.end() || other.unique_session_name != session->second.plan.name ||
        !std::ranges::equal(other.buffer_sizes_kb, session->second.plan.buffers, {}, {},
                            [](const PlannedBuffer& buffer) { return buffer.size / 1024; }))
      continue;
    newest = std::max(newest, other.id);  // the service counts them up
  }
  if (newest != 0) session->second.service_id = newest;
}

void SessionBuffers::EndAll() {
  while (!sessions_.empty()) End(sessions_.begin()->first);
  for (const BufferId buffer : std::exchange(known_, {})) log_.Append(BufferFreed{buffer});
  freed_.clear();
  warned_.clear();
  listed_.clear();
  detached_.clear();
}

auto SessionBuffers::Matches(const SessionPlan& plan, const Target& target)
    -> std::vector<const SessionPlan::Source*> {
  std::vector<const SessionPlan::Source*> by_name;
  std::vector<const SessionPlan::Source*> by_config;
  for (const SessionPlan::Source& source : plan.sources) {
    if (source.name != target.data_source) continue;
    by_name.push_back(&source);
    if (!target.own || !source.own || *source.own == *target.own) by_config.push_back(&source);
  }
  return by_config.empty() ? by_name : by_config;
}

std::optional<uint32_t> SessionBuffers::IndexOf(const Sessions::value_type& session,
                                                const Target& target) {
  const auto& [id, state] = session;
  std::optional<uint32_t> first;
  bool is_certain = true;
  for (const SessionPlan::Source* source : Matches(state.plan, target)) {
    if (source->buffer >= state.plan.buffers.size() || state.ids.contains(source->buffer)) continue;
    if (!first) first = source->buffer;
    // In the config's order, unless some producers do not take part in some of them.
    is_certain &= first == source->buffer || !source->filtered;
  }
  if (!is_certain) {
    log_.MarkInexact(
        {.reason = InexactReason::kSession,
         .session = id,
         .detail = fmt::format("data source '{}' writes to several buffers of the session: buffer "
                               "{} is treated as number {} of the config",
                               target.data_source, Raw(target.buffer), *first)});
  }
  return first;
}

void SessionBuffers::Name(Sessions::value_type& session, uint32_t index, BufferId id) {
  const PlannedBuffer& buffer = session.second.plan.buffers[index];
  session.second.ids[index] = id;
  known_.insert(id);
  any_ = true;
  freed_.erase(id);
  log_.Append(BufferSetUp{.id = id,
                          .index = index,
                          .size = buffer.size,
                          .policy = buffer.policy,
                          .engine = buffer.engine,
                          .session = session.first});
}

auto SessionBuffers::SessionOf(const Target& target) -> Sessions::value_type* {
  const uint64_t number = target.service_session;
  std::vector<Sessions::value_type*> candidates;
  std::vector<Sessions::value_type*> alike;  // those whose config has just this data source
  for (auto& session : sessions_) {
    if (number != 0 && session.second.service_id == number) return &session;
    if (number != 0 && session.second.service_id != 0) continue;
    if (number != 0 && !MayHaveNumber(session.first, number)) continue;
    const auto sources = Matches(session.second.plan, target);
    if (std::ranges::none_of(sources, [&](const SessionPlan::Source* source) {
          return number != 0 || !session.second.ids.contains(source->buffer);
        }))
      continue;
    candidates.push_back(&session);
    if (target.own && sources.front()->own == target.own) alike.push_back(&session);
  }
  if (!alike.empty()) candidates = std::move(alike);
  if (candidates.size() > 1) {
    log_.MarkInexact(
        {.reason = InexactReason::kSession,
         .session = candidates.front()->first,
         .detail = fmt::format("{} sessions have data source '{}': buffer {} is treated as one of "
                               "session {}",
                               candidates.size(), target.data_source, Raw(target.buffer),
                               candidates.front()->first)});
  }
  if (candidates.empty() && template_ && !Matches(*template_, target).empty())
    candidates.push_back(&*sessions_.find(Start(*template_)));
  if (candidates.empty()) return nullptr;
  candidates.front()->second.service_id = number;
  return candidates.front();
}

/// The service counts its sessions up in the order of their start.
bool SessionBuffers::MayHaveNumber(SessionId id, uint64_t number) const {
  return std::ranges::all_of(sessions_, [&](const auto& other) {
    const uint64_t known = other.second.service_id;
    return known == 0 || (other.first < id) == (known < number);
  });
}

auto SessionBuffers::OnTarget(const Target& target) -> std::optional<SessionId> {
  const bool known = known_.contains(target.buffer);
  if (known && target.service_session == 0) return OwnerOf(target.buffer);
  const auto owner = known ? OwnerOf(target.buffer) : std::nullopt;
  auto* const session = owner ? &*sessions_.find(*owner) : SessionOf(target);
  if (owner && session->second.service_id == 0) session->second.service_id = target.service_session;
  if (!known) {
    const auto index = session == nullptr ? std::nullopt : IndexOf(*session, target);
    if (index) {
      Name(*session, *index, target.buffer);
    } else {
      WarnOfUnknown(target);
    }
  }
  return session == nullptr ? std::nullopt : std::optional(session->first);
}

void SessionBuffers::WarnOfUnknown(const Target& target) {
  if (!warned_.insert(target.buffer).second) return;
  log_.MarkInexact({.reason = InexactReason::kSetUp,
                    .detail = fmt::format("buffer {}, which data source '{}' writes to",
                                          Raw(target.buffer), target.data_source)});
  warn_({.kind = WarningKind::kBuffer,
         .text = fmt::format(
             "data source '{}' writes to buffer {}, which is unknown: it is missing in the log "
             "(record the consumer's socket too, or give --config or --buffer {}=SIZE,POLICY)",
             target.data_source, Raw(target.buffer), Raw(target.buffer))});
}

auto SessionBuffers::OwnerOf(BufferId id) const -> std::optional<SessionId> {
  for (const auto& [number, session] : sessions_)
    for (const auto& [index, buffer] : session.ids)
      if (buffer == id) return number;
  return std::nullopt;
}

const SessionPlan* SessionBuffers::PlanOf(SessionId id) const {
  const auto session = sessions_.find(id);
  return session == sessions_.end() ? nullptr : &session->second.plan;
}

const PlannedBuffer* SessionBuffers::FindBuffer(SessionId id, BufferId buffer) const {
  const auto session = sessions_.find(id);
  if (session == sessions_.end()) return nullptr;
  for (const auto& [index, named] : session->second.ids)
    if (named == buffer) return &session->second.plan.buffers[index];
  return nullptr;
}

uint64_t SessionBuffers::ServiceIdOf(SessionId id) const {
  const auto session = sessions_.find(id);
  return session == sessions_.end() ? 0 : session->second.service_id;
}

auto SessionBuffers::FindByServiceId(uint64_t service_session) const -> std::optional<SessionId> {
  for (const auto& [id, session] : sessions_)
    if (session.service_id != 0 && session.service_id == service_session) return id;
  return std::nullopt;
}

auto SessionBuffers::FindByName(const std::string& name) const -> std::optional<SessionId> {
  for (const auto& [id, session] : sessions_)
    if (!name.empty() && session.plan.name == name) return id;
  return std::nullopt;
}

auto SessionBuffers::OnlySession() const -> std::optional<SessionId> {
  return sessions_.size() == 1 ? std::optional(sessions_.begin()->first) : std::nullopt;
}

auto SessionBuffers::Attach(const std::string& key) -> std::optional<SessionId> {
  const auto detached = detached_.extract(key);
  if (detached.empty() || !sessions_.contains(detached.mapped())) return std::nullopt;
  return detached.mapped();
}

std::vector<BufferId> SessionBuffers::BuffersOf(SessionId id) const {
  std::vector<BufferId> ids;
  const auto session = sessions_.find(id);
  if (session == sessions_.end()) return ids;
  for (const auto& [index, buffer] : session->second.ids) ids.push_back(buffer);
  return ids;
}

}  // namespace ringscope
