#include "formats/ipc/ipc_methods.h"

namespace ringscope::ipc {

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
