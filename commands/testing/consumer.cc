#include "commands/testing/consumer.h"

#include <fmt/format.h>

#include <utility>

#include "commands/testing/client_connection.h"
#include "core/perfetto/fields.h"
#include "formats/ipc/ipc_messages.h"

namespace ringscope::testing {
Result<Consumer> Consumer::Connect(const std::string& socket) {
  RS_ASSIGN_OR_RETURN(ServiceClient client, ServiceClient::Connect(socket, ipc::kConsumerPort));
  return Consumer(std::move(client));
}

Result<ServiceReply> Consumer::ReplyTo(uint64_t request) {
  if (auto known = replies_.extract(request); !known.empty()) return std::move(known.mapped());
  while (true) {
    RS_ASSIGN_OR_RETURN(ServiceReply reply, client_.Read());
    if (reply.request_id == request) return reply;
    replies_.emplace(reply.request_id, std::move(reply));
  }
}

Status Consumer::EnableTracing(const std::string& config, const UniqueFd* file) {
  std::string args;
  wire::AppendBytes(args, proto::EnableTracingRequest::kTraceConfig, wire::AsBytes(config));
  RS_ASSIGN_OR_RETURN(enable_request_,
                      client_.Invoke("EnableTracing", args, /*drop_reply=*/false, file));
  return {};
}

Status Consumer::WaitUntilDisabled() {
  RS_ASSIGN_OR_RETURN(const ServiceReply reply, ReplyTo(enable_request_));
  ipc::EnableTracingReply end;
  RS_RETURN_IF_ERROR(DecodeMessage(wire::AsBytes(reply.content), end));
  if (end.error.empty()) return {};
  return Fail(ErrorCode::kIo, fmt::format("the service ended the session: {}", end.error));
}

Result<uint64_t> Consumer::StartFlush(uint64_t timeout_ms) {
  return client_.Invoke("Flush", Encode(ipc::FlushCall{.timeout_ms = timeout_ms}),
                        /*drop_reply=*/false);
}

Result<uint64_t> Consumer::StartClone(const std::string& unique_session_name,
                                      const UniqueFd* file) {
  return client_.Invoke("CloneSession",
                        Encode(ipc::CloneSession{.unique_session_name = unique_session_name}),
                        /*drop_reply=*/false, file);
}

Result<bool> Consumer::WaitFor(uint64_t request) {
  RS_ASSIGN_OR_RETURN(const ServiceReply reply, ReplyTo(request));
  return reply.success;
}

Status Consumer::WaitForClone(uint64_t request) {
  RS_ASSIGN_OR_RETURN(const ServiceReply reply, ReplyTo(request));
  ipc::CloneSessionReply clone;
  RS_RETURN_IF_ERROR(DecodeMessage(wire::AsBytes(reply.content), clone));
  if (clone.success == true) return {};
  return Fail(ErrorCode::kIo, fmt::format("the service made no clone: {}", clone.error));
}

Result<std::string> Consumer::Call(const std::string& method, const std::string& args) {
  RS_ASSIGN_OR_RETURN(const uint64_t request, client_.Invoke(method, args, /*drop_reply=*/false));
  RS_ASSIGN_OR_RETURN(ServiceReply reply, ReplyTo(request));
  if (reply.success) return std::move(reply.content);
  return Fail(ErrorCode::kIo, fmt::format("the service refused {}", method));
}

Status Consumer::DisableTracing() {
  RS_RETURN_IF_ERROR(Call("DisableTracing"));
  return {};
}

Status Consumer::ReadBuffers(std::string& trace) {
  RS_ASSIGN_OR_RETURN(const uint64_t request, client_.Invoke("ReadBuffers", {}, false));
  std::string packet;
  for (bool more = true; more;) {
    RS_ASSIGN_OR_RETURN(const ServiceReply reply, ReplyTo(request));
    more = reply.has_more;
    wire::FieldReader slices(wire::AsBytes(reply.content));
    while (const auto slice = slices.Next()) {
      if (slice->number != proto::ReadBuffersResponse::kSlices) continue;
      bool is_last = false;
      wire::FieldReader fields(slice->bytes);
      while (const auto field = fields.Next()) {
        if (field->number == proto::ReadBuffersResponse::Slice::kData)
          packet += wire::AsText(field->bytes);
        if (field->number == proto::ReadBuffersResponse::Slice::kLastSliceForPacket)
          is_last = field->value != 0;
      }
      if (!is_last) continue;
      wire::AppendBytes(trace, proto::Trace::kPacket, wire::AsBytes(packet));
      packet.clear();
    }
  }
  return {};
}

Result<std::string> Consumer::GetTraceStats() {
  RS_ASSIGN_OR_RETURN(const std::string reply, Call("GetTraceStats"));
  return std::string(
      wire::AsText(wire::BytesIn(wire::AsBytes(reply), proto::GetTraceStatsResponse::kTraceStats)));
}

Status Consumer::FreeBuffers() {
  RS_RETURN_IF_ERROR(Call("FreeBuffers"));
  return {};
}

}  // namespace ringscope::testing
