#include "commands/record/service_watch.h"

#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/stat.h>

#include <algorithm>

#include "core/log/flush_tracker.h"
#include "core/log/service_reads.h"
#include "core/perfetto/fields.h"
#include "core/perfetto/packet_facts.h"
#include "formats/io/byte_stream.h"

namespace ringscope {
namespace {

/// The longest that is waited for a flush.
constexpr uint64_t kLongestFlushMs = uint64_t{24} * 3600 * 1000;

/// The data sources of a config that the target may be.
std::vector<const ConfiguredSource*> Matches(const TraceConfigFacts& config,
                                             const SessionBuffers::Target& target) {
  std::vector<const ConfiguredSource*> by_name;
  std::vector<const ConfiguredSource*> by_config;
  for (const ConfiguredSource& source : config.sources) {
    if (source.name != target.data_source) continue;
    by_name.push_back(&source);
    if (source.own == target.own) by_config.push_back(&source);
  }
  return by_config.empty() ? by_name : by_config;
}

}  // namespace

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
  const auto session = sessions_.extract(id);
  if (session.empty()) return;
  for (const auto& [index, buffer] : session.mapped().ids) {
    log_.Append(BufferFreed{buffer});
    buffers_.at(buffer).freed = true;
  }
  log_.Append(SessionEnded{id});
}

void SessionBuffers::MarkStarted(SessionId id) {
  Session* const session = FindIn(sessions_, id);
  if (session == nullptr || session->started) return;
  session->started = std::chrono::steady_clock::now();
  log_.Append(SessionChanged{.session = id, .change = SessionChange::kStarted, .detail = {}});
}

void SessionBuffers::Identify(SessionId id, const std::vector<ipc::ListedSession>& listed) {
  Session* const session = FindIn(sessions_, id);
  uint64_t newest = 0;
  for (const ipc::ListedSession& other : listed) {
    if (!listed_.insert(other.id).second || other.state == ipc::kClonedState) continue;
    if (session != nullptr && other.unique_session_name == session->config.unique_session_name &&
        std::ranges::equal(other.buffer_sizes_kb, session->config.buffers, {}, {},
                           &ConfiguredBuffer::size_kb))
      newest = std::max(newest, other.id);  // the service counts them up
  }
  if (newest != 0) session->service_id = newest;
}

void SessionBuffers::EndAll() {
  while (!sessions_.empty()) End(sessions_.begin()->first);
  for (const auto& [id, buffer] : std::exchange(buffers_, {}))
    if (!buffer.freed) log_.Append(BufferFreed{id});
  warned_.clear();
  listed_.clear();
  detached_.clear();
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
  const Buffer* const buffer = FindIn(buffers_, target.buffer);
  const bool known = buffer != nullptr && !buffer->freed;
  const std::optional<SessionId> owner = known ? buffer->session : std::nullopt;
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
  Buffer* const buffer = FindIn(buffers_, id);
  if (buffer == nullptr || std::exchange(buffer->unordered, true)) return;
  log_.MarkInexact(
      {.reason = InexactReason::kOrder, .session = buffer->session, .detail = std::move(detail)});
}

