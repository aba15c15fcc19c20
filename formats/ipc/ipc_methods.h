#ifndef RINGSCOPE_FORMATS_IPC_IPC_METHODS_H_
#define RINGSCOPE_FORMATS_IPC_IPC_METHODS_H_

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string_view>

#include "formats/ipc/ipc_frame.h"

namespace ringscope::ipc {

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

struct PortMethod {
  MethodName method;
  std::string_view name;
};
inline constexpr std::array<PortMethod, 12> kProducerMethods = {{
    {MethodName::kInitializeConnection, "InitializeConnection"},
    {MethodName::kRegisterDataSource, "RegisterDataSource"},
    {MethodName::kUnregisterDataSource, "UnregisterDataSource"},
    {MethodName::kUpdateDataSource, "UpdateDataSource"},
    {MethodName::kCommitData, "CommitData"},
    {MethodName::kGetAsyncCommand, "GetAsyncCommand"},
    {MethodName::kRegisterTraceWriter, "RegisterTraceWriter"},
    {MethodName::kUnregisterTraceWriter, "UnregisterTraceWriter"},
    {MethodName::kNotifyDataSourceStarted, "NotifyDataSourceStarted"},
    {MethodName::kNotifyDataSourceStopped, "NotifyDataSourceStopped"},
    {MethodName::kActivateTriggers, "ActivateTriggers"},
    {MethodName::kSync, "Sync"},
}};
inline constexpr std::array<PortMethod, 13> kConsumerMethods = {{
    {MethodName::kEnableTracing, "EnableTracing"},
    {MethodName::kStartTracing, "StartTracing"},
    {MethodName::kDisableTracing, "DisableTracing"},
    {MethodName::kReadBuffers, "ReadBuffers"},
    {MethodName::kFreeBuffers, "FreeBuffers"},
    {MethodName::kFlush, "Flush"},
    {MethodName::kCloneSession, "CloneSession"},
    {MethodName::kDetach, "Detach"},
    {MethodName::kAttach, "Attach"},
    {MethodName::kObserveEvents, "ObserveEvents"},
    {MethodName::kQueryServiceState, "QueryServiceState"},
    {MethodName::kQueryCapabilities, "QueryCapabilities"},
    {MethodName::kGetTraceStats, "GetTraceStats"},
}};

/// Ids of a service's methods, as it answered to a bind.
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

}  // namespace ringscope::ipc

#endif  // RINGSCOPE_FORMATS_IPC_IPC_METHODS_H_
