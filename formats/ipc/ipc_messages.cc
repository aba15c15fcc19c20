#include "formats/ipc/ipc_messages.h"

#include <algorithm>
#include <array>

#include "core/perfetto/fields.h"

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

std::string OwnFieldsOf(Bytes data_source_config) {
  constexpr std::array<uint32_t, 8> kFilledIn = {2, 3, 4, 6, 7, 8, 11, 122};
  std::vector<std::string_view> fields;
  wire::FieldReader reader(data_source_config);
  while (const auto field = reader.Next())
    if (std::ranges::find(kFilledIn, field->number) == kFilledIn.end())
      fields.push_back(wire::AsText(field->whole));
  std::ranges::stable_sort(fields);
  std::string own;
  for (const std::string_view field : fields) own += field;
  return own;
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
  for (const Method& method : reply.methods) {
    const auto learn = [&](std::span<const PortMethod> known) {
      for (const auto& [id, name] : known)
        if (name == method.name) names_[method.id] = id;
    };
    learn(kProducerMethods);
    learn(kConsumerMethods);
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

}  // namespace ringscope::ipc
