#ifndef RINGSCOPE_FORMATS_TESTING_IPC_FRAMES_H_
#define RINGSCOPE_FORMATS_TESTING_IPC_FRAMES_H_

#include <string>
#include <string_view>

#include "core/perfetto/fields.h"
#include "formats/ipc/ipc_frame.h"
#include "formats/ipc/ipc_messages.h"

namespace ringscope::ipc {

// Frames that only clients and services send, not a recorder.

inline void AppendInvokeReply(std::string& out, uint64_t request_id,
                              const InvokeMethodReply& reply) {
  std::string body;
  wire::AppendUint(body, proto::IPCFrame::InvokeMethodReply::kSuccess, reply.success ? 1 : 0);
  wire::AppendUint(body, proto::IPCFrame::InvokeMethodReply::kHasMore, reply.has_more ? 1 : 0);
  wire::AppendBytes(body, proto::IPCFrame::InvokeMethodReply::kReplyProto, reply.reply);
  AppendFrame(out, request_id, proto::IPCFrame::kMsgInvokeMethodReply, body);
}

inline void AppendBind(std::string& out, uint64_t request_id, std::string_view service_name) {
  std::string body;
  wire::AppendBytes(body, proto::IPCFrame::BindService::kServiceName, wire::AsBytes(service_name));
  AppendFrame(out, request_id, proto::IPCFrame::kMsgBindService, body);
}

inline void AppendBindReply(std::string& out, uint64_t request_id, const BindServiceReply& reply) {
  std::string body;
  wire::AppendUint(body, proto::IPCFrame::BindServiceReply::kSuccess, reply.success ? 1 : 0);
  wire::AppendUint(body, proto::IPCFrame::BindServiceReply::kServiceId, reply.service);
  for (const Method& method : reply.methods) {
    std::string entry;
    wire::AppendUint(entry, proto::IPCFrame::BindServiceReply::MethodInfo::kId, method.id);
    wire::AppendBytes(entry, proto::IPCFrame::BindServiceReply::MethodInfo::kName,
                      wire::AsBytes(method.name));
    wire::AppendBytes(body, proto::IPCFrame::BindServiceReply::kMethods, wire::AsBytes(entry));
  }
  AppendFrame(out, request_id, proto::IPCFrame::kMsgBindServiceReply, body);
}

/// A service's answer to a bind to a port. The ids of the methods are their places, from 1.
inline BindServiceReply BindReplyWith(uint64_t service, std::string_view port) {
  const bool is_producers = port == kProducerPort;
  const MethodName first =
      is_producers ? MethodName::kInitializeConnection : MethodName::kEnableTracing;
  const MethodName last = is_producers ? MethodName::kSync : MethodName::kGetTraceStats;
  BindServiceReply reply{.success = true, .service = service, .methods = {}};
  for (auto method = static_cast<uint8_t>(first); method <= static_cast<uint8_t>(last); ++method)
    reply.methods.push_back(
        {.id = reply.methods.size() + 1, .name = Name(static_cast<MethodName>(method))});
  return reply;
}

}  // namespace ringscope::ipc

#endif  // RINGSCOPE_FORMATS_TESTING_IPC_FRAMES_H_