auto SessionBuffers::Find(std::optional<SessionId> id) const -> const Session* {
  return id ? FindIn(sessions_, *id) : nullptr;
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

void FlushWatch::OnRequested(const FlushRequested& request, Clock::time_point now) {
  if (!request.producer) return;
  const Instance* instance = nullptr;  // the first whose session is known
  for (const uint64_t id : request.instances) {
    const Instance* const known = FindIn(instances_, {*request.producer, id});
    if (instance == nullptr && known != nullptr && known->session) instance = known;
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
    for (const auto& [key, instance] : instances_)
      if (instance.flushes && group.buffers.contains(instance.target))
        group.waits_for.insert(key.first);
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

bool FlushWatch::IsCloning(const std::optional<std::set<BufferId>>& of) const {
  return std::ranges::any_of(clones_, [&](const auto& clone) {
    // Until its session is known it may be of any buffer.
    return std::ranges::any_of(clone.second.groups, [&](const Group& group) {
      return !group.cloned &&
             (!of || !clone.second.session ||
              std::ranges::any_of(*of, [&](BufferId id) { return group.buffers.contains(id); }));
    });
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

bool OwnPackets::Add(Bytes packet) {
  bool is_own = false, is_provenance = false, has_states = false;
  for (const wire::Field& field : wire::FieldReader(packet)) {
    if (field.number == proto::TracePacket::kTrustedPacketSequenceId)
      is_own = field.value == kServiceSequenceId;
    is_provenance |= field.number == proto::TracePacket::kTraceProvenance;
    has_states |= field.number == proto::TracePacket::kProtovms;
  }
  if (!is_own) return false;
  // A replay makes the states of programs (ProtoVM), and the listing of sequences that is before
  // them.
  if (has_states) {
    bytes_ -= std::exchange(provenance_, 0);
  } else {
    bytes_ += packet.size();
    if (is_provenance) provenance_ += packet.size();
  }
  return true;
}

std::optional<uint64_t> PassReader::Add(Bytes reply) {
  for (const wire::Field& field : wire::FieldReader(reply)) {
    if (!field.IsBytes(proto::ReadBuffersResponse::kSlices)) continue;
    bool is_last = false;
    for (const wire::Field& part : wire::FieldReader(field.bytes)) {
      if (part.number == proto::ReadBuffersResponse::Slice::kLastSliceForPacket)
        is_last = part.value != 0;
      if (part.number == proto::ReadBuffersResponse::Slice::kData && !found_other_)
        packet_ += wire::AsText(part.bytes);
    }
    within_packet_ = !is_last && !field.bytes.empty();
    if (!is_last) continue;
    found_other_ = found_other_ || !own_.Add(wire::AsBytes(packet_));
    packet_.clear();
  }
  if (within_packet_) return std::nullopt;
  found_other_ = false;
  return std::exchange(own_, {}).bytes();
}

namespace {

/// Bytes of a read in which the service's own packets are looked for at once.
constexpr uint64_t kMostOwnBytes = 256 * 1024;
/// Returns the bytes of the service's own packets that a read begins with.
uint64_t OwnBytesIn(Bytes bytes) {
  OwnPackets own;
  for (const wire::Field& packet : wire::FieldReader(bytes))
    if (!packet.IsBytes(proto::Trace::kPacket) || !own.Add(packet.bytes)) break;
  return own.bytes();
}

/// Returns nullopt if it is no regular file.
std::optional<uint64_t> SizeOf(const UniqueFd& file) {
  struct stat status = {};
  if (::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  return static_cast<uint64_t>(status.st_size);
}

/// Returns what is written from there on, at most so many bytes.
std::vector<uint8_t> BytesAt(const UniqueFd& file, uint64_t offset, uint64_t most = kMostOwnBytes) {
  std::vector<uint8_t> bytes(most);
  bytes.resize(ReadAllAt(file.get(), offset, bytes).value_or(0));
  return bytes;
}

/// The ends and beginnings of reads, as packets of the file show them.
struct ReadsIn {
  uint64_t ends = 0;
  bool begins = false;  // after the last end, another read begins
};

/// @param at where to begin to look; set to where the next packet begins that is not complete yet
ReadsIn FindReads(const UniqueFd& file, uint64_t& at, uint64_t size) {
  ReadsIn reads;
  for (uint64_t most = kMostOwnBytes; at < size;) {
    const uint64_t taken = std::min(size - at, most);
    const auto bytes = BytesAt(file, at, taken);
    const uint64_t before = at;
    for (const wire::Field& packet : wire::FieldReader(bytes)) {
      at += packet.whole.size();
      const auto event = wire::LastBytes(packet.bytes, proto::TracePacket::kServiceEvent);
      if (event &&
          wire::LastVarint(*event, proto::TracingServiceEvent::kReadTracingBuffersCompleted)) {
        ++reads.ends;
        reads.begins = false;
      } else {  // other events, and statistics, are at the end of a read and begin none
        reads.begins |= !event && !wire::LastBytes(packet.bytes, proto::TracePacket::kTraceStats);
      }
    }
    if (at == before && taken == size - at) break;
    most = at == before ? size - at : kMostOwnBytes;
  }
  return reads;
}

}  // namespace

void FileWatch::Start(SessionId session, const std::string& path, bool is_there, bool shows_ends) {
  File& file = files_[session];
  file.shows_ends = shows_ends;
  file.path = path;
  Open(session, file);
  file.size = SizeOf(file.fd).value_or(0);
  if (file.fd.valid() || (!is_there && path.starts_with('/'))) return;
  Drop(session);
  MarkUnknown(session);
}

void FileWatch::Open(SessionId session, File& file) {
  UniqueFd fd(::open(file.path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  UniqueFd growth(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
  if (!SizeOf(fd) || ::inotify_add_watch(growth.get(), file.path.c_str(), IN_MODIFY) < 0) return;
  auto watch = loop_.Watch(growth.get(), EPOLLIN | EPOLLET,
                           [this, session, &file](uint32_t) { OnGrowth(session, file); });
  if (!watch) return;
  file.fd = std::move(fd);
  file.growth = std::move(growth);
  file.on_growth = *std::move(watch);
}

void FileWatch::OnGrowth(SessionId session, File& file) {
  alignas(inotify_event) std::array<char, 4096> events;
  while (::read(file.growth.get(), events.data(), events.size()) > 0) continue;
  static_cast<void>(file.on_growth->Rearm());  // a read grows the file several times
  LookAt(session, file);
}

void FileWatch::MarkUnknown(SessionId session) {
  log_.MarkInexact(
      {.reason = InexactReason::kReads,
       .session = session,
       .detail = "its file cannot be watched: when the service read is not in the log"});
}

void FileWatch::Log(SessionId session, std::optional<uint64_t> size,
                    std::optional<uint64_t> own_bytes) {
  log_.Append(ReadPass{.max_bytes = ServiceReads::kFilePassBytes,
                       .reason = ReadReason::kFile,
                       .session = session,
                       .file_bytes = size,
                       .own_bytes = own_bytes});
  flushes_.OnRead(session);
}

void FileWatch::LookAt(SessionId session, File& file) {
  const bool is_unordered = std::exchange(file.is_unordered, false);
  const std::optional<uint64_t> size = SizeOf(file.fd);
  if (!size || *size == file.size) return;
  const uint64_t before = file.size;
  ReadsIn reads{.begins = true};
  if (file.shows_ends) {
    reads = FindReads(file.fd, file.size, *size);
  } else {
    const EventLoop::Clock::time_point now = EventLoop::Clock::now();
    if (now - std::exchange(file.grown, now) >= kOneRead) file.is_within = false;
    file.size = *size;
  }
  const bool continues = file.is_within;
  const uint64_t seen = reads.ends + (reads.begins ? 1 : 0);
  const uint64_t begun = seen - (continues && seen > 0 ? 1 : 0);
  file.is_within = reads.begins || (reads.ends == 0 && continues);
  if (begun == 0) return;
  Log(session, *size,
      continues ? std::nullopt : std::optional(OwnBytesIn(BytesAt(file.fd, before))));
  for (uint64_t i = 1; i < begun; ++i) Log(session, *size);
  if (seen > 1 || is_unordered) {  // what was handled between two reads is not known
    log_.MarkInexact({.reason = InexactReason::kReads,
                      .session = session,
                      .detail = "whether some requests were handled before or after a read for its "
                                "file is not known"});
  }
}

void FileWatch::Look() {
  for (auto& [session, file] : files_) {
    if (!file.fd.valid()) Open(session, file);
    LookAt(session, file);
  }
}

void FileWatch::NoteUnordered(const std::set<BufferId>& buffers) {
  for (const BufferId id : buffers)
    if (const auto owner = buffers_.OwnerOf(id); Watches(owner)) {
      File& file = files_.at(*owner);
      file.is_unordered = file.is_unordered || HasInput(file.growth.get());
    }
}

void FileWatch::End(SessionId session, bool is_freed) {
  File* const file = FindIn(files_, session);
  if (file == nullptr) return;
  if (!file->fd.valid())
    MarkUnknown(session);  // a name that means nothing here
  else if (is_freed)
    Log(session, std::nullopt);
  else
    LookAt(session, *file);
  Drop(session);
}

}  // namespace ringscope
