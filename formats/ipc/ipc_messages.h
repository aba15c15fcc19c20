#ifndef RINGSCOPE_FORMATS_IPC_IPC_MESSAGES_H_
#define RINGSCOPE_FORMATS_IPC_IPC_MESSAGES_H_

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/base/enum_names.h"
#include "core/perfetto/fields.h"
#include "formats/io/message_codec.h"
#include "formats/ipc/ipc_frame.h"

namespace ringscope::ipc {

// The messages of ProducerPort and ConsumerPort, as much of them as a recorder reads. Each struct
// has what is read; DecodeMessage skips the rest. CommitDataRequest is in
// core/perfetto/commit_request.h.

struct InitializeConnection {
  uint64_t page_size_hint = 0;  // bytes
  uint64_t size_hint = 0;       // bytes of shared memory
  std::string producer_name;
  uint64_t scraping_mode = 0;  // 0 unspecified, 1 enabled, 2 disabled
  bool provides_shared_memory = false;
  std::string sdk_version;
};
inline constexpr uint64_t kScrapingEnabled = 1;
inline constexpr uint64_t kScrapingDisabled = 2;

struct InitializeConnectionReply {
  bool uses_provided_shared_memory = false;
  bool direct_patching = false;  // is supported
  bool use_emulation = false;    // chunks travel inside the requests
};

struct DataSourceDescriptor {
  std::string name;
  bool no_flush = false;
  bool will_notify_on_start = false;
  bool will_notify_on_stop = false;
  bool handles_state_clear = false;
  std::string protovm_program;  // a VmProgram message
};
struct RegisterDataSource {
  DataSourceDescriptor descriptor;
};
struct UnregisterDataSource {
  std::string name;
};
/// RegisterTraceWriter, and UnregisterTraceWriter, which has no buffer.
struct RegisterTraceWriter {
  uint64_t writer = 0;
  uint64_t target_buffer = 0;
};

/// NotifyDataSourceStarted and NotifyDataSourceStopped, and the command StopDataSource.
struct NotifyDataSource {
  uint64_t instance = 0;
};
struct ActivateTriggers {
  std::vector<std::string> names;
};

struct DataSourceConfig {
  std::string name;
  uint64_t target_buffer = 0;  // towards a producer: the service-wide id; in a TraceConfig: index
  uint64_t tracing_session_id = 0;  // towards a producer: the service's number of the session
  std::string target_buffer_name;   // in a TraceConfig, instead of the index
};
struct DataSourceInstance {
  uint64_t instance = 0;
  DataSourceConfig config;
};
struct SetupTracing {
  uint64_t page_size_kb = 0;
};
struct FlushCommand {
  uint64_t request_id = 0;
  std::vector<uint64_t> instances = {};
  uint64_t flags = 0;
};
struct ClearIncrementalState {
  std::vector<uint64_t> instances;
};
/// A reply of GetAsyncCommand: one of these, or a command that is not read.
struct AsyncCommand {
  std::optional<DataSourceInstance> start;
  std::optional<NotifyDataSource> stop;
  std::optional<SetupTracing> setup_tracing;
  std::optional<FlushCommand> flush;
  std::optional<DataSourceInstance> set_up;
  std::optional<ClearIncrementalState> clear_state;
};

/// Sent when the session ends, or at once if it is refused.
struct EnableTracingReply {
  bool disabled = false;
  std::string error;
};
struct FlushCall {
  uint64_t timeout_ms = 0;
  uint64_t flags = 0;
};
/// Detach and Attach.
struct SessionKey {
  std::string key;
};
inline constexpr uint64_t kAnySession = UINT64_MAX;  // the service chooses one
struct CloneSession {
  uint64_t session_id = 0;
  std::string unique_session_name;
};
struct CloneSessionReply {
  std::optional<bool> success;
  std::string error;
  bool was_write_into_file = false;
};
struct ObservableEvents {
  bool all_data_sources_started = false;
};
struct ObserveEventsReply {
  ObservableEvents events;
};

/// A session as the service lists it.
struct ListedSession {
  uint64_t id = 0;
  std::string state;
  std::string unique_session_name;
  std::vector<uint64_t> buffer_sizes_kb;
};
inline constexpr const char* kClonedState = "CLONED_READ_ONLY";
struct ListedProducer {
  uint64_t id = 0;
  std::string name;
  uint64_t uid = 0;
};
struct ListedDataSource {
  DataSourceDescriptor descriptor;
  uint64_t producer_id = 0;
};
struct ServiceState {
  std::vector<ListedProducer> producers;
  std::vector<ListedDataSource> data_sources;
  std::vector<ListedSession> sessions;
};
/// A list may come in several of these.
struct QueryServiceStateReply {
  ServiceState state;
};

/// The raw bytes of a message's field, as it occurs last; empty if it does not.
Bytes FieldBytes(Bytes message, uint32_t number);
/// The raw TraceConfig of an EnableTracing request; empty if it has none.
Bytes TraceConfigOf(Bytes enable_tracing);
/// Returns true if an EnableTracing request begins no session, but waits for the end of one that
/// the consumer has attached to.
bool IsAttachNotification(Bytes enable_tracing);
/// The raw DataSourceConfig of a command that sets up or starts a data source.
/// @param command the reply of GetAsyncCommand
Bytes DataSourceConfigOf(Bytes command);

/// A recorder passes on what it does not understand, so numbers must fit nowhere but in 64 bits.
void Fields(auto& field, Like<InitializeConnection> auto& m) {
  field(1, m.page_size_hint);
  field(2, m.size_hint);
  field(3, m.producer_name);
  field(proto::InitializeConnectionRequest::kSmbScrapingMode, m.scraping_mode);
  field(6, m.provides_shared_memory);
  field(8, m.sdk_version);
}
void Fields(auto& field, Like<InitializeConnectionReply> auto& m) {
  field(1, m.uses_provided_shared_memory);
  field(2, m.direct_patching);
  field(3, m.use_emulation);
}
void Fields(auto& field, Like<DataSourceDescriptor> auto& m) {
  field(1, m.name);
  field(2, m.will_notify_on_stop);
  field(3, m.will_notify_on_start);
  field(4, m.handles_state_clear);
  field(9, m.no_flush);
  field(10, m.protovm_program);
}
void Fields(auto& field, Like<RegisterDataSource> auto& m) { field(1, m.descriptor); }
void Fields(auto& field, Like<UnregisterDataSource> auto& m) { field(1, m.name); }
void Fields(auto& field, Like<RegisterTraceWriter> auto& m) {
  field(1, m.writer);
  field(2, m.target_buffer);
}
void Fields(auto& field, Like<NotifyDataSource> auto& m) { field(1, m.instance); }
void Fields(auto& field, Like<ActivateTriggers> auto& m) { field(1, m.names); }
void Fields(auto& field, Like<DataSourceConfig> auto& m) {
  field(proto::DataSourceConfig::kName, m.name);
  field(proto::DataSourceConfig::kTargetBuffer, m.target_buffer);
  field(proto::DataSourceConfig::kTracingSessionId, m.tracing_session_id);
  field(proto::DataSourceConfig::kTargetBufferName, m.target_buffer_name);
}
void Fields(auto& field, Like<DataSourceInstance> auto& m) {
  field(1, m.instance);
  field(2, m.config);
}
void Fields(auto& field, Like<SetupTracing> auto& m) { field(1, m.page_size_kb); }
void Fields(auto& field, Like<FlushCommand> auto& m) {
  field(1, m.instances);
  field(2, m.request_id);
  field(3, m.flags);
}
void Fields(auto& field, Like<ClearIncrementalState> auto& m) { field(1, m.instances); }
void Fields(auto& field, Like<AsyncCommand> auto& m) {
  field(1, m.start);
  field(2, m.stop);
  field(3, m.setup_tracing);
  field(5, m.flush);
  field(6, m.set_up);
  field(7, m.clear_state);
}
void Fields(auto& field, Like<EnableTracingReply> auto& m) {
  field(1, m.disabled);
  field(3, m.error);
}
void Fields(auto& field, Like<FlushCall> auto& m) {
  field(1, m.timeout_ms);
  field(2, m.flags);
}
void Fields(auto& field, Like<ListedSession> auto& m) {
  field(1, m.id);
  field(3, m.state);
  field(4, m.unique_session_name);
  field(5, m.buffer_sizes_kb);
}
void Fields(auto& field, Like<ListedProducer> auto& m) {
  field(1, m.id);
  field(2, m.name);
  field(3, m.uid);
}
void Fields(auto& field, Like<ListedDataSource> auto& m) {
  field(1, m.descriptor);
  field(2, m.producer_id);
}
void Fields(auto& field, Like<ServiceState> auto& m) {
  field(1, m.producers);
  field(2, m.data_sources);
  field(6, m.sessions);
}
void Fields(auto& field, Like<QueryServiceStateReply> auto& m) { field(1, m.state); }
void Fields(auto& field, Like<SessionKey> auto& m) { field(1, m.key); }
void Fields(auto& field, Like<CloneSession> auto& m) {
  field(1, m.session_id);
  field(4, m.unique_session_name);
}
void Fields(auto& field, Like<CloneSessionReply> auto& m) {
  field(1, m.success);
  field(2, m.error);
  field(5, m.was_write_into_file);
}
void Fields(auto& field, Like<ObservableEvents> auto& m) { field(2, m.all_data_sources_started); }
void Fields(auto& field, Like<ObserveEventsReply> auto& m) { field(1, m.events); }

/// The methods that a recorder knows. Their ids are the service's; they are matched by name.
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
  kNotifyDataSourceStarted,
  kNotifyDataSourceStopped,
  kActivateTriggers,
  kSync,
  // ConsumerPort
  kEnableTracing,
  kStartTracing,
  kDisableTracing,
  kReadBuffers,
  kFreeBuffers,
  kFlush,
  kCloneSession,
  kDetach,
  kAttach,
  kObserveEvents,
  kQueryServiceState,
  kQueryCapabilities,
  kGetTraceStats,
};

