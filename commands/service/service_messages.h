#ifndef RINGSCOPE_COMMANDS_SERVICE_SERVICE_MESSAGES_H_
#define RINGSCOPE_COMMANDS_SERVICE_SERVICE_MESSAGES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "core/perfetto/fields.h"
#include "formats/proto/message_codec.h"

namespace ringscope::demo {

// What the service reads of a trace config and of consumers' requests. They are its own structs:
// the recorder's, in formats/ipc, are what is compared with it.

struct BufferConfig {
  uint64_t size_kb = 0;
  uint64_t fill_policy = 0;  // 2: discard
  bool transfer_on_clone = false;
  bool clear_before_clone = false;
  std::string name;
  uint64_t experimental_mode = 0;  // 1: V2
};
inline constexpr uint64_t kDiscard = 2;
inline constexpr uint64_t kModeV2 = 1;

struct SourceTarget {
  std::string name;
  uint64_t target_buffer = 0;
  std::string target_buffer_name;
};
struct SourceConfig {
  SourceTarget config;
  std::vector<std::string> producer_names;  // empty: all
};
struct BuiltinConfig {
  bool disable_clock_snapshots = false;
  bool disable_trace_config = false;
  bool disable_service_events = false;
};
struct TriggerConfig {
  std::string name;
  uint64_t stop_delay_ms = 0;
};
struct TriggersConfig {
  uint64_t mode = 0;
  std::vector<TriggerConfig> triggers;
  uint64_t timeout_ms = 0;
};
inline constexpr uint64_t kStopTracing = 2;
inline constexpr uint64_t kCloneSnapshot = 4;

struct SessionConfig {
  std::vector<BufferConfig> buffers;
  std::vector<SourceConfig> sources;
  uint64_t duration_ms = 0;
  bool write_into_file = false;
  uint64_t file_write_period_ms = 0;
  uint64_t max_file_size_bytes = 0;
  bool deferred_start = false;
  uint64_t flush_period_ms = 0;
  uint64_t flush_timeout_ms = 0;
  TriggersConfig triggers;
  BuiltinConfig builtin;
  std::string unique_session_name;
  uint64_t stop_timeout_ms = 0;
  uint64_t write_flush_mode = 0;
};
inline constexpr uint64_t kFlushOnWriteDisabled = 2;
inline constexpr uint64_t kFlushOnWriteEnabled = 3;

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

void Fields(auto& field, Like<BufferConfig> auto& m) {
  field(1, m.size_kb);
  field(4, m.fill_policy);
  field(5, m.transfer_on_clone);
  field(6, m.clear_before_clone);
  field(7, m.name);
  field(8, m.experimental_mode);
}
void Fields(auto& field, Like<SourceTarget> auto& m) {
  field(1, m.name);
  field(2, m.target_buffer);
  field(11, m.target_buffer_name);
}
void Fields(auto& field, Like<SourceConfig> auto& m) {
  field(1, m.config);
  field(2, m.producer_names);
}
void Fields(auto& field, Like<BuiltinConfig> auto& m) {
  field(1, m.disable_clock_snapshots);
  field(2, m.disable_trace_config);
  field(4, m.disable_service_events);
}
void Fields(auto& field, Like<TriggerConfig> auto& m) {
  field(1, m.name);
  field(3, m.stop_delay_ms);
}
void Fields(auto& field, Like<TriggersConfig> auto& m) {
  field(1, m.mode);
  field(2, m.triggers);
  field(3, m.timeout_ms);
}
void Fields(auto& field, Like<SessionConfig> auto& m) {
  field(1, m.buffers);
  field(2, m.sources);
  field(3, m.duration_ms);
  field(8, m.write_into_file);
  field(9, m.file_write_period_ms);
  field(10, m.max_file_size_bytes);
  field(12, m.deferred_start);
  field(13, m.flush_period_ms);
  field(14, m.flush_timeout_ms);
  field(17, m.triggers);
  field(20, m.builtin);
  field(22, m.unique_session_name);
  field(23, m.stop_timeout_ms);
  field(44, m.write_flush_mode);
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

}  // namespace ringscope::demo

#endif  // RINGSCOPE_COMMANDS_SERVICE_SERVICE_MESSAGES_H_
