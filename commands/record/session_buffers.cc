#include "commands/record/session_buffers.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace ringscope {

void SessionBuffers::SetUp(const BufferSetUp& buffer) {
  buffers_[buffer.id] = {.session = buffer.session};
  log_.Append(buffer);
}

SessionBuffers::SessionId SessionBuffers::Start(TraceConfigFacts config) {
  const SessionId id = ++last_id_;
  Session& session = sessions_[id];
  session.config = std::move(config);
  log_.Append(SessionStarted{.session = id, .name = session.config.unique_session_name});
  return id;
}

void SessionBuffers::End(SessionId id) {
  const auto session = sessions_.find(id);
  if (session == sessions_.end()) return;
  for (const auto& [index, buffer] : session->second.ids) {
    log_.Append(BufferFreed{buffer});
    buffers_.at(buffer).freed = true;
  }
  log_.Append(SessionEnded{id});
  sessions_.erase(session);
}

void SessionBuffers::MarkStarted(SessionId id) {
  const auto session = sessions_.find(id);
  if (session == sessions_.end() || session->second.started) return;
  session->second.started = std::chrono::steady_clock::now();
  log_.Append(SessionChanged{.session = id, .change = SessionChange::kStarted, .detail = {}});
}

void SessionBuffers::Identify(SessionId id, const std::vector<ipc::ListedSession>& listed) {
  const auto session = sessions_.find(id);
  uint64_t newest = 0;
  for (const ipc::ListedSession& other : listed) {
    if (!listed_.insert(other.id).second || other.state == ipc::kClonedState) continue;
    if (session == sessions_.end()) continue;
    const TraceConfigFacts& config = session->second.config;
    if (other.unique_session_name != config.unique_session_name ||
        !std::ranges::equal(other.buffer_sizes_kb, config.buffers, {}, {},
                            &ConfiguredBuffer::size_kb))
      continue;
    newest = std::max(newest, other.id);  // the service counts them up
  }
  if (newest != 0) session->second.service_id = newest;
}

void SessionBuffers::EndAll() {
  while (!sessions_.empty()) End(sessions_.begin()->first);
  for (const auto& [id, buffer] : std::exchange(buffers_, {}))
    if (!buffer.freed) log_.Append(BufferFreed{id});
  warned_.clear();
  listed_.clear();
  detached_.clear();
}

std::vector<const ConfiguredSource*> SessionBuffers::Matches(const TraceConfigFacts& config,
                                                             const Target& target) {
  std::vector<const ConfiguredSource*> by_name;
  std::vector<const ConfiguredSource*> by_config;
  for (const ConfiguredSource& source : config.sources) {
    if (source.name != target.data_source) continue;
    by_name.push_back(&source);
    if (source.own == target.own) by_config.push_back(&source);
  }
  return by_config.empty() ? by_name : by_config;
}

