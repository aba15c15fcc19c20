#ifndef RINGSCOPE_FORMATS_IPC_IPC_MESSAGES_H_
#define RINGSCOPE_FORMATS_IPC_IPC_MESSAGES_H_

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

/// The raw DataSourceConfig of a command that sets up or starts a data source.
/// @param command the reply of GetAsyncCommand
inline Bytes DataSourceConfigOf(Bytes command) {
  using Command = proto::GetAsyncCommandResponse;
  const Bytes set_up = wire::BytesIn(command, Command::kSetupDataSource);
  return wire::BytesIn(set_up.empty() ? wire::BytesIn(command, Command::kStartDataSource) : set_up,
                       Command::SetupDataSource::kConfig);
}

/// A recorder passes on what it does not understand, so numbers must fit nowhere but in 64 bits.
void Fields(auto& field, Like<InitializeConnection> auto& m) {
  NumberFields<1, 2, 3, 4, 6, 8>(field, m.page_size_hint, m.size_hint, m.producer_name,
                                 m.scraping_mode, m.provides_shared_memory, m.sdk_version);
}
void Fields(auto& field, Like<InitializeConnectionReply> auto& m) {
  NumberFields(field, m.uses_provided_shared_memory, m.direct_patching, m.use_emulation);
}
void Fields(auto& field, Like<DataSourceDescriptor> auto& m) {
  NumberFields<1, 2, 3, 4, 9, 10>(field, m.name, m.will_notify_on_stop, m.will_notify_on_start,
                                  m.handles_state_clear, m.no_flush, m.protovm_program);
}
void Fields(auto& field, Like<RegisterDataSource> auto& m) { NumberFields(field, m.descriptor); }
void Fields(auto& field, Like<UnregisterDataSource> auto& m) { NumberFields(field, m.name); }
void Fields(auto& field, Like<RegisterTraceWriter> auto& m) {
  NumberFields(field, m.writer, m.target_buffer);
}
void Fields(auto& field, Like<NotifyDataSource> auto& m) { NumberFields(field, m.instance); }
void Fields(auto& field, Like<ActivateTriggers> auto& m) { NumberFields(field, m.names); }
void Fields(auto& field, Like<DataSourceConfig> auto& m) {
  NumberFields<1, 2, 4, 11>(field, m.name, m.target_buffer, m.tracing_session_id,
                            m.target_buffer_name);
}
void Fields(auto& field, Like<DataSourceInstance> auto& m) {
  NumberFields(field, m.instance, m.config);
}
void Fields(auto& field, Like<SetupTracing> auto& m) { NumberFields(field, m.page_size_kb); }
void Fields(auto& field, Like<FlushCommand> auto& m) {
  NumberFields(field, m.instances, m.request_id, m.flags);
}
void Fields(auto& field, Like<ClearIncrementalState> auto& m) { NumberFields(field, m.instances); }
void Fields(auto& field, Like<AsyncCommand> auto& m) {
  NumberFields<1, 2, 3, 5, 6, 7>(field, m.start, m.stop, m.setup_tracing, m.flush, m.set_up,
                                 m.clear_state);
}
void Fields(auto& field, Like<EnableTracingReply> auto& m) {
  NumberFields<1, 3>(field, m.disabled, m.error);
}
void Fields(auto& field, Like<FlushCall> auto& m) { NumberFields(field, m.timeout_ms, m.flags); }
void Fields(auto& field, Like<ListedSession> auto& m) {
  NumberFields<1, 3, 4, 5>(field, m.id, m.state, m.unique_session_name, m.buffer_sizes_kb);
}
void Fields(auto& field, Like<ListedProducer> auto& m) { NumberFields(field, m.id, m.name, m.uid); }
void Fields(auto& field, Like<ListedDataSource> auto& m) {
  NumberFields(field, m.descriptor, m.producer_id);
}
void Fields(auto& field, Like<ServiceState> auto& m) {
  NumberFields<1, 2, 6>(field, m.producers, m.data_sources, m.sessions);
}
void Fields(auto& field, Like<QueryServiceStateReply> auto& m) { NumberFields(field, m.state); }
void Fields(auto& field, Like<SessionKey> auto& m) { NumberFields(field, m.key); }
void Fields(auto& field, Like<CloneSession> auto& m) {
  NumberFields<1, 4>(field, m.session_id, m.unique_session_name);
}
void Fields(auto& field, Like<CloneSessionReply> auto& m) {
  NumberFields<1, 2, 5>(field, m.success, m.error, m.was_write_into_file);
}
void Fields(auto& field, Like<ObservableEvents> auto& m) {
  NumberFields<2>(field, m.all_data_sources_started);
}
void Fields(auto& field, Like<ObserveEventsReply> auto& m) { NumberFields(field, m.events); }

}  // namespace ringscope::ipc

#endif  // RINGSCOPE_FORMATS_IPC_IPC_MESSAGES_H_
