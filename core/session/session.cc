#include "core/session/session.h"

#include <algorithm>

#include "core/base/text.h"
#include "core/protovm/protovm_rules.h"

namespace ringscope {
namespace {

// Limits of the service. Source: Perfetto's tracing service, as observed.
constexpr uint64_t kMaxWriterId = 32767;
constexpr size_t kMaxPatchesPerChunk = 1024;

constexpr const char kNoBufferToClone[] = "a clone of buffer {}, which is not set up: skipped";

std::string LogsEngine(const BufferSetUp& setup) {
  return setup.engine.empty() ? kDefaultEngine : setup.engine;
}

Result<const EngineInfo*> EngineFor(const Session::Options& options, const BufferChoice& choice,
                                    const BufferSetUp& setup) {
  if (choice.engine) return options.find_engine(*choice.engine);
  const std::string name = LogsEngine(setup);
  return FindEngine(name).map_error([&](Error error) {
    error.code = ErrorCode::kUnsupported;
    error.message =
        fmt::format("buffer {} was recorded with engine '{}', which this build does not have",
                    Raw(setup.id), name);
    error.hint = "choose another with --engine; `ringscope engines` lists them";
    return error;
  });
}

/// Bytes of a packet of the service's own with this content.
uint64_t ServicePacketSize(uint32_t field, std::string_view content) {
  const uint64_t tag = uint64_t{field} << 3;
  return wire::VarintSize(tag) + wire::VarintSize(content.size()) + content.size() +
         TrustedFieldsSize({.uid = 0, .pid = -1}, kServiceSequenceId, 0);
}

}  // namespace

void Session::BeginRecord(const Op& op, uint64_t number) {
  now_.record = number;
  if (op.time_ns) now_.time_ns = op.time_ns;
  listeners_.Call(&ReplayListener::OnRecord, op, now_);
}

Status Session::Apply(const Op& op) {
  // Most records are commits, which change nobody's access.
  if (const auto* commit = std::get_if<Commit>(&op.body)) return ApplyCommit(*commit);
  access_.Apply(op);
  if (const auto event = LifeEventOf(op, 0)) flushes_.Apply(*event);
  Status status;
  // Other records change nothing in the service; reads are the caller's to ask for.
  VisitRecord(
      op.body, [&](const BufferSetUp& setup) { status = SetUpBuffer(setup); },
      [&](const BufferFreed& freed) {
        if (SessionBuffer* buffer = FindOpenBuffer(freed.id)) buffer->freed = true;
        if (left_out_.erase(freed.id) > 0) left_before_.insert(freed.id);
      },
      [&](const CloneRequested& clone) {
        file_copied_ |= options_.clone && options_.clone->clone == clone.clone;
      },
      [&](const BufferCloned& cloned) {
        ++clone_buffers_[0];
        CountBuffers();
        status = CloneBuffer(cloned);
      },
      [&](const CloneEnded& ended) {
        const uint64_t buffers = std::exchange(clone_buffers_[0], 0);
        if (ended.success)
          clone_buffers_[ended.session.value_or(UINT64_MAX)] += buffers;
        else
          CountBuffers();
      },
      [&](const SessionStarted&) { ++sessions_; },
      [&](const SessionEnded& ended) {
        sessions_ -= sessions_ > 0 ? 1 : 0;
        if (clone_buffers_.erase(ended.session) > 0) CountBuffers();
      },
      [&](const BufferCleared& cleared) {
        if (SessionBuffer* buffer = FindOpenBuffer(cleared.buffer))
          status = EmptyBuffer(*buffer, Erasure::kDropped);
      },
      [&](const ProducerDisconnected& gone) {
        held_.Drop(gone.producer);
        std::erase_if(programs_, [&](const auto& of) { return of.first.first == gone.producer; });
      },
      [&](const DataSourceRegistered& source) {
        programs_[{source.producer, source.name}] = source.protovm_program;
      },
      [&](const DataSourceUnregistered& source) {
        programs_.erase({source.producer, source.name});
      },
      [&](const DataSourceSetUp& source) {
        stats_.data_sources_seen = std::max(stats_.data_sources_seen, source.instance);
        status = SetUpSource(source);
      },
      [&](const ProtoVmSetUp& setup) { status = SetUpProgram(setup); },
      [&](const ProtoVmStates& states) {
        if (const SessionBuffer* buffer = FindOpenBuffer(states.buffer))
          listeners_.Call(&ReplayListener::OnProtoVmStates, *buffer);
      });
  CountService();
  return status;
}

/// Counts the service's producers, data sources, sessions and flushes.
void Session::CountService() {
  stats_.producers_seen = access_.producers_seen();
  stats_.producers_connected = access_.producers_connected();
  stats_.data_sources_registered = programs_.size();
  // A trace is read while its session is there.
  stats_.tracing_sessions = std::max<uint64_t>(sessions_, 1);
  stats_.flushes_requested = flushes_.requested();
  stats_.flushes_succeeded = flushes_.Count(FlushOutcome::kSucceeded);
  stats_.flushes_failed = flushes_.Count(FlushOutcome::kFailed);
  stats_.missed_flushes = flushes_.missed();
  // TraceStats.FinalFlushOutcome: 0 is unspecified.
  const FlushOutcome final_flush = flushes_.final_outcome();
  stats_.final_flush_outcome = final_flush == FlushOutcome::kSucceeded ? 1
                               : final_flush == FlushOutcome::kFailed  ? 2
                                                                       : 0;
}

BufferChoice Session::Options::ChoiceFor(BufferId id, uint32_t index) const {
  BufferChoice choice = all;
  for (const BufferKey key : {BufferKey(/*by_index=*/true, index), BufferKey(id)}) {
    const BufferChoice* const own = FindIn(buffers, key);
    if (own == nullptr) continue;
    if (own->engine) choice.engine = own->engine;
    if (own->size) choice.size = own->size;
    if (own->policy) choice.policy = own->policy;
  }
  return choice;
}

Status Session::SetUpBuffer(const BufferSetUp& setup) {
  if (setup.left_out || (options_.clone && !options_.clone->buffers.contains(setup.id))) {
    left_out_.insert(setup.id);
    ++buffers_set_up_;
    CountBuffers();
    return {};
  }
  SessionBuffer buffer;
  buffer.id = setup.id;
  buffer.index = setup.index.value_or(buffers_set_up_);
  const BufferChoice choice = options_.ChoiceFor(buffer.id, buffer.index);
  RS_ASSIGN_OR_RETURN(buffer.info, EngineFor(options_, choice, setup));
  buffer.requested_size = choice.size.value_or(setup.size);
  buffer.policy = choice.policy.value_or(setup.policy);
  buffer.session = setup.session;
  const bool was_read = setup.session && read_sessions_.contains(*setup.session);
  buffer.is_read = was_read;
  buffer.is_state_written = was_read && !options_.clone;
  differs_from_log_ |= buffer.requested_size != setup.size || buffer.policy != setup.policy;
  const auto logs = FindEngine(LogsEngine(setup));
  differs_from_log_ |= !logs || (*logs)->name != buffer.info->name;
  if (is_observed_) buffer.observer = std::make_unique<BufferObserver>(setup.id, now_, listeners_);
  auto engine = MakeEngine(buffer);
  if (!engine) {
    Error error = std::move(engine).error();
    if (choice.size) error.code = ErrorCode::kUsage;  // the caller's own choice
    if (error.hint.empty()) error.hint = "choose another size with --size";
    return InBuffer(setup.id, std::move(error));
  }
  buffer.engine = std::move(*engine);
  if (FindOpenBuffer(setup.id) != nullptr)
    WarnOnce("buffer {} is set up again without being freed: what it held is dropped",
             Raw(setup.id));
  if (const auto old = buffers_.find(setup.id); old != buffers_.end()) {
    RS_RETURN_IF_ERROR(DrainBuffer(old->second));
    RS_RETURN_IF_ERROR(CheckEngineAtEnd(setup.id, *old->second.engine));
    listeners_.Call(&ReplayListener::OnBufferReplaced, old->second);
    buffers_.erase(old);
  }
  listeners_.Call(&ReplayListener::OnBufferSetUp,
                  buffers_.emplace(setup.id, std::move(buffer)).first->second);
  ++buffers_set_up_;
  CountBuffers();
  return {};
}

Result<std::unique_ptr<Engine>> Session::MakeEngine(const SessionBuffer& buffer) const {
  const EngineConfig config{.size = buffer.requested_size,
                            .policy = buffer.policy,
                            .observer = buffer.observer.get(),
                            .now = &now_};
  return options_.make_engine ? options_.make_engine(*buffer.info, config, buffer.id)
                              : buffer.info->create(config);
}

Status Session::ApplyCommit(const Commit& commit) {
  const ServiceAccess::Producer* producer = access_.Find(commit.producer);
  if (access_.IgnoresRequests(producer)) {
    WarnOnce(
        "a request of producer {} came before its shared memory was set up: ignored, as the "
        "service does",
        Raw(commit.producer));
    if (!parser_.Parse(commit.request)) return {};
    for (const ChunkToMove& chunk : parser_.chunks()) {
      if (const auto refused = ToChunkCommit(commit.producer, chunk))
        listeners_.Call(&ReplayListener::OnChunk, TargetBufferOf(chunk.target_buffer), *refused,
                        Refusal::kNoSharedMemory);
    }
    return {};
  }
  if (!parser_.Parse(commit.request)) {
    ++stats_.malformed_requests;
    WarnOnce("a commit of producer {} is not a well-formed request: ignored", Raw(commit.producer));
    return {};
  }
  for (const ChunkToMove& chunk : parser_.chunks())
    RS_RETURN_IF_ERROR(ApplyChunk(commit, producer, chunk));
  return ApplyPatches(commit);
}

Status Session::ApplyPatches(const Commit& commit) {
  if (held_.DropUnfinished(commit))
    WarnOnce("the last part of a request of producer {} is missing: its patches are dropped",
             Raw(commit.producer));
  if (!commit.last) {
    if (!held_.Hold(commit, parser_.patches()))
      WarnOnce(
          "a request of producer {} has more than {} bytes of patches and no last part: its "
          "patches are dropped",
          Raw(commit.producer), HeldPatches::kMaxBytes);
    return {};
  }
  for (const ChunkToPatch& patch : held_.Take(commit.producer))
    RS_RETURN_IF_ERROR(ApplyPatch(commit.producer, patch));
  for (const ChunkToPatch& patch : parser_.patches())
    RS_RETURN_IF_ERROR(ApplyPatch(commit.producer, patch));
  return {};
}

Status Session::ApplyChunk(const Commit& commit, const ServiceAccess::Producer* producer,
                           const ChunkToMove& chunk) {
  std::optional<ChunkCommit> incoming = ToChunkCommit(commit.producer, chunk);
  if (!incoming) {
    ++stats_.skipped_chunks;
    WarnOnce("a chunk of producer {} has no data of 8 to 65535 bytes: skipped, as the service does",
             Raw(commit.producer));
    return {};
  }
  const BufferId id = TargetBufferOf(chunk.target_buffer);
  SessionBuffer* buffer = FindOpenBuffer(id);
  const bool out_of_view = buffer == nullptr && IsOutOfView(id);
  const std::optional<Refusal> refusal = access_.Check(
      producer, commit, chunk, incoming->sequence.writer, buffer != nullptr || out_of_view,
      buffer != nullptr ? buffer->info->release : kNewestRelease);
  if (refusal) {
    if (refusal == Refusal::kNoSuchPage)
      WarnOnce(
          "a chunk of producer {} has a page outside its shared memory: skipped, as the service "
          "does",
          Raw(commit.producer));
    // Commits to a freed buffer after the end of its session are usual.
    if (refusal == Refusal::kNoSuchBuffer && !buffers_.contains(id) && !left_before_.contains(id))
      WarnOnce("producer {} commits to buffer {}, which is not set up: its chunks are discarded",
               Raw(commit.producer), Raw(id));
    if (!out_of_view) listeners_.Call(&ReplayListener::OnChunk, id, *incoming, refusal);
    ++(refusal == Refusal::kNoSuchPage ? stats_.skipped_chunks : stats_.chunks_discarded);
    return {};
  }
  if (out_of_view) return {};
  if (producer != nullptr) incoming->identity = producer->identity;
  if (commit.uid) incoming->identity.uid = *commit.uid;
  if (commit.pid) incoming->identity.pid = *commit.pid;
  incoming->machine = access_.MachineOf(commit.producer);
  listeners_.Call(&ReplayListener::OnChunk, id, *incoming, std::nullopt);
  if (buffer->observer) buffer->observer->BeginCommit(*incoming);
  buffer->engine->Commit(*incoming);
  if (buffer->observer) buffer->observer->EndCommit();
  RS_RETURN_IF_ERROR(CheckEngine(id, *buffer->engine));
  listeners_.Call(&ReplayListener::OnChunkDone, id, *incoming);
  return {};
}

Status Session::ApplyPatch(ProducerId producer, const ChunkToPatch& patch) {
  const BufferId id = TargetBufferOf(patch.target_buffer);
  SessionBuffer* buffer = FindOpenBuffer(id);
  const ChunkPatches patches = ToChunkPatches(producer, patch, patches_);
  const uint16_t writer = Raw(patches.sequence.writer);
  const bool out_of_view = buffer == nullptr && IsOutOfView(id);
  const bool refused = (buffer == nullptr && !out_of_view) ||
                       (access_.knows_producers() && (writer == 0 || writer > kMaxWriterId ||
                                                      patch.patches.size() > kMaxPatchesPerChunk));
  if (refused) {
    stats_.patches_discarded += patch.patches.size();
    if (!out_of_view) listeners_.Call(&ReplayListener::OnPatch, id, false);
    return {};
  }
  stats_.patches_discarded += patch.patches.size() - patches.patches.size();
  if (out_of_view) return {};
  const bool applied = buffer->engine->ApplyPatches(patches);
  RS_RETURN_IF_ERROR(CheckEngine(id, *buffer->engine));
  listeners_.Call(&ReplayListener::OnPatch, id, applied);
  return {};
}

SessionBuffer* Session::FindOpenBuffer(BufferId id) {
  SessionBuffer* const buffer = FindIn(buffers_, id);
  return buffer == nullptr || buffer->freed || buffer->cloned ? nullptr : buffer;
}

SessionBuffer* Session::FindOrWarn(BufferId id, fmt::format_string<uint16_t> warning) {
  SessionBuffer* const buffer = FindOpenBuffer(id);
  if (buffer == nullptr && !IsOutOfView(id)) WarnOnce<uint16_t>(warning, Raw(id));
  return buffer;
}

bool VmFeed::Feed(const Packet& packet) { return fed_buffer_->vms->Feed(packet, now_); }

void BufferObserver::Emit(ChunkName chunk, const BufferEvent::Body& body) {
  const BufferEvent event{now_, buffer_, chunk, body};
  // Two calls, each of a function that the compiler knows: hot.
  if (draining_)
    listeners_.Call(&ReplayListener::OnDrainEvent, event);
  else
    listeners_.Call(&ReplayListener::OnBufferEvent, event);
}

void BufferObserver::OnErased(const ObservedChunk& chunk) {
  const ChunkName name = chunk.name();
  if (!under_way_)
    Emit(name, BufferEvent::Erased{chunk, Erasure::kConsumed});
  else if (relocating_ && name == under_way_ && !evicting_)
    Emit(name, BufferEvent::Erased{chunk, Erasure::kMoved});
  else if (!evicting_ || *evicting_ == name)
    Emit(name, BufferEvent::Erased{chunk, Erasure::kOverwritten, under_way_});
  else
    Emit(name, BufferEvent::Erased{chunk, Erasure::kCleared, under_way_, evicting_});
}

void BufferObserver::OnPacketOverwritten(const Packet& packet) {
  // A packet that is folded after the state was written is in no trace.
  if (!Feed(packet) || fed_buffer_->is_state_written) return;
  Emit({packet.sequence, packet.place.first_chunk}, BufferEvent::Folded{packet, under_way_});
}

BufferStats SessionBuffer::stats() const {
  BufferStats stats = engine->stats();
  if (!cloned || cloned->transferred) return stats;
  for (uint64_t BufferStats::*counter :
       {&BufferStats::bytes_read, &BufferStats::chunks_read, &BufferStats::readaheads_succeeded,
        &BufferStats::readaheads_failed})
    stats.*counter -= cloned->stats.*counter;
  return stats;
}

std::vector<SequenceKey> InTableOrder(const std::vector<SequenceKey>& inserted) {
  constexpr size_t kFirst = 1024, kSecond = 8192, kPercent = 75;
  std::vector<std::optional<SequenceKey>> slots;
  const auto insert = [&](SequenceKey key) {
    const size_t hash = size_t{Raw(key.producer)} << 16 | Raw(key.writer);
    for (size_t step = 0;; ++step) {
      auto& slot = slots[(hash + 2 * step * step + step) & (slots.size() - 1)];
      if (slot) continue;
      slot = key;
      return;
    }
  };
  size_t size = 0;
  for (const SequenceKey key : inserted) {
    if (size >= slots.size() * kPercent / 100) {
      const size_t capacity = slots.empty()            ? kFirst
                              : slots.size() == kFirst ? kSecond
                                                       : slots.size() * 2;
      const auto before = std::exchange(slots, std::vector<std::optional<SequenceKey>>(capacity));
      for (const auto& slot : before)
        if (slot) insert(*slot);
    }
    insert(key);
    ++size;
  }
  std::vector<SequenceKey> order;
  for (const auto& slot : slots)
    if (slot) order.push_back(*slot);
  return order;
}

std::vector<SequenceKey> SessionBuffer::Writers() const {
  std::vector<SequenceKey> writers;
  VisitWriterStats([&](const WriterStats& writer) { writers.push_back(writer.sequence); });
  return InTableOrder(writers);
}

void SessionBuffer::VisitWriterStats(const std::function<void(const WriterStats&)>& visit) const {
  if (!cloned || cloned->transferred) return engine->VisitWriterStats(visit);
  // V2 counts commits, so that nothing is left; V1 counts what is read.
  size_t next = 0;
  engine->VisitWriterStats([&](const WriterStats& writer) {
    WriterHistogram rest = *writer.histogram;
    if (next < cloned->writers.size() && cloned->writers[next].first == writer.sequence) {
      const WriterHistogram& before = cloned->writers[next++].second;
      for (size_t i = 0; i < kHistogramBuckets; ++i) {
        rest.counts[i] -= before.counts[i];
        rest.sums[i] -= before.sums[i];
      }
    }
    if (rest != WriterHistogram{}) visit({writer.sequence, &rest});
  });
}

// Clones of the buffers of a session, and the buffers in the replay of a clone.

/// Counts the live buffers, those of clones included. (The statistics of a trace are older than the
/// end of its own buffers.)
void Session::CountBuffers() {
  stats_.total_buffers = left_out_.size();
  for (const auto& [id, buffer] : buffers_) stats_.total_buffers += buffer.freed ? 0 : 1;
  for (const auto& [session, buffers] : clone_buffers_) stats_.total_buffers += buffers;
}

bool Session::IsOutOfView(BufferId id) const {
  const SessionBuffer* const buffer = FindIn(buffers_, id);
  return left_out_.contains(id) || (buffer != nullptr && buffer->cloned);
}

Status Session::CloneBuffer(const BufferCloned& cloned) {
  SessionBuffer* buffer = FindOrWarn(cloned.buffer, kNoBufferToClone);
  if (buffer == nullptr) return {};
  if (!options_.clone || options_.clone->clone != cloned.clone)
    return cloned.transfer ? EmptyBuffer(*buffer, Erasure::kTransferred) : Status{};
  auto at = std::make_unique<SessionBuffer::Cloned>();
  at->transferred = cloned.transfer;
  at->stats = buffer->engine->stats();
  buffer->engine->VisitWriterStats([&](const WriterStats& writer) {
    at->writers.emplace_back(writer.sequence, *writer.histogram);
  });
  buffer->cloned = std::move(at);
  buffer->is_read = false;  // the clone is a session of its own
  return {};
}

/// Replaces the buffer's content, counters included, by nothing.
Status Session::EmptyBuffer(SessionBuffer& buffer, Erasure why) {
  // One that is to be cleared, and holds nothing, stays with its programs.
  if (buffer.vms && why == Erasure::kDropped && buffer.engine->stats().chunks_written == 0)
    return {};
  if (buffer.observer) {
    // An engine that does not report its chunks does not show what leaves.
    static_cast<void>(buffer.engine->VisitChunks([&](const ObservedChunk& chunk) {
      if (!chunk.is_padding()) buffer.observer->LeaveForClone(chunk, why);
    }));
  }
  auto engine = MakeEngine(buffer);
  if (!engine) return InBuffer(buffer.id, std::move(engine).error());
  buffer.engine = std::move(*engine);
  // The programs leave with the buffer, and running data sources do not get others.
  if (buffer.observer) buffer.observer->FeedTo(nullptr);
  buffer.vm_feed.reset();
  if (buffer.vms != nullptr) {
    for (protovm::VmAccount& account : buffer.vms->Accounts()) {
      account.left = true;
      buffer.former_vms.push_back(std::move(account));
    }
  }
  buffer.vms.reset();
  return {};
}

std::string ToString(ChunkName name) {
  return fmt::format("{}:{}#{}", Raw(name.sequence.producer), Raw(name.sequence.writer),
                     Raw(name.chunk));
}

std::vector<SessionBuffer*> Session::BuffersInOrder(Reach reach, std::optional<uint64_t> session) {
  std::vector<SessionBuffer*> order;
  for (auto& [id, buffer] : buffers_) {
    if (session && buffer.session && *session != *buffer.session) continue;
    const bool is_cloned = buffer.cloned != nullptr;
    if (is_cloned != (reach == Reach::kClone)) continue;
    if (is_cloned || !buffer.freed || reach == Reach::kFreed) order.push_back(&buffer);
  }
  std::ranges::stable_sort(order, {}, &SessionBuffer::index);
  return order;
}

SessionPacket Session::Judge(const SessionBuffer& buffer, const Packet& packet, SequenceIds& ids) {
  SessionPacket judged{.buffer = buffer.id, .packet = &packet};
  judged.valid = IsValidPacket(packet.slices, buffer.info->release);
  if (!judged.valid) return judged;
  judged.machine = access_.MachineOf(packet.sequence.producer);
  judged.sequence_id = ids.IdOf(packet.sequence, judged.machine);
  return judged;
}

/// The first pass over the buffers of a session, or of the clone that is replayed: the states of
/// their programs are in front of what it reads, and never again.
Status Session::BeginFirstPass(const SessionBuffer& read, bool is_taken, uint64_t& bytes) {
  std::string protovms, listing;
  const std::vector<SessionBuffer*> buffers =
      BuffersInOrder(read.cloned ? Reach::kClone : Reach::kFreed, read.session);
  for (SessionBuffer* buffer : buffers) {
    buffer->is_read = true;
    // A clone that is replayed has the state of its instant, whatever the session itself reads.
    buffer->is_state_written = !options_.clone || buffer->cloned;
    if (buffer->vms != nullptr) buffer->vms->NoteWritten();
    buffer->VisitPrograms(
        [&](const ProgramState& program) { protovm::AppendInstance(program, protovms); });
    RS_RETURN_IF_ERROR(CheckEngine(buffer->id, *buffer->engine));
  }
  // The service lists them in every trace; the other packets of its own are not replayed.
  for (const SessionBuffer* buffer : buffers) ListSequences(*buffer, listing);
  if (protovms.empty()) return {};
  bytes += ServicePacketSize(proto::TracePacket::kTraceProvenance, listing) +
           ServicePacketSize(proto::TracePacket::kProtovms, protovms);
  if (is_taken) return {};
  return listeners_.Call(
      &ReplayListener::OnProtoVms,
      ProtoVmsRead{read.session, wire::AsBytes(listing), wire::AsBytes(protovms)});
}

/// Appends a TraceProvenance.Buffer: the sequences of which the buffer has counted a chunk. Each
/// has an id from now on.
void Session::ListSequences(const SessionBuffer& buffer, std::string& listing) {
  std::string listed;
  for (const SequenceKey sequence : buffer.Writers()) {
    std::string entry;
    wire::AppendUint(entry, proto::TraceProvenance::Sequence::kId,
                     SequenceIdsFor(buffer).IdOf(sequence, access_.MachineOf(sequence.producer)));
    wire::AppendUint(entry, proto::TraceProvenance::Sequence::kProducerId, Raw(sequence.producer));
    wire::AppendBytes(listed, proto::TraceProvenance::Buffer::kSequences, wire::AsBytes(entry));
  }
  wire::AppendBytes(listing, proto::TraceProvenance::kBuffers, wire::AsBytes(listed));
}

/// @return whether a limit ended it
Result<bool> Session::ReadPackets(SessionBuffer& buffer, const ReadLimits& limits,
                                  uint64_t& bytes) {
  Engine& engine = *buffer.engine;
  // The session's own read, before the clone: the clone has what is in a file, and nothing else.
  const bool is_taken =
      options_.clone && !buffer.cloned && (!options_.clone->is_in_file || file_copied_);
  if (!buffer.is_read) [[unlikely]]
    RS_RETURN_IF_ERROR(BeginFirstPass(buffer, is_taken, bytes));
  listeners_.Call(&ReplayListener::OnReadBegun, buffer.id);
  engine.BeginRead();
  SequenceIds& ids = SequenceIdsFor(buffer);
  uint64_t packets = 0;
  const auto at_limit = [&] {
    return (limits.max_packets && packets >= *limits.max_packets) ||
           (limits.max_bytes && bytes >= *limits.max_bytes);
  };
  bool limited = false;
  while (!(limited = at_limit())) {
    const Packet* packet = engine.NextPacket();
    if (packet == nullptr) break;
    const SessionPacket judged = Judge(buffer, *packet, ids);
    ++packets;
    if (!judged.valid) ++stats_.invalid_packets;
    if (!limits.as_in_trace)
      bytes += packet->size;
    else if (judged.valid)
      bytes += packet->size + TrustedFieldsSize(packet->identity, judged.sequence_id,
                                                packet->dropped, judged.machine);
    if (is_taken)
      listeners_.Call(&ReplayListener::OnTakenPacket, judged);
    else
      RS_RETURN_IF_ERROR(listeners_.Call(&ReplayListener::OnPacket, judged));
  }
  RS_RETURN_IF_ERROR(CheckEngine(buffer.id, *buffer.engine));
  if (!is_taken && limited) listeners_.Call(&ReplayListener::OnReadLimited, buffer.id);
  if (!is_taken) listeners_.Call(&ReplayListener::OnReadDone, buffer.id, packets);
  return limited;
}

Result<bool> Session::ReadBuffer(BufferId id, const ReadLimits& limits) {
  SessionBuffer* buffer = FindOrWarn(id, "a read of buffer {}, which is not set up: skipped");
  if (buffer == nullptr) return false;
  uint64_t bytes = 0;
  return ReadPackets(*buffer, limits, bytes);
}

Result<bool> Session::ReadAllBuffers(std::optional<uint64_t> max_bytes, Reach reach,
                                     std::optional<uint64_t> session) {
  uint64_t bytes = 0;
  if (session) read_sessions_.insert(*session);
  for (SessionBuffer* buffer : BuffersInOrder(reach, session)) {
    RS_ASSIGN_OR_RETURN(const bool limited,
                        ReadPackets(*buffer, {.max_bytes = max_bytes, .as_in_trace = true}, bytes));
    if (limited) return true;
  }
  listeners_.Call(&ReplayListener::OnAllRead, *this, session);
  return false;
}

void Session::AddStatistics(Reach reach, std::optional<uint64_t> session) {
  for (const SessionBuffer* buffer : BuffersInOrder(reach, session)) {
    if (!buffer->session) continue;  // the log has no session whose trace it could be
    for (const SequenceKey writer : buffer->Writers()) SequenceIdsFor(*buffer).IdOf(writer);
  }
}

Status Session::ReadClone(BufferId id) {
  SessionBuffer* buffer = FindOrWarn(id, kNoBufferToClone);
  if (buffer == nullptr) return {};
  const auto clone = buffer->engine->Clone();
  if (!clone) return InBuffer(id, clone.error());
  listeners_.Call(&ReplayListener::OnCloneBegun, *buffer);
  (*clone)->BeginRead();
  SequenceIds& ids = SequenceIdsFor(*buffer);
  uint64_t packets = 0;
  while (const Packet* packet = (*clone)->NextPacket()) {
    ++packets;
    listeners_.Call(&ReplayListener::OnClonePacket, Judge(*buffer, *packet, ids));
  }
  RS_RETURN_IF_ERROR(CheckEngine(id, **clone));
  listeners_.Call(&ReplayListener::OnCloneDone, id, packets, (*clone)->stats());
  return {};
}

Status Session::DrainBuffer(SessionBuffer& buffer) {
  if (buffer.observer) buffer.observer->BeginDrain();
  listeners_.Call(&ReplayListener::OnDrainBegun, buffer.id);
  buffer.engine->BeginRead();
  while (const Packet* packet = buffer.engine->NextPacket())
    listeners_.Call(&ReplayListener::OnDrainPacket, buffer.id, *packet);
  return CheckEngine(buffer.id, *buffer.engine);
}

Status Session::EndLog() {
  for (const auto& [id, buffer] : buffers_)
    RS_RETURN_IF_ERROR(CheckEngineAtEnd(id, *buffer.engine));
  flushes_.Finish();
  CountService();
  return listeners_.Call(&ReplayListener::OnLogEnd, *this);
}

Status Session::Drain() {
  for (auto& [id, buffer] : buffers_) RS_RETURN_IF_ERROR(DrainBuffer(buffer));
  listeners_.Call(&ReplayListener::OnDrained);
  return {};
}

/// Sets up the VM of a data source instance, if it has a program, as the service does.
Status Session::SetUpSource(const DataSourceSetUp& source) {
  if (!options_.run_programs) return {};
  const std::string* const program = FindIn(programs_, {source.producer, source.name});
  const protovm::VmSetUp found = protovm::VmSetUpOf(
      program == nullptr ? Bytes() : wire::AsBytes(*program), wire::AsBytes(source.config));
  using SetUpKind = protovm::VmSetUp::Kind;
  if (found.kind == SetUpKind::kNone) return {};
  if (found.kind == SetUpKind::kComplete)
    return SetUpProgram({.buffer = source.target_buffer,
                         .producer = source.producer,
                         .data_source = source.name,
                         .program = *program,
                         .memory_limit_kb = found.memory_limit_kb});
  WarnOnce("data source '{}' has {}: no state is kept for it, as the service does", source.name,
           found.kind == SetUpKind::kNoConfig
               ? "a program (ProtoVM), but its config has no protovm_config"
           : found.kind == SetUpKind::kNoProgram
               ? "a protovm_config, but its descriptor has no program (ProtoVM)"
               : "a protovm_config without memory_limit_kb");
  return {};
}

Status Session::SetUpProgram(const ProtoVmSetUp& setup) {
  if (!options_.run_programs) return {};
  SessionBuffer* buffer =
      FindOrWarn(setup.buffer, "a program (ProtoVM) for buffer {}, which is not set up: skipped");
  if (buffer == nullptr) return {};
  auto* const runner = dynamic_cast<ProgramRunner*>(buffer->engine.get());
  if (runner != nullptr && runner->SetUpProgram({.data_source = setup.data_source,
                                                 .program = wire::AsBytes(setup.program),
                                                 .memory_limit_kb = setup.memory_limit_kb,
                                                 .producer = setup.producer}))
    return CheckEngine(buffer->id, *buffer->engine);
  const protovm::ProtoVmRules* const rules =
      buffer->info->has_protovm ? protovm::FindProtoVmRules(buffer->info->release) : nullptr;
  if (rules != nullptr && buffer->vms == nullptr) {
    auto vms = std::make_unique<protovm::BufferVms>(*rules);
    VmFeed* feed = buffer->observer.get();
    if (feed == nullptr) {
      auto own = std::make_unique<VmFeed>(now_);
      if (auto engine = buffer->engine->ObserveBy(own.get())) {
        buffer->engine = std::move(*engine);
        feed = own.get();
        buffer->vm_feed = std::move(own);
      }
    }
    if (feed != nullptr) {
      buffer->vms = std::move(vms);
      feed->FeedTo(buffer);
    }
  }
  if (buffer->vms == nullptr) {
    WarnOnce("data source '{}' has a program (ProtoVM), but buffer {} ({}) keeps no states",
             setup.data_source, Raw(setup.buffer), buffer->info->name);
    return {};
  }
  if (buffer->vms->SetUp(setup.data_source, wire::AsBytes(setup.program), setup.memory_limit_kb,
                         setup.producer, wire::AsBytes(setup.state)))
    return {};
  return Fail(
      ErrorCode::kLimit,
      fmt::format("buffer {} has more than {} programs (ProtoVM), or {} of them", Raw(setup.buffer),
                  protovm::BufferVms::kMaxVms, HumanSize(protovm::BufferVms::kMaxProgramBytes)),
      {}, "replay without them: --protovm off");
}

void SessionBuffer::VisitPrograms(const ProgramVisitor& visit) const {
  if (vms != nullptr) vms->Visit(visit);
  if (const auto* const runner = dynamic_cast<const ProgramRunner*>(engine.get()))
    runner->VisitPrograms(visit);
}

}  // namespace ringscope
