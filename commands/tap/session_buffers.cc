#include "commands/tap/session_buffers.h"

#include <fmt/format.h>

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
  sessions_[id].plan = std::move(plan);
  log_(SessionStarted{id});
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

std::optional<uint32_t> SessionBuffers::FindUnnamed(const Session& session,
                                                    const std::string& data_source) {
  for (const SessionPlan::Source& source : session.plan.sources) {
    if (source.name == data_source && source.buffer < session.plan.buffers.size() &&
        !session.ids.contains(source.buffer))
      return source.buffer;
  }
  return std::nullopt;
}

void SessionBuffers::Name(Session& session, uint32_t index, BufferId id) {
  const PlannedBuffer& buffer = session.plan.buffers[index];
  session.ids[index] = id;
  known_.insert(id);
  freed_.erase(id);
  log_(BufferSetUp{.id = id,
                   .index = index,
                   .size = buffer.size,
                   .policy = buffer.policy,
                   .engine = buffer.engine});
}

void SessionBuffers::OnTarget(const std::string& data_source, BufferId target) {
  if (known_.contains(target)) return;
  for (auto& [id, session] : sessions_) {
    if (const auto index = FindUnnamed(session, data_source)) return Name(session, *index, target);
  }
  if (template_) {
    const Session fresh{*template_, {}};
    if (const auto index = FindUnnamed(fresh, data_source))
      return Name(sessions_[Start(*template_)], *index, target);
  }
  if (warned_.insert(target).second) {
    warn_(
        fmt::format("data source '{}' writes to buffer {}, which is unknown: it is missing in "
                    "the log (record the consumer's socket too, or give --config or "
                    "--buffer {}=SIZE,POLICY)",
                    data_source, Raw(target), Raw(target)));
  }
}

std::vector<BufferId> SessionBuffers::BuffersOf(SessionId id) const {
  std::vector<BufferId> ids;
  const auto session = sessions_.find(id);
  if (session == sessions_.end()) return ids;
  for (const auto& [index, buffer] : session->second.ids) ids.push_back(buffer);
  return ids;
}

}  // namespace ringscope::record
