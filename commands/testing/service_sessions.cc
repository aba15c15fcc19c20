// The life of a session: what is refused, set up, started, stopped, freed.

#include <fmt/format.h>

#include <algorithm>
#include <random>

#include "commands/record/tap.h"
#include "commands/testing/tracing_service.h"
#include "core/perfetto/fields.h"

namespace ringscope::testing {
namespace {

using SessionState = TracingSession::State;
using InstanceState = SourceInstance::State;

constexpr uint64_t kBytesPerKilobyte = 1024;
constexpr uint64_t kMaxSizeKb = uint64_t{4} * 1024 * 1024;  // not included
constexpr size_t kMaxSessionsOfUser = 5;
constexpr size_t kMaxBuffers = 128;
constexpr uint64_t kStopTimeoutMs = 5000;
constexpr uint64_t kSnapshotPeriodMs = 10'000;
constexpr uint64_t kFinalFlushFlags = 2 | 1 << 4;  // trace stop, by the service

/// The producer's copy of a data source's config.
std::string ConfigForProducer(Bytes source, BufferId target, const TracingSession& session) {
  std::string config;
  wire::FieldReader fields(source);
  while (const auto field = fields.Next()) {
    const bool is_filled_in = field->number >= 2 && field->number <= 8;
    if (!is_filled_in) config += wire::AsText(field->whole);
  }
  wire::AppendUint(config, proto::DataSourceConfig::kTargetBuffer, Raw(target));
  wire::AppendUint(config, proto::DataSourceConfig::kTraceDurationMs, session.config.duration_ms);
  wire::AppendUint(config, proto::DataSourceConfig::kTracingSessionId, session.id);
  wire::AppendUint(
      config, proto::DataSourceConfig::kStopTimeoutMs,
      session.config.stop_timeout_ms == 0 ? kStopTimeoutMs : session.config.stop_timeout_ms);
  return config;
}

/// The raw DataSourceConfig of a trace config's data source.
Bytes RawSource(const std::string& config, size_t index) {
  wire::FieldReader fields(wire::AsBytes(config));
  while (const auto field = fields.Next())
    if (field->number == proto::TraceConfig::kDataSources && index-- == 0)
      return wire::BytesIn(field->bytes, proto::TraceConfig::DataSource::kConfig);
  return {};
}

std::string CommandWith(uint32_t field, const SourceInstance& instance) {
  std::string content, command;
  wire::AppendUint(content, proto::GetAsyncCommandResponse::SetupDataSource::kNewInstanceId,
                   instance.id);
  wire::AppendBytes(content, proto::GetAsyncCommandResponse::SetupDataSource::kConfig,
                    wire::AsBytes(instance.config));
  wire::AppendBytes(command, field, wire::AsBytes(content));
  return command;
}

}  // namespace

std::string TracingService::Refusal(const ConsumerPort* consumer, const ServiceConfig& config,
                                    const UniqueFd& file) const {
  for (const auto& [id, session] : sessions_) {
    if (consumer != nullptr && session->consumer == consumer)
      return "A consumer is already tracing";
    if (!config.unique_session_name.empty() && session->state != SessionState::kCloned &&
        session->config.unique_session_name == config.unique_session_name)
      return "A session with this unique_session_name exists";
  }
  if (config.triggers.mode > ipc::kTriggerModeStart && config.write_into_file)
    return "Triggers and write_into_file exclude each other";
  if (config.triggers.mode != 0 && config.duration_ms != 0)
    return "A session with triggers must not have a duration_ms";
  if (config.triggers.mode != 0 && config.trigger_list.timeout_ms == 0)
    return "A session with triggers needs a trigger_timeout_ms";
  if (config.buffers.size() > kMaxBuffers) return "Too many buffers";
  for (const ipc::ConfiguredDataSource& source : config.data_sources) {
    const std::string& name = source.config.target_buffer_name;
    const auto has_name = [&](const ipc::BufferConfig& buffer) { return buffer.name == name; };
    if (!name.empty() && std::ranges::none_of(config.buffers, has_name))
      return "A data source names a buffer that does not exist";
    if (name.empty() && source.config.target_buffer >= config.buffers.size())
      return "A data source's target_buffer is out of range";
  }
  if (sessions_.size() >= kMaxSessionsOfUser) return "Too many concurrent sessions";
  if (config.write_into_file && !file.valid()) return "write_into_file without a file";
  for (const ipc::BufferConfig& buffer : config.buffers)
    if (buffer.size_kb == 0 || buffer.size_kb >= kMaxSizeKb) return "Invalid buffer size";
  return {};
}

BufferId TracingService::NextBufferId() {
  do {
    ++last_buffer_;
  } while (last_buffer_ == 0 || owners_.contains(BufferId{last_buffer_}));
  return BufferId{last_buffer_};
}

std::string TracingService::EnableTracing(ConsumerPort* consumer, Bytes raw_config, UniqueFd file) {
  ServiceConfig config;
  if (!DecodeMessage(raw_config, config)) return "The trace config cannot be parsed";
  if (std::string error = Refusal(consumer, config, file); !error.empty()) return error;
  const uint64_t id = ++last_session_;
  TracingSession& session = *(sessions_[id] = std::make_unique<TracingSession>());
  session.id = id;
  session.consumer = consumer;
  session.config = std::move(config);
  session.raw_config = std::string(wire::AsText(raw_config));
  std::random_device random;
  session.uuid_msb = uint64_t{random()} << 32 | random();
  session.uuid_lsb = uint64_t{random()} << 32 | random();
  session.file = std::move(file);
  const bool awaits_trigger = session.config.triggers.mode == ipc::kTriggerModeStart;
  if (session.config.triggers.mode != 0)
    session.config.duration_ms = session.config.trigger_list.timeout_ms;
  for (size_t i = 0; i < session.config.buffers.size(); ++i) {
    const ipc::BufferConfig& buffer = session.config.buffers[i];
    const BufferId buffer_id = NextBufferId();
    session.buffers.push_back(buffer_id);
    owners_[buffer_id] = id;
    const Status made = session.store.SetUp({.id = buffer_id,
                                             .index = static_cast<uint32_t>(i),
                                             .size = buffer.size_kb * kBytesPerKilobyte,
                                             .policy = ipc::FillPolicyOf(buffer),
                                             .engine = ipc::EngineOf(buffer)});
    if (made) continue;
    for (const BufferId undone : session.buffers) owners_.erase(undone);
    sessions_.erase(id);
    return fmt::format("A buffer cannot be made: {}", made.error().message);
  }
  for (const auto& [number, producer] : producers_) Introduce(*producer, session);
  session.state = SessionState::kConfigured;
  for (size_t i = 0; i < session.config.data_sources.size(); ++i)
    for (const auto& [producer, source] : sources_)
      SetUpSource(session, i, *FindProducer(producer), source);
  if (awaits_trigger)
    session.duration_timer = loop_.CallAfter(std::chrono::milliseconds(session.config.duration_ms),
                                             [this, id] { DisableTracing(*sessions_.at(id)); });
  else if (!session.config.deferred_start)
    StartTracing(session);
  return {};
}

MemorySizes TracingService::MemoryFor(const ProducerPort& producer,
                                      const TracingSession& session) const {
  if (options_.memory) return *options_.memory;
  MemorySizes config;
  const auto& producers = session.config.producers;
  const auto wanted = std::ranges::find(producers, producer.name(), &ProducerConfig::name);
  if (wanted != producers.end())
    config = {wanted->size_kb * kBytesPerKilobyte, wanted->page_size_kb * kBytesPerKilobyte};
  return NegotiatedMemory(config, producer.memory_hint());
}

void TracingService::SetUpSource(TracingSession& session, size_t index, ProducerPort& producer,
                                 const ipc::DataSourceDescriptor& source) {
  const ipc::ConfiguredDataSource& config = session.config.data_sources[index];
  const bool wants_producer =
      config.producer_names.empty() || std::ranges::count(config.producer_names, producer.name());
  if (config.config.name != source.name || !wants_producer) return;
  const size_t target = ipc::TargetOf(session.config, config.config);
  if (target >= session.buffers.size()) return;
  if (!producer.SetUpMemory(MemoryFor(producer, session))) return;
  SourceInstance& instance = session.instances.emplace_back();
  instance.id = ++last_instance_;
  instance.producer = producer.id();
  instance.source = source.name;
  instance.buffer = session.buffers[target];
  instance.config =
      ConfigForProducer(RawSource(session.raw_config, index), instance.buffer, session);
  instance.no_flush = source.no_flush;
  instance.notifies_start = source.will_notify_on_start;
  instance.notifies_stop = source.will_notify_on_stop;
  instance.clears_state = source.handles_state_clear;
  if (!source.protovm_program.empty())
    session.store.Apply(DataSourceRegistered{
        .producer = producer.id(), .name = source.name, .protovm_program = source.protovm_program});
  session.store.Apply(DataSourceSetUp{.producer = producer.id(),
                                      .instance = instance.id,
                                      .name = source.name,
                                      .target_buffer = instance.buffer,
                                      .config = instance.config});
  producer.SendCommand(CommandWith(proto::GetAsyncCommandResponse::kSetupDataSource, instance));
}

void TracingService::StartInstance(SourceInstance& instance) {
  instance.state = instance.notifies_start ? InstanceState::kStarting : InstanceState::kStarted;
  if (ProducerPort* const producer = FindProducer(instance.producer))
    producer->SendCommand(CommandWith(proto::GetAsyncCommandResponse::kStartDataSource, instance));
}

void TracingService::StartTracing(TracingSession& session) {
  if (session.state != SessionState::kConfigured) return;
  session.state = SessionState::kStarted;
  session.initial_clocks = TakeClockSnapshot();
  AddEvent(session, proto::TracingServiceEvent::kTracingStarted);
  session.stats_due = true;
  ArmSnapshots(session);
  const uint64_t id = session.id;
  if (session.config.duration_ms > 0) {
    session.duration_timer = loop_.CallAfter(std::chrono::milliseconds(session.config.duration_ms),
                                             [this, id] { OnDurationEnd(*sessions_.at(id)); });
  }
  if (session.file.valid()) ArmFileWrite(session);
  if (const uint64_t period = FlushPeriodMs(session); period > 0) ArmPeriodicFlush(session, period);
  ArmStateClear(session);
  for (SourceInstance& instance : session.instances) StartInstance(instance);
  CheckAllStarted(session);
}

void TracingService::CheckAllStarted(TracingSession& session) {
  if (session.all_started || session.state != SessionState::kStarted) return;
  const auto started = [](const SourceInstance& one) {
    return one.state == InstanceState::kStarted;
  };
  if (!std::ranges::all_of(session.instances, started)) return;
  session.all_started = true;
  AddEvent(session, proto::TracingServiceEvent::kAllDataSourcesStarted, true);
  if (session.consumer != nullptr) session.consumer->OnAllStarted();
}

void TracingService::OnDurationEnd(TracingSession& session) {
  if (session.config.triggers.mode == kTriggerModeStop && session.triggered) return;
  Flush(session, 0, kFinalFlushFlags, [this, id = session.id](bool ok) {
    TracingSession* const ended = FindSession(id);
    if (ended == nullptr) return;
    ended->final_flush_outcome = ok ? 1 : 2;
    DisableTracing(*ended);
  });
}

void TracingService::StopInstance(SourceInstance& instance) {
  const bool waits = instance.notifies_stop && instance.state != InstanceState::kConfigured;
  instance.state = waits ? InstanceState::kStopping : InstanceState::kStopped;
  if (ProducerPort* const producer = FindProducer(instance.producer))
    producer->SendCommand({.stop = ipc::NotifyDataSource{instance.id}});
}

void TracingService::DisableTracing(TracingSession& session) {
  if (session.state != SessionState::kConfigured && session.state != SessionState::kStarted) return;
  const bool was_started = session.state == SessionState::kStarted;
  session.snapshot_timer = {};
  for (SourceInstance& instance : session.instances) StopInstance(instance);
  session.state = SessionState::kStopping;
  if (!was_started) return EndTracing(session);
  session.stop_timer = loop_.CallAfter(
      std::chrono::milliseconds(
          session.config.stop_timeout_ms == 0 ? kStopTimeoutMs : session.config.stop_timeout_ms),
      [this, id = session.id] { EndTracing(*sessions_.at(id)); });
  CheckAllStopped(session);
}

void TracingService::CheckAllStopped(TracingSession& session) {
  const auto stopped = [](const SourceInstance& one) {
    return one.state == InstanceState::kStopped;
  };
  if (std::ranges::all_of(session.instances, stopped)) EndTracing(session);
}

void TracingService::EndTracing(TracingSession& session) {
  for (SourceInstance& instance : session.instances) instance.state = InstanceState::kStopped;
  session.state = SessionState::kDisabled;
  session.stop_timer = {};
  session.duration_timer = {};
  session.flush_timer = {};
  session.state_timer = {};
  for (const auto& [id, producer] : producers_) Scrape(*producer, session);
  AddEvent(session, proto::TracingServiceEvent::kTracingDisabled, true);
  if (session.file.valid()) {
    session.file_timer = {};
    session.stats_due = true;
    ReadIntoFile(session);
    session.file.Reset();
  }
  if (session.consumer != nullptr) session.consumer->OnTracingDisabled(session);
}

void TracingService::FreeBuffers(TracingSession& session) {
  if (session.state == SessionState::kStarted || session.state == SessionState::kConfigured) {
    for (SourceInstance& instance : session.instances) StopInstance(instance);
    EndTracing(session);
  } else if (session.state == SessionState::kStopping) {
    EndTracing(session);
  }
  if (session.consumer != nullptr) session.consumer->OnTracingDisabled(session);
  chunks_discarded_ += session.store.stats().chunks_discarded;
  patches_discarded_ += session.store.stats().patches_discarded;
  for (const BufferId id : session.buffers) owners_.erase(id);
  const std::unique_ptr<TracingSession> freed = std::move(sessions_.extract(session.id).mapped());
  for (auto& [flush, pending] : freed->flushes) pending.done(false);
}

auto TracingService::CallAtMultiple(uint64_t period_ms, std::function<void()> call) -> Timer {
  using std::chrono::milliseconds;
  // The steady clock is CLOCK_MONOTONIC.
  const auto now = EventLoop::Clock::now();
  const auto now_ms = static_cast<uint64_t>(
      std::chrono::duration_cast<milliseconds>(now.time_since_epoch()).count());
  return loop_.CallAt(now + milliseconds(period_ms - now_ms % period_ms), std::move(call));
}

void TracingService::ArmSnapshots(TracingSession& session) {
  session.snapshot_timer = CallAtMultiple(kSnapshotPeriodMs, [this, id = session.id] {
    TracingSession& due = *sessions_.at(id);
    due.stats_due = true;
    due.clocks.push_back(TakeClockSnapshot());
    ArmSnapshots(due);
  });
}

void TracingService::ArmStateClear(TracingSession& session) {
  const Bytes config =
      wire::BytesIn(wire::AsBytes(session.raw_config), proto::TraceConfig::kIncrementalStateConfig);
  uint64_t period = 0;
  wire::FieldReader fields(config);
  while (const auto field = fields.Next())
    if (field->number == proto::TraceConfig::IncrementalStateConfig::kClearPeriodMs)
      period = field->value;
  if (period == 0) return;
  session.state_timer = CallAtMultiple(period, [this, id = session.id] {
    TracingSession& due = *sessions_.at(id);
    if (due.state != SessionState::kStarted) return;
    std::map<ProducerId, ipc::ClearIncrementalState> commands;
    for (const SourceInstance& instance : due.instances)
      if (instance.clears_state) commands[instance.producer].instances.push_back(instance.id);
    for (auto& [producer, command] : commands)
      if (ProducerPort* const port = FindProducer(producer))
        port->SendCommand({.clear_state = command});
    ArmStateClear(due);
  });
}

void TracingService::AddEvent(TracingSession& session, uint32_t field, bool with_clocks,
                              uint64_t value) {
  if (with_clocks) session.clocks.push_back(TakeClockSnapshot());
  std::string event;
  wire::AppendUint(event, field, value);
  session.events.push_back({.time_ns = BootTimeNs(), .content = std::move(event)});
}

}  // namespace ringscope::testing
