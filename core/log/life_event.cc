#include "core/log/life_event.h"

namespace ringscope {
namespace {

std::string Cut(const std::string& text) { return text.substr(0, LifeEvent::kMaxText); }

void Put(LifeEvent& event, const SessionStarted& started) {
  event.session = started.session;
  event.name = Cut(started.name);
}
void Put(LifeEvent& event, const SessionEnded& ended) { event.session = ended.session; }
void Put(LifeEvent& event, const SessionChanged& changed) {
  event.session = changed.session;
  event.change = changed.change;
  event.detail = Cut(changed.detail);
}
void Put(LifeEvent& event, const TraceConfigRecord& config) {
  event.session = config.session;
  event.detail = config.config;
}
void Put(LifeEvent& event, const BufferSetUp& buffer) {
  event.session = buffer.session;
  event.buffer = buffer.id;
  event.size = buffer.size;
  event.detail = Name(buffer.policy);
}
void Put(LifeEvent& event, const BufferFreed& buffer) { event.buffer = buffer.id; }
void Put(LifeEvent& event, const ProducerConnected& producer) {
  event.producer = producer.producer;
  event.name = Cut(producer.name);
}
void Put(LifeEvent& event, const ProducerDisconnected& gone) { event.producer = gone.producer; }
void Put(LifeEvent& event, const DataSourceRegistered& source) {
  event.producer = source.producer;
  event.name = Cut(source.name);
  event.flag = source.no_flush;
}
void Put(LifeEvent& event, const DataSourceUnregistered& source) {
  event.producer = source.producer;
  event.name = Cut(source.name);
}
void Put(LifeEvent& event, const DataSourceSetUp& source) {
  event.session = source.session;
  event.producer = source.producer;
  event.instance = source.instance;
  event.name = Cut(source.name);
  event.buffer = source.target_buffer;
}
void Put(LifeEvent& event, const DataSourceStarted& source) {
  event.producer = source.producer;
  event.instance = source.instance;
}
void Put(LifeEvent& event, const DataSourceStopped& source) {
  event.producer = source.producer;
  event.instance = source.instance;
}
void Put(LifeEvent& event, const DataSourceNotified& source) {
  event.producer = source.producer;
  event.instance = source.instance;
  event.flag = source.stopped;
}
void Put(LifeEvent& event, const StateClearRequested& clear) {
  event.producer = clear.producer;
  event.instances = clear.instances;
}
void Put(LifeEvent& event, const TriggerActivated& trigger) {
  event.producer = trigger.producer;
  event.name = Cut(trigger.name);
}
void Put(LifeEvent& event, const FlushRequested& flush) {
  event.producer = flush.producer;
  event.flush = flush.flush;
  event.instances = flush.instances;
  event.flags = flush.flags;
}
void Put(LifeEvent& event, const FlushAcknowledged& flush) {
  event.producer = flush.producer;
  event.flush = flush.flush;
}
void Put(LifeEvent& event, const FlushTimedOut& flush) { event.flush = flush.flush; }
void Put(LifeEvent& event, const CloneRequested& clone) {
  event.clone = clone.clone;
  event.session = clone.session;
}
void Put(LifeEvent& event, const BufferCloned& clone) {
  event.clone = clone.clone;
  event.buffer = clone.buffer;
  event.flag = clone.transfer;
}
void Put(LifeEvent& event, const BufferCleared& cleared) { event.buffer = cleared.buffer; }
void Put(LifeEvent& event, const CloneEnded& clone) {
  event.clone = clone.clone;
  event.session = clone.session;
  event.flag = clone.success;
  event.detail = Cut(clone.error);
}
void Put(LifeEvent& event, const RecorderGap& gap) {
  event.producer = gap.producer;
  event.detail = Cut(gap.reason);
}

void Put(LifeEvent& event, const Inexact& mark) {
  event.session = mark.session;
  event.producer = mark.producer;
  event.name = Name(mark.reason);
  event.detail = Cut(mark.detail);
}
void Put(LifeEvent& event, const ServiceChanged& service) { event.flag = service.running; }

}  // namespace

std::optional<LifeEvent> LifeEventOf(const Op& op, uint64_t record) {
  return std::visit(
      [&](const auto& body) -> std::optional<LifeEvent> {
        LifeEvent event;
        if constexpr (requires { Put(event, body); }) {
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
