// Clones of sessions, and triggers.

#include <unistd.h>

#include <algorithm>
#include <random>
#include <span>
#include <utility>

#include "commands/record/tap.h"
#include "commands/testing/tracing_service.h"
#include "core/perfetto/fields.h"
#include "formats/io/byte_stream.h"

namespace ringscope::testing {
namespace {

constexpr uint64_t kCloneFlushFlags = 3 | 1 << 4;  // trace clone, by the service
constexpr uint64_t kTriggerFlushFlags = 2 | 1 << 4;
constexpr uint64_t kForBugreport = 1 << 8;
constexpr size_t kGroups = 2;  // data sources by transfer_on_clone of their buffers

}  // namespace

/// A clone on its way.
struct TracingService::Clone {
  uint64_t source = 0;
  ConsumerPort* consumer = nullptr;
  CloneRequest request;
  std::function<void(CloneReply)> done;
  uint64_t started_ns = 0;
  std::map<BufferId, std::shared_ptr<Engine>> buffers;  // by the source's ids
  std::map<BufferId, std::vector<ProtoVmSetUp>> programs;
  std::vector<WaitingPacket> events;
  size_t groups_done = 0;
  bool any_failed = false;
};

namespace {

/// Appends what the service has written so far.
void CopyFile(const UniqueFd& from, const UniqueFd& to) {
  std::string content(static_cast<size_t>(std::max<off_t>(::lseek(from.get(), 0, SEEK_END), 0)), 0);
  const std::span<uint8_t> bytes(reinterpret_cast<uint8_t*>(content.data()), content.size());
  content.resize(ReadAllAt(from.get(), 0, bytes).value_or(0));
  static_cast<void>(WriteAll(to.get(), wire::AsBytes(content)));
}

}  // namespace

void TracingService::CloneSession(ConsumerPort& consumer, CloneRequest request,
                                  std::function<void(CloneReply)> done) {
  TracingSession* source = nullptr;
  for (const auto& [id, session] : sessions_) {
    const bool named = !request.unique_session_name.empty() &&
                       session->state != TracingSession::State::kCloned &&
                       session->config.unique_session_name == request.unique_session_name;
    if (named || (request.unique_session_name.empty() && id == request.session_id))
      source = session.get();
  }
  if (source == nullptr) return done({.error = "The tracing session to clone does not exist"});
  if (SessionOf(consumer) != nullptr)
    return done({.error = "The consumer has a tracing session already"});
  if (source->file.valid() && !request.file.valid())
    return done({.error = "A clone of a session with a file needs one"});
  if (source->file.valid()) CopyFile(source->file, request.file);
  for (const BufferId id : source->buffers)
    if (source->ConfigOf(id).clear_before_clone && source->store.HoldsData(id))
      source->store.Clear(id);
  const auto clone = std::make_shared<Clone>();
  clone->source = source->id;
  clone->consumer = &consumer;
  clone->request = std::move(request);
  clone->done = std::move(done);
  clone->started_ns = BootTimeNs();
  const uint64_t flags =
      kCloneFlushFlags | (clone->request.for_bugreport ? kForBugreport : uint64_t{0});
  for (const bool transfer : {true, false}) {
    const auto in_group = [source, transfer](const SourceInstance& instance) {
      return source->ConfigOf(instance.buffer).transfer_on_clone == transfer;
    };
    FlushInstances(*source, 0, flags, in_group, [this, clone, transfer](bool ok) {
      clone->any_failed |= !ok;
      CloneGroup(clone, transfer);
    });
  }
}

void TracingService::CloneGroup(const std::shared_ptr<Clone>& clone, bool transfer) {
  if (FindSession(clone->source) == nullptr) {
    if (clone->groups_done++ == 0 && consumers_.contains(clone->consumer))
      clone->done({.error = "The tracing session to clone has ended"});
    return;
  }
  TracingSession& source = *sessions_.at(clone->source);
  for (size_t i = 0; i < source.buffers.size(); ++i) {
    const BufferId id = source.buffers[i];
    if (source.ConfigOf(id).transfer_on_clone != transfer) continue;
    clone->programs[id] = source.store.Programs(id);
    auto content = transfer ? source.store.Take(id) : source.store.Copy(id);
    if (content) clone->buffers[id] = std::move(*content);
    std::string event;
    wire::AppendUint(event, proto::TracingServiceEvent::kBufferCloned, i);
    clone->events.push_back({.time_ns = BootTimeNs(), .content = std::move(event)});
  }
  if (++clone->groups_done == kGroups) FinishClone(clone);
}

void TracingService::FinishClone(const std::shared_ptr<Clone>& clone) {
  if (!consumers_.contains(clone->consumer)) return;
  TracingSession& source = *sessions_.at(clone->source);
  const uint64_t id = ++last_session_;
  auto made = std::make_unique<TracingSession>();
  TracingSession& session = *made;
  session.id = id;
  session.state = TracingSession::State::kCloned;
  session.config = source.config;
  session.raw_config = source.raw_config;
  std::random_device random;
  session.uuid_msb = uint64_t{random()} << 32 | random();
  session.uuid_lsb = source.uuid_lsb;
  for (size_t i = 0; i < source.buffers.size(); ++i) {
    const ipc::BufferConfig& buffer = source.config.buffers[i];
    const BufferId buffer_id = NextBufferId();
    const Status set_up = session.store.SetUp({.id = buffer_id,
                                               .index = static_cast<uint32_t>(i),
                                               .size = buffer.size_kb * 1024,
                                               .policy = ipc::FillPolicyOf(buffer),
                                               .engine = ipc::EngineOf(buffer),
                                               .content = clone->buffers[source.buffers[i]],
                                               .programs = clone->programs[source.buffers[i]]});
    if (!set_up) return clone->done({.error = set_up.error().message});
    session.buffers.push_back(buffer_id);
    owners_[buffer_id] = id;
  }
  session.triggers = std::exchange(source.triggers, {});
  source.triggers_written = 0;
  session.initial_clocks = source.initial_clocks;
  session.clocks = source.clocks;
  session.events = source.events;
  session.invalid_packets_before =
      source.store.stats().invalid_packets + source.invalid_packets_before;
  session.flushes_requested = source.flushes_requested;
  session.flushes_succeeded = source.flushes_succeeded;
  session.flushes_failed = source.flushes_failed;
  session.final_flush_outcome = clone->any_failed ? 2 : 1;
  session.clone_trigger = clone->request.trigger;
  std::string started;
  wire::AppendUint(started, proto::TracingServiceEvent::kCloneStarted, 1);
  session.events.push_back({.time_ns = clone->started_ns, .content = std::move(started)});
  for (WaitingPacket& event : clone->events) session.events.push_back(std::move(event));
  AddEvent(session, proto::TracingServiceEvent::kTracingDisabled, true);
  session.stats_due = true;
  session.consumer = clone->consumer;
  CloneReply reply{.uuid_msb = session.uuid_msb,
                   .uuid_lsb = session.uuid_lsb,
                   .was_write_into_file = clone->request.file.valid()};
  session.file = std::move(clone->request.file);
  static_cast<void>(ReadIntoFile(session));
  session.file.Reset();
  sessions_.emplace(id, std::move(made));
  clone->done(reply);
}

void TracingService::OnTrigger(ProducerPort& producer, const std::string& name) {
  for (const auto& [id, session] : sessions_) {
    const bool starts = session->config.triggers.mode == ipc::kTriggerModeStart;
    if (session->state != TracingSession::State::kStarted &&
        !(starts && session->state == TracingSession::State::kConfigured))
      continue;
    for (const ConfiguredTrigger& trigger : session->config.trigger_list.triggers) {
      if (trigger.name != name) continue;
      const ReceivedTrigger received{.boot_time_ns = BootTimeNs(),
                                     .name = name,
                                     .producer = producer.name(),
                                     .uid = producer.peer().uid,
                                     .stop_delay_ms = trigger.stop_delay_ms};
      session->clocks.push_back(TakeClockSnapshot());
      session->triggers.push_back(received);
      const bool first = !std::exchange(session->triggered, true);
      const auto delay = std::chrono::milliseconds(trigger.stop_delay_ms);
      if (starts && first) {
        session->config.duration_ms = trigger.stop_delay_ms;
        StartTracing(*session);
      } else if (session->config.triggers.mode == kTriggerModeStop && first) {
        session->stop_timer = loop_.CallAfter(delay, [this, id = id] {
          Flush(*sessions_.at(id), 0, kTriggerFlushFlags, [this, id](bool ok) {
            TracingSession* const ended = FindSession(id);
            if (ended == nullptr) return;
            ended->final_flush_outcome = ok ? 1 : 2;
            DisableTracing(*ended);
          });
        });
      } else if (session->config.triggers.mode == ipc::kTriggerModeClone &&
                 session->consumer != nullptr) {
        session->clone_hit_timer = loop_.CallAfter(delay, [this, id = id, received] {
          if (ConsumerPort* const consumer = sessions_.at(id)->consumer)
            consumer->OnCloneTrigger({.session = id, .trigger = received});
        });
      }
    }
  }
}

}  // namespace ringscope::testing
