#ifndef RINGSCOPE_COMMANDS_TESTING_TRACE_CONFIG_MESSAGE_H_
#define RINGSCOPE_COMMANDS_TESTING_TRACE_CONFIG_MESSAGE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "core/perfetto/chunk.h"
#include "formats/ipc/ipc_messages.h"

namespace ringscope::ipc {

// A trace config, as a consumer of the tests writes it and the fake service reads it.

struct BufferConfig {
  uint64_t size_kb = 0;
  uint64_t fill_policy = 0;        // 2: discard
  uint64_t experimental_mode = 0;  // 1: V2
  bool transfer_on_clone = false;
  bool clear_before_clone = false;
  std::string name;
};
struct TriggerConfig {
  uint64_t mode = 0;
};
struct ConfiguredDataSource {
  DataSourceConfig config;
  std::vector<std::string> producer_names;  // empty: all
};
struct TraceConfig {
  std::vector<BufferConfig> buffers;
  std::vector<ConfiguredDataSource> data_sources;
  bool write_into_file = false;
  bool deferred_start = false;
  uint64_t flush_timeout_ms = 0;
  TriggerConfig triggers;
  std::string unique_session_name;
  std::string output_path;
};
/// The index of the buffer that a data source of the config writes to, by its name or its index.
inline uint32_t TargetOf(const TraceConfig& config, const DataSourceConfig& source) {
  if (!source.target_buffer_name.empty()) {
    for (size_t i = 0; i < config.buffers.size(); ++i)
      if (config.buffers[i].name == source.target_buffer_name) return static_cast<uint32_t>(i);
  }
  return static_cast<uint32_t>(source.target_buffer);
}
inline constexpr uint64_t kFillPolicyDiscard = 2;
inline constexpr uint64_t kExperimentalModeV2 = 1;
inline FillPolicy FillPolicyOf(const BufferConfig& buffer) {
  return buffer.fill_policy == kFillPolicyDiscard ? FillPolicy::kDiscard : FillPolicy::kRingBuffer;
}
/// Of a service that uses V1 unless it is asked for another: "v1" or "v2". The mode 2 of v54 to v57
/// is V1, too: V2 in its shadow is only compared with it.
inline const char* EngineOf(const BufferConfig& buffer) {
  return buffer.experimental_mode == kExperimentalModeV2 ? "v2" : "v1";
}
inline constexpr uint64_t kTriggerModeStart = 1;
inline constexpr uint64_t kTriggerModeClone = 4;

void Fields(auto& field, Like<BufferConfig> auto& m) {
  field(proto::TraceConfig::BufferConfig::kSizeKb, m.size_kb);
  field(proto::TraceConfig::BufferConfig::kFillPolicy, m.fill_policy);
  field(proto::TraceConfig::BufferConfig::kTransferOnClone, m.transfer_on_clone);
  field(proto::TraceConfig::BufferConfig::kClearBeforeClone, m.clear_before_clone);
  field(proto::TraceConfig::BufferConfig::kName, m.name);
  field(proto::TraceConfig::BufferConfig::kExperimentalMode, m.experimental_mode);
}
void Fields(auto& field, Like<TriggerConfig> auto& m) {
  field(proto::TraceConfig::TriggerConfig::kTriggerMode, m.mode);
}
void Fields(auto& field, Like<ConfiguredDataSource> auto& m) {
  field(proto::TraceConfig::DataSource::kConfig, m.config);
  field(2, m.producer_names);
}
void Fields(auto& field, Like<TraceConfig> auto& m) {
  field(proto::TraceConfig::kBuffers, m.buffers);
  field(proto::TraceConfig::kDataSources, m.data_sources);
  field(proto::TraceConfig::kWriteIntoFile, m.write_into_file);
  field(proto::TraceConfig::kDeferredStart, m.deferred_start);
  field(proto::TraceConfig::kFlushTimeoutMs, m.flush_timeout_ms);
  field(proto::TraceConfig::kTriggerConfig, m.triggers);
  field(proto::TraceConfig::kUniqueSessionName, m.unique_session_name);
  field(proto::TraceConfig::kOutputPath, m.output_path);
}

}  // namespace ringscope::ipc

#endif  // RINGSCOPE_COMMANDS_TESTING_TRACE_CONFIG_MESSAGE_H_