/// Ids of a service's methods, as it answered to a bind.
class MethodTable {
 public:
  void Learn(const BindServiceReply& reply);
  /// kUnknown before the service has answered, too.
  MethodName Find(const InvokeMethod& invoke) const;
  /// nullopt if this service does not have it.
  std::optional<uint64_t> IdOf(MethodName name) const;
  uint64_t service() const { return service_; }

 private:
  uint64_t service_ = 0;
  std::map<uint64_t, MethodName> names_;
};

}  // namespace ringscope::ipc

template <>
inline constexpr std::array ringscope::kEnumNames<ringscope::ipc::MethodName> = {
    "",
    "InitializeConnection",
    "RegisterDataSource",
    "UnregisterDataSource",
    "UpdateDataSource",
    "CommitData",
    "GetAsyncCommand",
    "RegisterTraceWriter",
    "UnregisterTraceWriter",
    "NotifyDataSourceStarted",
    "NotifyDataSourceStopped",
    "ActivateTriggers",
    "Sync",
    "EnableTracing",
    "StartTracing",
    "DisableTracing",
    "ReadBuffers",
    "FreeBuffers",
    "Flush",
    "CloneSession",
    "Detach",
    "Attach",
    "ObserveEvents",
    "QueryServiceState",
    "QueryCapabilities",
    "GetTraceStats"};

#endif  // RINGSCOPE_FORMATS_IPC_IPC_MESSAGES_H_