std::optional<uint64_t> SessionBuffers::IndexOf(const Sessions::value_type& session,
                                                const Target& target) {
  const auto& [id, state] = session;
  std::optional<uint64_t> first;
  bool is_certain = true;
  for (const ConfiguredSource* source : Matches(state.config, target)) {
    const uint64_t buffer = source->target_buffer;
    if (buffer >= state.config.buffers.size() || state.ids.contains(buffer)) continue;
    if (!first) first = buffer;
    // In the config's order, unless some producers do not take part in some of them.
    is_certain &= first == buffer || !source->filtered;
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

auto SessionBuffers::SessionOf(const Target& target) -> Sessions::value_type* {
  std::vector<Sessions::value_type*> candidates;
  for (auto& session : sessions_) {
    const uint64_t known = session.second.service_id;
    if (known != 0 && known == target.service_session) return &session;
    if ((known == 0 || target.service_session == 0) &&
        !Matches(session.second.config, target).empty())
      candidates.push_back(&session);
  }
  if (candidates.size() > 1) {
    log_.MarkInexact(
        {.reason = InexactReason::kSession,
         .session = candidates.front()->first,
         .detail = fmt::format("{} sessions have data source '{}': buffer {} is treated as one of "
                               "session {}",
                               candidates.size(), target.data_source, Raw(target.buffer),
                               candidates.front()->first)});
  }
  if (candidates.empty()) return nullptr;
  if (target.service_session != 0) candidates.front()->second.service_id = target.service_session;
  return candidates.front();
}

auto SessionBuffers::OnTarget(const Target& target) -> std::optional<SessionId> {
  const auto buffer = buffers_.find(target.buffer);
  const bool known = buffer != buffers_.end() && !buffer->second.freed;
  const std::optional<SessionId> owner = known ? buffer->second.session : std::nullopt;
  if (known && target.service_session == 0) return owner;
  auto* const session = owner ? &*sessions_.find(*owner) : SessionOf(target);
  if (owner && session->second.service_id == 0) session->second.service_id = target.service_session;
  if (!known) {
    const auto index = session == nullptr ? std::nullopt : IndexOf(*session, target);
    if (index) {
      const ConfiguredBuffer& config = session->second.config.buffers[*index];
      session->second.ids[*index] = target.buffer;
      SetUp({.id = target.buffer,
             .index = static_cast<uint32_t>(*index),
             .size = config.size_kb * 1024,
             .policy = config.policy,
             .engine = config.engine(),
             .session = session->first});
    } else if (warned_.insert(target.buffer).second) {
      log_.MarkInexact({.reason = InexactReason::kSetUp,
                        .detail = fmt::format("buffer {}, which data source '{}' writes to",
                                              Raw(target.buffer), target.data_source)});
      warn_(fmt::format(
                "data source '{0}' writes to buffer {1}, which is unknown: it is missing in the "
                "log (record the consumer's socket too, give --buffer {1}=SIZE,POLICY, or name it "
                "when the log is replayed: --size {1}=64M, or --config)",
                target.data_source, Raw(target.buffer)),
            -1);
    }
  }
  return session == nullptr ? std::nullopt : std::optional(session->first);
}

bool SessionBuffers::ExpectsCommands(std::chrono::steady_clock::time_point now) const {
  using std::chrono::milliseconds;
  constexpr milliseconds kBefore{5}, kAfter{50};  // the service may be late
  const auto is_near = [&](std::optional<uint64_t> period_ms) {
    return period_ms.value_or(0) > 0 &&
           (now.time_since_epoch() + kBefore) % milliseconds(*period_ms) < kBefore + kAfter;
  };
  return std::ranges::any_of(sessions_, [&](const auto& entry) {
    const auto& [id, session] = entry;
    const TraceConfigFacts& config = session.config;
    return is_near(config.flush_period_ms) || is_near(config.clear_period_ms) ||
           (config.write_into_file && config.FlushesBeforeWrite() &&
            is_near(config.PeriodNs() / 1'000'000)) ||
           (session.started && config.duration_ms &&
            now + kBefore >= *session.started + milliseconds(*config.duration_ms));
  });
}

void SessionBuffers::MarkUnordered(BufferId id, std::string detail) {
  const auto buffer = buffers_.find(id);
  if (buffer == buffers_.end() || std::exchange(buffer->second.unordered, true)) return;
  log_.MarkInexact({.reason = InexactReason::kOrder,
                    .session = buffer->second.session,
                    .detail = std::move(detail)});
}

auto SessionBuffers::Find(std::optional<SessionId> id) const -> const Session* {
  const auto session = id ? sessions_.find(*id) : sessions_.end();
  return session == sessions_.end() ? nullptr : &session->second;
}

std::set<BufferId> SessionBuffers::BuffersOf(std::optional<SessionId> id) const {
  std::set<BufferId> ids;
  if (const Session* const session = Find(id))
    for (const auto& [index, buffer] : session->ids) ids.insert(buffer);
  return ids;
}

std::map<uint64_t, uint64_t> SessionBuffers::ChunksOf(SessionId id) const {
  std::map<uint64_t, uint64_t> chunks;
  if (const Session* const session = Find(id))
    for (const auto& [index, buffer] : session->ids) chunks[index] = buffers_.at(buffer).chunks;
  return chunks;
}

auto SessionBuffers::ClonedBy(Bytes request) const -> std::optional<SessionId> {
  ipc::CloneSession decoded;
  if (!DecodeMessage(request, decoded)) return std::nullopt;
  const std::string& name = decoded.unique_session_name;
  for (const auto& [id, session] : sessions_) {
    const bool is_it = name.empty()
                           ? session.service_id != 0 && session.service_id == decoded.session_id
                           : session.config.unique_session_name == name;
    if (is_it) return id;
  }
  // The service chooses one, or its number of this one is not known, as no producer got it.
  if (!name.empty() || sessions_.size() != 1) return std::nullopt;
  const auto& [id, only] = *sessions_.begin();
  const bool is_another =
      only.service_id != 0 && decoded.session_id != 0 && decoded.session_id != ipc::kAnySession;
  return is_another ? std::nullopt : std::optional(id);
}

auto SessionBuffers::Attach(const std::string& key) -> std::optional<SessionId> {
  const auto detached = detached_.extract(key);
  if (detached.empty() || !sessions_.contains(detached.mapped())) return std::nullopt;
  return detached.mapped();
}

bool IsLeftOut(const Instances& instances, ProducerId producer) {
  std::map<std::optional<SessionBuffers::SessionId>, bool> is_asked;
  for (auto next = instances.lower_bound({producer, 0});
       next != instances.end() && next->first.first == producer; ++next)
    is_asked[next->second.session] |= next->second.flushes;
  return std::ranges::any_of(is_asked, [](const auto& session) { return !session.second; });
}

std::set<ProducerId> WhoFlushes(const Instances& instances, const std::set<BufferId>& targets) {
  std::set<ProducerId> producers;
  for (const auto& [key, instance] : instances)
    if (instance.flushes && targets.contains(instance.target)) producers.insert(key.first);
  return producers;
}

}  // namespace ringscope
