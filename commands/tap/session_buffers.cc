#include "commands/tap/session_buffers.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace ringscope::record {

void SessionBuffers::SetUp(BufferId id, const PlannedBuffer& buffer) {
  known_.insert(id);
  log_(BufferSetUp{.id = id,
                   .index = {},
                   .size = buffer.size,
                   .policy = buffer.policy,
                   .engine = buffer.engine});
}

SessionBuffers::SessionId SessionBuffers::Start(SessionPlan plan) {
  const SessionId id = ++last_id_;
  Session& session = sessions_[id];
  session.plan = std::move(plan);
  log_(SessionStarted{.session = id, .name = session.plan.name});
  return id;
}

void SessionBuffers::End(SessionId id) {
  const auto session = sessions_.find(id);
  if (session == sessions_.end()) return;
  for (const auto& [index, buffer] : session->second.ids) {
    log_(BufferFreed{buffer});
    known_.erase(buffer);
    freed_.insert(buffer);
  }
  log_(SessionEnded{id});
  sessions_.erase(session);
}

void SessionBuffers::MarkStarted(SessionId id) {
  const auto session = sessions_.find(id);
  if (session == sessions_.end() || std::exchange(session->second.started, true)) return;
  log_(SessionChanged{.session = id, .change = SessionChange::kStarted, .detail = {}});
}

std::optional<uint32_t> SessionBuffers::FindUnnamed(const Session& session,
                                                    const std::string& data_source) {
  for (const SessionPlan::Source& source : session.plan.sources) {
    if (source.name == data_source && source.buffer < session.plan.buffers.size() &&
        !session.ids.contains(source.buffer))
      return source.buffer;
  }
  return std::nullopt;
}

void SessionBuffers::Name(Sessions::value_type& session, uint32_t index, BufferId id) {
  const PlannedBuffer& buffer = session.second.plan.buffers[index];
  session.second.ids[index] = id;
  known_.insert(id);
  freed_.erase(id);
  log_(BufferSetUp{.id = id,
                   .index = index,
                   .size = buffer.size,
                   .policy = buffer.policy,
                   .engine = buffer.engine,
                   .session = session.first});
}

auto SessionBuffers::SessionOf(const std::string& data_source, uint64_t service_session)
    -> Sessions::value_type* {
  const auto takes = [&](const SessionPlan& plan) {
    return std::ranges::any_of(plan.sources, [&](const SessionPlan::Source& source) {
      return source.name == data_source;
    });
  };
  for (auto& session : sessions_)
    if (session.second.service_id == service_session) return &session;
  // The service numbers its sessions in the order in which it gets to know them.
  for (auto& session : sessions_) {
    if (session.second.service_id != 0 || !takes(session.second.plan)) continue;
    session.second.service_id = service_session;
    return &session;
  }
  if (!template_ || !takes(*template_)) return nullptr;
  auto& session = *sessions_.find(Start(*template_));
  session.second.service_id = service_session;
  return &session;
}

auto SessionBuffers::OnTarget(const std::string& data_source, BufferId target,
                              uint64_t service_session) -> std::optional<SessionId> {
  if (service_session != 0) {
    auto* const session = SessionOf(data_source, service_session);
    if (session != nullptr && !known_.contains(target)) {
      if (const auto index = FindUnnamed(session->second, data_source)) {
        Name(*session, *index, target);
        return session->first;
      }
    }
    if (!known_.contains(target)) WarnOfUnknown(data_source, target);
    return session == nullptr ? std::nullopt : std::optional(session->first);
  }
  if (known_.contains(target)) return OwnerOf(target);
  for (auto& session : sessions_) {
    if (const auto index = FindUnnamed(session.second, data_source)) {
      Name(session, *index, target);
      return session.first;
    }
  }
  if (template_) {
    const Session fresh{.plan = *template_, .ids = {}};
    if (const auto index = FindUnnamed(fresh, data_source)) {
      auto& session = *sessions_.find(Start(*template_));
      Name(session, *index, target);
      return session.first;
    }
  }
  WarnOfUnknown(data_source, target);
  return std::nullopt;
}

void SessionBuffers::WarnOfUnknown(const std::string& data_source, BufferId target) {
  if (!warned_.insert(target).second) return;
  warn_(
      fmt::format("data source '{}' writes to buffer {}, which is unknown: it is missing in "
                  "the log (record the consumer's socket too, or give --config or "
                  "--buffer {}=SIZE,POLICY)",
                  data_source, Raw(target), Raw(target)));
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

}  // namespace ringscope::record
