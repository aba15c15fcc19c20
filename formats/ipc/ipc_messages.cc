#include "formats/ipc/ipc_messages.h"

namespace ringscope::ipc {
Bytes FieldBytes(Bytes message, uint32_t number) {
  return wire::LastBytes(message, number).value_or(Bytes());
}

Bytes TraceConfigOf(Bytes enable_tracing) {
  return FieldBytes(enable_tracing, proto::EnableTracingRequest::kTraceConfig);
}

bool IsAttachNotification(Bytes enable_tracing) {
  constexpr uint32_t kAttachNotificationOnly = 2;
  return wire::LastVarint(enable_tracing, kAttachNotificationOnly).value_or(0) != 0;
}

Bytes DataSourceConfigOf(Bytes command) {
  using Command = proto::GetAsyncCommandResponse;
  const Bytes set_up = FieldBytes(command, Command::kSetupDataSource);
  return FieldBytes(set_up.empty() ? FieldBytes(command, Command::kStartDataSource) : set_up,
                    proto::GetAsyncCommandResponse::SetupDataSource::kConfig);
}

void MethodTable::Learn(const BindServiceReply& reply) {
  if (!reply.success) return;
  service_ = reply.service;
  for (const Method& method : reply.methods)
    if (const auto known = FromName<MethodName>(method.name)) names_[method.id] = *known;
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

}  // namespace ringscope::ipc
