#include "formats/ipc/ipc_messages.h"

#include <algorithm>
#include <array>

#include "core/perfetto/fields.h"

namespace ringscope::ipc {
namespace {

struct KnownMethod {
  MethodName method;
  std::string_view name;
};

constexpr std::array<KnownMethod, 17> kKnownMethods = {{
    {MethodName::kInitializeConnection, "InitializeConnection"},
    {MethodName::kRegisterDataSource, "RegisterDataSource"},
    {MethodName::kUnregisterDataSource, "UnregisterDataSource"},
    {MethodName::kUpdateDataSource, "UpdateDataSource"},
    {MethodName::kCommitData, "CommitData"},
    {MethodName::kGetAsyncCommand, "GetAsyncCommand"},
    {MethodName::kRegisterTraceWriter, "RegisterTraceWriter"},
    {MethodName::kUnregisterTraceWriter, "UnregisterTraceWriter"},
    {MethodName::kNotifyDataSourceStopped, "NotifyDataSourceStopped"},
    {MethodName::kSync, "Sync"},
    {MethodName::kEnableTracing, "EnableTracing"},
    {MethodName::kDisableTracing, "DisableTracing"},
    {MethodName::kReadBuffers, "ReadBuffers"},
    {MethodName::kFreeBuffers, "FreeBuffers"},
    {MethodName::kFlush, "Flush"},
    {MethodName::kCloneSession, "CloneSession"},
    {MethodName::kDetach, "Detach"},
}};

}  // namespace

void MethodTable::Learn(const BindServiceReply& reply) {
  if (!reply.success) return;
  service_ = reply.service;
  for (const Method& method : reply.methods) {
    const auto known = std::find_if(kKnownMethods.begin(), kKnownMethods.end(),
                                    [&](const KnownMethod& k) { return k.name == method.name; });
    if (known != kKnownMethods.end()) names_[method.id] = known->method;
  }
}

MethodName MethodTable::Find(const InvokeMethod& invoke) const {
  if (invoke.service != service_) return MethodName::kUnknown;
  const auto found = names_.find(invoke.method);
  return found == names_.end() ? MethodName::kUnknown : found->second;
}

std::optional<uint64_t> MethodTable::IdOf(MethodName name) const {
  for (const auto& [id, known] : names_)
    if (known == name) return id;
  return std::nullopt;
}

Bytes TraceConfigOf(Bytes enable_tracing) {
  Bytes config;
  wire::FieldReader reader(enable_tracing);
  while (const auto field = reader.Next())
    if (field->number == proto::EnableTracingRequest::kTraceConfig &&
        field->type == wire::Type::kBytes)
      config = field->bytes;
  return config;
}

}  // namespace ringscope::ipc
