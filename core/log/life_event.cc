#include "core/log/life_event.h"

#include <tuple>

namespace ringscope {
namespace {

/// The kinds of records that are events.
using EventKinds =
    std::tuple<SessionStarted, SessionEnded, SessionChanged, TraceConfigRecord, BufferSetUp,
               BufferFreed, SharedMemorySetUp, ReadPass, ProducerConnected, ProducerDisconnected,
               DataSourceRegistered, DataSourceUnregistered, DataSourceSetUp, DataSourceStarted,
               DataSourceStopped, DataSourceNotified, StateClearRequested, TriggerActivated,
               FlushRequested, FlushAcknowledged, FlushTimedOut, CloneRequested, BufferCloned,
               BufferCleared, CloneEnded, RecorderGap, Inexact, ServiceChanged>;

template <typename Record>
constexpr bool kIsEvent = []<typename... Kind>(std::tuple<Kind...>*) {
  return (std::is_same_v<Record, Kind> || ...);
}(static_cast<EventKinds*>(nullptr));

std::string Cut(const std::string& text) { return text.substr(0, LifeEvent::kMaxText); }

/// Puts what the record has of an event's fields into one.
template <typename Record>
void Put(LifeEvent& event, const Record& record) {
  if constexpr (requires { record.session; }) event.session = record.session;
  if constexpr (requires { record.change; }) event.change = record.change;
  if constexpr (requires { record.producer; }) event.producer = record.producer;
  if constexpr (requires { record.instance; }) event.instance = record.instance;
  if constexpr (requires { record.instances; }) event.instances = record.instances;
  if constexpr (requires { record.buffer; }) event.buffer = record.buffer;
  if constexpr (requires { record.target_buffer; }) event.buffer = record.target_buffer;
  if constexpr (requires { record.id; }) event.buffer = record.id;
  if constexpr (requires { record.flush; }) event.flush = record.flush;
  if constexpr (requires { record.flags; }) event.flags = record.flags;
  if constexpr (requires { record.clone; }) event.clone = record.clone;
  if constexpr (requires { record.size; }) event.size = record.size;
  if constexpr (requires { record.name; }) event.name = Cut(record.name);
  if constexpr (requires { record.detail; }) event.detail = Cut(record.detail);
  if constexpr (requires { record.policy; }) event.detail = Name(record.policy);
  if constexpr (requires { record.error; }) event.detail = Cut(record.error);
  if constexpr (requires { record.no_flush; }) event.flag = record.no_flush;
  if constexpr (requires { record.stopped; }) event.flag = record.stopped;
  if constexpr (requires { record.transfer; }) event.flag = record.transfer;
  if constexpr (requires { record.success; }) event.flag = record.success;
  if constexpr (requires { record.running; }) event.flag = record.running;
  if constexpr (std::is_same_v<Record, TraceConfigRecord>) event.detail = record.config;
  if constexpr (std::is_same_v<Record, RecorderGap>) event.detail = Cut(record.reason);
  if constexpr (std::is_same_v<Record, Inexact>) event.name = Name(record.reason);
}

}  // namespace

std::optional<LifeEvent> LifeEventOf(const Op& op, uint64_t record) {
  return std::visit(
      [&](const auto& body) -> std::optional<LifeEvent> {
        if constexpr (kIsEvent<std::decay_t<decltype(body)>>) {
          LifeEvent event;
          event.time_ns = op.time_ns;
          event.record = record;
          event.kind = op.body.index();
          Put(event, body);
          return event;
        } else {
          return std::nullopt;
        }
      },
      op.body);
}

}  // namespace ringscope
