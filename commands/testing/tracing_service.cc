// Producers, and what they write.

#include "commands/testing/tracing_service.h"

#include <algorithm>
#include <utility>

namespace ringscope::testing {

TracingService::TracingService(EventLoop& loop, TracingServiceOptions options,
                               ServiceJournal& journal)
    : loop_(loop), options_(std::move(options)), journal_(journal), shuffle_(loop) {
  if (!options_.traces_all) return;
  constexpr uint64_t kBufferKb = 64;
  ipc::TraceConfig config;
  config.buffers = {{.size_kb = kBufferKb, .experimental_mode = ipc::kExperimentalModeV2}};
  const std::string encoded = Encode(config);
  static_cast<void>(EnableTracing(nullptr, wire::AsBytes(encoded), {}));
}

TracingService::~TracingService() = default;

void TracingService::Post(std::function<void()> task) {
  const uint64_t number = ++last_task_;
  tasks_[number] = loop_.CallSoon([this, number, task = std::move(task)] {
    const Timer keep = std::move(tasks_.extract(number).mapped());
    task();
  });
}

void TracingService::AddProducer(UniqueFd fd) {
  do {
    ++last_producer_;
  } while (last_producer_ == 0 || producers_.contains(ProducerId{last_producer_}));
  const ProducerId id{last_producer_};
  auto& producer =
      *(producers_[id] = std::make_unique<ProducerPort>(*this, loop_, std::move(fd), id));
  if (!producer.Serve()) producers_.erase(id);
}

void TracingService::AddConsumer(UniqueFd fd) {
  auto consumer = std::make_unique<ConsumerPort>(*this, loop_, std::move(fd));
  if (consumer->Serve()) consumers_.emplace(consumer.get(), std::move(consumer));
}

ProducerPort* TracingService::FindProducer(ProducerId id) {
  const auto producer = producers_.find(id);
  return producer == producers_.end() ? nullptr : producer->second.get();
}

TracingSession* TracingService::OwnerOf(BufferId id) {
  const auto owner = owners_.find(id);
  return owner == owners_.end() ? nullptr : sessions_.at(owner->second).get();
}

void TracingService::Announce(const OpBody& fact) {
  for (const auto& [id, session] : sessions_) session->store.Apply(fact);
}

namespace {

ProducerConnected ConnectionOf(const ProducerPort& producer) {
  ProducerConnected connected;
  connected.producer = producer.id();
  connected.uid = producer.peer().uid;
  connected.pid = producer.peer().pid;
  connected.name = producer.name();
  return connected;
}

SharedMemorySetUp MemoryOf(const ProducerPort& producer) {
  return {.producer = producer.id(),
          .size = producer.memory().size(),
          .page_size = producer.memory().page_bytes()};
}

}  // namespace

void TracingService::Introduce(const ProducerPort& producer, TracingSession& session) {
  session.store.Apply(ConnectionOf(producer));
  if (producer.has_memory()) session.store.Apply(MemoryOf(producer));
  for (const auto& [writer, buffer] : producer.writers())
    session.store.Apply(
        WriterRegistered{.producer = producer.id(), .writer = writer, .buffer = buffer});
}

void TracingService::OnProducerInitialized(ProducerPort& producer) {
  Announce(ConnectionOf(producer));
}

void TracingService::OnMemory(ProducerPort& producer) { Announce(MemoryOf(producer)); }

void TracingService::AddToAll(const std::string& source) {
  TracingSession& session = *sessions_.begin()->second;
  auto& known = session.config.data_sources;
  const auto has_name = [&](const auto& other) { return other.config.name == source; };
  if (std::ranges::any_of(known, has_name)) return;
  known.push_back({.config = {.name = source}});
  wire::AppendBytes(session.raw_config, proto::TraceConfig::kDataSources,
                    wire::AsBytes(Encode(known.back())));
}

void TracingService::FlushAll() {
  Flush(*sessions_.begin()->second, /*timeout_ms=*/0, /*flags=*/0, [](bool) {});
}

void TracingService::SendTo(const std::string& name, const ipc::AsyncCommand& command) {
  for (const auto& [id, producer] : producers_)
    if (producer->name() == name) producer->SendCommand(command);
}

void TracingService::OnSourceRegistered(ProducerPort& producer,
                                        const ipc::DataSourceDescriptor& source) {
  sources_.emplace_back(producer.id(), source);
  if (options_.traces_all) AddToAll(source.name);
  using State = TracingSession::State;
  for (const auto& [id, session] : sessions_) {
    if (session->state != State::kConfigured && session->state != State::kStarted) continue;
    const size_t before = session->instances.size();
    for (size_t i = 0; i < session->config.data_sources.size(); ++i)
      SetUpSource(*session, i, producer, source);
    for (size_t i = before; session->state == State::kStarted && i < session->instances.size(); ++i)
      StartInstance(session->instances[i]);
  }
}

void TracingService::OnSourceGone(ProducerPort& producer, const std::string& source) {
  std::erase_if(sources_, [&](const auto& known) {
    return known.first == producer.id() && known.second.name == source;
  });
  for (const auto& [id, session] : sessions_) {
    const size_t removed = std::erase_if(session->instances, [&](const SourceInstance& instance) {
      return instance.producer == producer.id() && instance.source == source;
    });
    if (removed > 0 && session->state == TracingSession::State::kStopping)
      CheckAllStopped(*session);
  }
}

void TracingService::OnCommit(ProducerPort& producer, Bytes request) {
  if (!producer.has_memory()) return;  // the acknowledgement of a flush, too
  std::string commit;
  const std::optional<uint64_t> flush = producer.TakeChunks(request, commit).flush_request_id();
  if (keeps_journal()) journal_.NoteCommit(producer.name(), wire::AsBytes(commit), flush);
  // Each session gets its part. Their buffers are different ones.
  CommitRequestParser parser;
  static_cast<void>(parser.Parse(wire::AsBytes(commit)));
  std::map<TracingSession*, std::string> parts;
  const auto part_of = [&](std::optional<uint64_t> buffer) -> std::string* {
    TracingSession* const owner = OwnerOf(TargetBufferOf(buffer));
    return owner == nullptr ? nullptr : &parts[owner];
  };
  for (const ChunkToMove& chunk : parser.chunks()) {
    if (std::string* const part = part_of(chunk.target_buffer))
      CommitRequestBuilder(*part).AddChunk(chunk);
    else
      ++chunks_discarded_;
  }
  for (const ChunkToPatch& patch : parser.patches()) {
    if (std::string* const part = part_of(patch.target_buffer))
      CommitRequestBuilder(*part).AddPatch(patch);
    else
      patches_discarded_ += patch.patches.size();
  }
  for (const auto& [owner, part] : parts)
    owner->store.Commit(producer.id(), wire::AsBytes(part), Origin::kInline);
  if (flush) OnFlushDone(producer.id(), *flush);
}

void TracingService::Scrape(const ProducerPort& producer, TracingSession& session) {
  std::string found;
  producer.Scrape([&](BufferId buffer) { return session.store.Has(buffer); }, found);
  if (!found.empty()) session.store.Commit(producer.id(), wire::AsBytes(found), Origin::kScraped);
}

void TracingService::OnNotified(ProducerPort& producer, uint64_t instance, bool stopped) {
  using State = SourceInstance::State;
  for (const auto& [id, session] : sessions_) {
    const auto found = std::ranges::find_if(session->instances, [&](const SourceInstance& one) {
      return one.id == instance && one.producer == producer.id();
    });
    if (found == session->instances.end()) continue;
    if (stopped && found->state == State::kStopping) {
      found->state = State::kStopped;
      if (session->state == TracingSession::State::kStopping) CheckAllStopped(*session);
    } else if (!stopped && found->state == State::kStarting) {
      found->state = State::kStarted;
      CheckAllStarted(*session);
    }
    return;
  }
}

void TracingService::OnProducerGone(ProducerPort& producer) {
  for (const auto& [id, session] : sessions_) Scrape(producer, *session);
  const std::vector<ipc::DataSourceDescriptor> gone = producer.sources();
  for (const ipc::DataSourceDescriptor& source : gone) OnSourceGone(producer, source.name);
  Announce(ProducerDisconnected{producer.id()});
  if (keeps_journal()) journal_.NoteEnd(producer.name(), producer.AsGone());
  Post([this, id = producer.id()] { producers_.erase(id); });
}

void TracingService::OnConsumerGone(ConsumerPort& consumer) {
  if (TracingSession* const session = SessionOf(consumer)) {
    session->enable_request.reset();
    FreeBuffers(*session);
  }
  Post([this, gone = &consumer] { consumers_.erase(gone); });
}

TracingSession* TracingService::FindSession(uint64_t id) {
  const auto session = sessions_.find(id);
  return session == sessions_.end() ? nullptr : session->second.get();
}

ipc::QueryServiceStateReply TracingService::ListSessions() const {
  ipc::QueryServiceStateReply reply;
  for (const auto& [id, producer] : producers_) {
    reply.state.producers.push_back({.id = Raw(id), .name = producer->name()});
    for (const ipc::DataSourceDescriptor& source : producer->sources())
      reply.state.data_sources.push_back({.descriptor = source, .producer_id = Raw(id)});
  }
  for (const auto& [id, session] : sessions_) {
    ipc::ListedSession& listed = reply.state.sessions.emplace_back();
    listed.id = id;
    if (session->state == TracingSession::State::kCloned) listed.state = ipc::kClonedState;
    listed.unique_session_name = session->config.unique_session_name;
    for (const ipc::BufferConfig& buffer : session->config.buffers)
      listed.buffer_sizes_kb.push_back(buffer.size_kb);
  }
  return reply;
}

TracingSession* TracingService::SessionOf(const ConsumerPort& consumer) {
  for (const auto& [id, session] : sessions_)
    if (session->consumer == &consumer) return session.get();
  return nullptr;
}

std::string TracingService::TraceStats(TracingSession& session) {
  ServiceStats stats = session.store.stats();
  stats.invalid_packets += session.invalid_packets_before;
  stats.chunks_discarded = chunks_discarded_;
  stats.patches_discarded = patches_discarded_;
  for (const auto& [id, other] : sessions_) {
    stats.chunks_discarded += other->store.stats().chunks_discarded;
    stats.patches_discarded += other->store.stats().patches_discarded;
  }
  stats.producers_connected = producers_.size();
  stats.producers_seen = last_producer_;
  stats.data_sources_registered = sources_.size();
  stats.data_sources_seen = last_instance_;
  stats.tracing_sessions = sessions_.size();
  stats.total_buffers = owners_.size();
  stats.flushes_requested = session.flushes_requested;
  stats.flushes_succeeded = session.flushes_succeeded;
  stats.flushes_failed = session.flushes_failed;
  stats.final_flush_outcome = session.final_flush_outcome;
  return session.store.TraceStats(stats);
}

}  // namespace ringscope::testing
