#ifndef RINGSCOPE_COMMANDS_TESTING_SERVICE_MESSAGES_H_
#define RINGSCOPE_COMMANDS_TESTING_SERVICE_MESSAGES_H_

#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "commands/testing/trace_config_message.h"

namespace ringscope::testing {

// Messages, and fields of messages, that only the service reads or writes.

struct ConfiguredTrigger {
  std::string name;
  uint64_t stop_delay_ms = 0;
};
struct TriggerList {
  std::vector<ConfiguredTrigger> triggers;
  uint64_t timeout_ms = 0;
};
struct BuiltinDataSources {
  bool disable_clock_snapshots = false;
  bool disable_trace_config = false;
  bool disable_service_events = false;
};
/// Config of the shared memory of one producer.
struct ProducerConfig {
  std::string name;
  uint64_t size_kb = 0;
  uint64_t page_size_kb = 0;
};
struct ServiceConfig : ipc::TraceConfig {
  uint64_t duration_ms = 0;
  std::vector<ProducerConfig> producers;
  uint64_t file_write_period_ms = 0;
  uint64_t max_file_size_bytes = 0;
  uint64_t flush_period_ms = 0;
  TriggerList trigger_list;
  BuiltinDataSources builtin;
  uint64_t stop_timeout_ms = 0;
  uint64_t write_flush_mode = 0;
};
inline constexpr uint64_t kTriggerModeStop = 2;
inline constexpr uint64_t kWriteFlushModeDisabled = 2;
inline constexpr uint64_t kWriteFlushModeEnabled = 3;

struct CloneCall : ipc::CloneSession {
  bool for_bugreport = false;
  std::string trigger_name;
  std::string trigger_producer;
  uint64_t trigger_producer_uid = 0;
  uint64_t trigger_boot_time_ns = 0;
  uint64_t trigger_delay_ms = 0;
};
struct ServiceCloneReply : ipc::CloneSessionReply {
  uint64_t uuid_msb = 0;
  uint64_t uuid_lsb = 0;
};

struct ReceivedTrigger {
  uint64_t boot_time_ns = 0;
  std::string name;
  std::string producer;
  uint64_t uid = 0;
  uint64_t stop_delay_ms = 0;
};
struct CloneTriggerHit {
  uint64_t session = 0;
  ReceivedTrigger trigger;
};

template <typename Base>
void BaseFields(auto& field, auto& m) {
  using Self = std::remove_reference_t<decltype(m)>;
  Fields(field, static_cast<std::conditional_t<std::is_const_v<Self>, const Base, Base>&>(m));
}
void Fields(auto& field, Like<ConfiguredTrigger> auto& m) {
  field(proto::TraceConfig::TriggerConfig::Trigger::kName, m.name);
  field(3, m.stop_delay_ms);
}
void Fields(auto& field, Like<TriggerList> auto& m) {
  field(proto::TraceConfig::TriggerConfig::kTriggers, m.triggers);
  field(3, m.timeout_ms);
}
void Fields(auto& field, Like<BuiltinDataSources> auto& m) {
  field(1, m.disable_clock_snapshots);
  field(2, m.disable_trace_config);
  field(4, m.disable_service_events);
}
void Fields(auto& field, Like<ProducerConfig> auto& m) {
  field(1, m.name);
  field(2, m.size_kb);
  field(3, m.page_size_kb);
}
void Fields(auto& field, Like<ServiceConfig> auto& m) {
  BaseFields<ipc::TraceConfig>(field, m);
  field(proto::TraceConfig::kDurationMs, m.duration_ms);
  field(6, m.producers);
  field(proto::TraceConfig::kFileWritePeriodMs, m.file_write_period_ms);
  field(proto::TraceConfig::kMaxFileSizeBytes, m.max_file_size_bytes);
  field(proto::TraceConfig::kFlushPeriodMs, m.flush_period_ms);
  field(proto::TraceConfig::kTriggerConfig, m.trigger_list);
  field(20, m.builtin);
  field(23, m.stop_timeout_ms);
  field(proto::TraceConfig::kWriteFlushMode, m.write_flush_mode);
}
void Fields(auto& field, Like<CloneCall> auto& m) {
  using Request = proto::CloneSessionRequest;
  BaseFields<ipc::CloneSession>(field, m);
  field(3, m.for_bugreport);
  field(Request::kCloneTriggerName, m.trigger_name);
  field(Request::kCloneTriggerProducerName, m.trigger_producer);
  field(Request::kCloneTriggerTrustedProducerUid, m.trigger_producer_uid);
  field(Request::kCloneTriggerBootTimeNs, m.trigger_boot_time_ns);
  field(Request::kCloneTriggerDelayMs, m.trigger_delay_ms);
}
void Fields(auto& field, Like<ServiceCloneReply> auto& m) {
  BaseFields<ipc::CloneSessionReply>(field, m);
  field(3, m.uuid_msb);
  field(4, m.uuid_lsb);
}
/// ObservableEvents.CloneTriggerHit
void Fields(auto& field, Like<CloneTriggerHit> auto& m) {
  field(1, m.session);
  field(2, m.trigger.name);
  field(3, m.trigger.producer);
  field(4, m.trigger.uid);
  field(5, m.trigger.boot_time_ns);
  field(6, m.trigger.stop_delay_ms);
}
/// The packet field `trigger`; its time is the packet's.
void Fields(auto& field, Like<ReceivedTrigger> auto& m) {
  field(1, m.name);
  field(2, m.producer);
  field(3, m.uid);
  field(4, m.stop_delay_ms);
}

}  // namespace ringscope::testing

#endif  // RINGSCOPE_COMMANDS_TESTING_SERVICE_MESSAGES_H_
