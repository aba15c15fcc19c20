#ifndef RINGSCOPE_FORMATS_IPC_IPC_MESSAGES_H_
#define RINGSCOPE_FORMATS_IPC_IPC_MESSAGES_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/perfetto/fields.h"
#include "formats/ipc/ipc_frame.h"
#include "formats/proto/message_codec.h"

namespace ringscope::ipc {

// The messages of ProducerPort and ConsumerPort, as much of them as a recorder reads. Each struct
// has what is read; DecodeMessage skips the rest. CommitDataRequest is in
// core/perfetto/commit_request.h.

/// A port's methods that a recorder knows. The ids are the service's; they are matched by name.
enum class MethodName : uint8_t {
  kUnknown,
  // ProducerPort
  kInitializeConnection,
  kRegisterDataSource,
  kUnregisterDataSource,
  kUpdateDataSource,
  kCommitData,
  kGetAsyncCommand,
  kRegisterTraceWriter,
  kUnregisterTraceWriter,
  kNotifyDataSourceStopped,
  kSync,
  // ConsumerPort
  kEnableTracing,
  kDisableTracing,
  kReadBuffers,
  kFreeBuffers,
  kFlush,
  kCloneSession,
  kDetach,
};

/// What a service answered to a bind: its methods' ids.
class MethodTable {
 public:
  void Learn(const BindServiceReply& reply);
  /// kUnknown before the service has answered, too.
  MethodName Find(const InvokeMethod& invoke) const;
  /// nullopt: this service does not have it.
  std::optional<uint64_t> IdOf(MethodName name) const;
  uint64_t service() const { return service_; }

 private:
  uint64_t service_ = 0;
  std::map<uint64_t, MethodName> names_;
};

struct InitializeConnection {
  uint64_t page_size_hint = 0;  // bytes
  std::string producer_name;
  uint64_t scraping_mode = 0;  // 0 unspecified, 1 enabled, 2 disabled
  bool provides_shared_memory = false;
  std::string sdk_version;
};
inline constexpr uint64_t kScrapingEnabled = 1;
inline constexpr uint64_t kScrapingDisabled = 2;

struct InitializeConnectionReply {
  bool uses_provided_shared_memory = false;
  bool use_emulation = false;  // chunks travel inside the requests
};

struct DataSourceDescriptor {
  std::string name;
  bool no_flush = false;
};
struct RegisterDataSource {
  DataSourceDescriptor descriptor;
};
struct UnregisterDataSource {
  std::string name;
};
struct RegisterTraceWriter {
  uint64_t writer = 0;
  uint64_t target_buffer = 0;
};
struct UnregisterTraceWriter {
  uint64_t writer = 0;
};

struct DataSourceConfig {
  std::string name;
  uint64_t target_buffer = 0;  // towards a producer: the service-wide id; in a TraceConfig: index
};
struct DataSourceInstance {
  uint64_t instance = 0;
  DataSourceConfig config;
};
struct SetupTracing {
  uint64_t page_size_kb = 0;
};
struct StopDataSource {
  uint64_t instance = 0;
};
struct FlushCommand {
  uint64_t request_id = 0;
};
/// A reply of GetAsyncCommand: one of these, or a command that is not read.
struct AsyncCommand {
  std::optional<DataSourceInstance> start;
  std::optional<StopDataSource> stop;
  std::optional<SetupTracing> setup_tracing;
  std::optional<FlushCommand> flush;
  std::optional<DataSourceInstance> set_up;
};

struct BufferConfig {
  uint64_t size_kb = 0;
  uint64_t fill_policy = 0;        // 2: discard
  uint64_t experimental_mode = 0;  // 1: V2
};
struct ConfiguredDataSource {
  DataSourceConfig config;
};
struct TraceConfig {
  std::vector<BufferConfig> buffers;
  std::vector<ConfiguredDataSource> data_sources;
};
inline constexpr uint64_t kFillPolicyDiscard = 2;
inline constexpr uint64_t kExperimentalModeV2 = 1;
inline constexpr uint64_t kExperimentalModeShadow = 2;  // of v54 to v57

/// The raw TraceConfig of an EnableTracing request; empty if it has none.
Bytes TraceConfigOf(Bytes enable_tracing);

/// A recorder passes on what it does not understand, so numbers must fit nowhere but in 64 bits.
void Fields(auto& field, Like<InitializeConnection> auto& m) {
  field(1, m.page_size_hint);
  field(3, m.producer_name);
  field(proto::InitializeConnectionRequest::kSmbScrapingMode, m.scraping_mode);
  field(6, m.provides_shared_memory);
  field(8, m.sdk_version);
}
void Fields(auto& field, Like<InitializeConnectionReply> auto& m) {
  field(1, m.uses_provided_shared_memory);
  field(3, m.use_emulation);
}
void Fields(auto& field, Like<DataSourceDescriptor> auto& m) {
  field(1, m.name);
  field(9, m.no_flush);
}
void Fields(auto& field, Like<RegisterDataSource> auto& m) { field(1, m.descriptor); }
void Fields(auto& field, Like<UnregisterDataSource> auto& m) { field(1, m.name); }
void Fields(auto& field, Like<RegisterTraceWriter> auto& m) {
  field(1, m.writer);
  field(2, m.target_buffer);
}
void Fields(auto& field, Like<UnregisterTraceWriter> auto& m) { field(1, m.writer); }
void Fields(auto& field, Like<DataSourceConfig> auto& m) {
  field(proto::DataSourceConfig::kName, m.name);
  field(proto::DataSourceConfig::kTargetBuffer, m.target_buffer);
}
void Fields(auto& field, Like<DataSourceInstance> auto& m) {
  field(1, m.instance);
  field(2, m.config);
}
void Fields(auto& field, Like<SetupTracing> auto& m) { field(1, m.page_size_kb); }
void Fields(auto& field, Like<StopDataSource> auto& m) { field(1, m.instance); }
void Fields(auto& field, Like<FlushCommand> auto& m) { field(2, m.request_id); }
void Fields(auto& field, Like<AsyncCommand> auto& m) {
  field(1, m.start);
  field(2, m.stop);
  field(3, m.setup_tracing);
  field(5, m.flush);
  field(6, m.set_up);
}
void Fields(auto& field, Like<BufferConfig> auto& m) {
  field(proto::BufferConfig::kSizeKb, m.size_kb);
  field(proto::BufferConfig::kFillPolicy, m.fill_policy);
  field(proto::BufferConfig::kExperimentalMode, m.experimental_mode);
}
void Fields(auto& field, Like<ConfiguredDataSource> auto& m) {
  field(proto::DataSource::kConfig, m.config);
}
void Fields(auto& field, Like<TraceConfig> auto& m) {
  field(proto::TraceConfig::kBuffers, m.buffers);
  field(proto::TraceConfig::kDataSources, m.data_sources);
}

}  // namespace ringscope::ipc

#endif  // RINGSCOPE_FORMATS_IPC_IPC_MESSAGES_H_
