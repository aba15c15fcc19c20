#include "formats/ipc/ipc_frame.h"

#include <fmt/format.h>

#include <cstring>

#include "core/perfetto/fields.h"

namespace ringscope::ipc {
namespace {

bool Parse(Bytes message, BindService& bind) {
  wire::FieldReader reader(message);
  while (const auto field = reader.Next())
    if (field->IsBytes(proto::IPCFrame::BindService::kServiceName))
      bind.service_name = wire::AsText(field->bytes);
  return reader.ok();
}

bool Parse(Bytes message, Method& method) {
  wire::FieldReader reader(message);
  while (const auto field = reader.Next()) {
    if (field->IsVarint(proto::IPCFrame::BindServiceReply::MethodInfo::kId))
      method.id = field->value;
    if (field->IsBytes(proto::IPCFrame::BindServiceReply::MethodInfo::kName))
      method.name = wire::AsText(field->bytes);
  }
  return reader.ok();
}

bool Parse(Bytes message, BindServiceReply& reply) {
  wire::FieldReader reader(message);
  while (const auto field = reader.Next()) {
    if (field->IsVarint(proto::IPCFrame::BindServiceReply::kSuccess))
      reply.success = field->value != 0;
    if (field->IsVarint(proto::IPCFrame::BindServiceReply::kServiceId))
      reply.service = field->value;
    if (field->IsBytes(proto::IPCFrame::BindServiceReply::kMethods) &&
        !Parse(field->bytes, reply.methods.emplace_back()))
      return false;
  }
  return reader.ok();
}

bool Parse(Bytes message, InvokeMethod& invoke) {
  wire::FieldReader reader(message);
  while (const auto field = reader.Next()) {
    if (field->IsVarint(proto::IPCFrame::InvokeMethod::kServiceId)) invoke.service = field->value;
    if (field->IsVarint(proto::IPCFrame::InvokeMethod::kMethodId)) invoke.method = field->value;
    if (field->IsBytes(proto::IPCFrame::InvokeMethod::kArgsProto)) invoke.args = field->bytes;
    if (field->IsVarint(proto::IPCFrame::InvokeMethod::kDropReply))
      invoke.drop_reply = field->value != 0;
  }
  return reader.ok();
}

bool Parse(Bytes message, InvokeMethodReply& reply) {
  wire::FieldReader reader(message);
  while (const auto field = reader.Next()) {
    if (field->IsVarint(proto::IPCFrame::InvokeMethodReply::kSuccess))
      reply.success = field->value != 0;
    if (field->IsVarint(proto::IPCFrame::InvokeMethodReply::kHasMore))
      reply.has_more = field->value != 0;
    if (field->IsBytes(proto::IPCFrame::InvokeMethodReply::kReplyProto)) reply.reply = field->bytes;
  }
  return reader.ok();
}

template <typename Body>
bool ParseBody(Bytes message, Frame& frame) {
  return Parse(message, frame.body.emplace<Body>());
}

void PutPrefix(std::string& out, size_t at) {
  const size_t size = out.size() - at - kFramePrefix;
  for (size_t i = 0; i < kFramePrefix; ++i) out[at + i] = static_cast<char>(size >> (8 * i));
}

/// Starts a frame; FinishFrame must follow. @return where it starts
size_t StartFrame(std::string& out) {
  const size_t at = out.size();
  out.append(kFramePrefix, '\0');
  return at;
}

}  // namespace

Result<Frame> ParseFrame(Bytes whole) {
  Frame frame{.whole = whole};
  bool ok = whole.size() >= kFramePrefix;
  wire::FieldReader reader(ok ? whole.subspan(kFramePrefix) : whole);
  while (const auto field = reader.Next()) {
    if (field->IsVarint(proto::IPCFrame::kRequestId)) frame.request_id = field->value;
    if (field->IsBytes(proto::IPCFrame::kMsgBindService))
      ok = ok && ParseBody<BindService>(field->bytes, frame);
    if (field->IsBytes(proto::IPCFrame::kMsgBindServiceReply))
      ok = ok && ParseBody<BindServiceReply>(field->bytes, frame);
    if (field->IsBytes(proto::IPCFrame::kMsgInvokeMethod))
      ok = ok && ParseBody<InvokeMethod>(field->bytes, frame);
    if (field->IsBytes(proto::IPCFrame::kMsgInvokeMethodReply))
      ok = ok && ParseBody<InvokeMethodReply>(field->bytes, frame);
  }
  if (!ok || !reader.ok())
    return Fail(ErrorCode::kCorrupt, "sent a frame that is not well-formed protobuf");
  return frame;
}

std::span<uint8_t> FrameDecoder::Space() {
  if (begin_ == end_) {
    begin_ = end_ = 0;
  } else if (size_ - end_ < kMinSpace && begin_ > 0) {
    std::memmove(buffer_.get(), buffer_.get() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  if (size_ - end_ < kMinSpace) {
    size_ = end_ + kMinSpace;
    auto larger = std::make_unique_for_overwrite<uint8_t[]>(size_);
    if (end_ > 0) std::memcpy(larger.get(), buffer_.get(), end_);
    buffer_ = std::move(larger);
  }
  return {buffer_.get() + end_, size_ - end_};
}

Result<std::optional<Bytes>> FrameDecoder::Next() {
  const Bytes left = rest();
  if (left.size() < kFramePrefix) return std::nullopt;
  const auto size = wire::LoadLittleEndian<uint32_t>(left.data());
  if (size > kMaxFrameBytes - kFramePrefix) {
    return Fail(ErrorCode::kCorrupt, fmt::format("announced a frame of {} bytes, at most {} are "
                                                 "possible",
                                                 size, kMaxFrameBytes - kFramePrefix));
  }
  const size_t whole = kFramePrefix + size;
  if (left.size() < whole) return std::nullopt;
  begin_ += whole;
  consumed_ += whole;
  return left.first(whole);
}

void AppendFrame(std::string& out, uint64_t request_id, uint32_t number, std::string_view body) {
  const size_t at = StartFrame(out);
  wire::AppendUint(out, proto::IPCFrame::kRequestId, request_id);
  wire::AppendBytes(out, number, wire::AsBytes(body));
  PutPrefix(out, at);
}

void AppendInvoke(std::string& out, uint64_t request_id, const InvokeMethod& invoke) {
  std::string body;
  body.reserve(invoke.args.size() + 32);
  wire::AppendUint(body, proto::IPCFrame::InvokeMethod::kServiceId, invoke.service);
  wire::AppendUint(body, proto::IPCFrame::InvokeMethod::kMethodId, invoke.method);
  wire::AppendBytes(body, proto::IPCFrame::InvokeMethod::kArgsProto, invoke.args);
  if (invoke.drop_reply) wire::AppendUint(body, proto::IPCFrame::InvokeMethod::kDropReply, 1);
  AppendFrame(out, request_id, proto::IPCFrame::kMsgInvokeMethod, body);
}

void AppendWithArgs(std::string& out, const Frame& frame, Bytes args) {
  const size_t at = StartFrame(out);
  wire::FieldReader fields(frame.whole.subspan(kFramePrefix));
  while (const auto field = fields.Next()) {
    if (!field->IsBytes(proto::IPCFrame::kMsgInvokeMethod)) {
      out += wire::AsText(field->whole);
      continue;
    }
    std::string body;
    body.reserve(field->bytes.size() + args.size());
    wire::FieldReader parts(field->bytes);
    while (const auto part = parts.Next())
      if (!part->IsBytes(proto::IPCFrame::InvokeMethod::kArgsProto))
        body += wire::AsText(part->whole);
    wire::AppendBytes(body, proto::IPCFrame::InvokeMethod::kArgsProto, args);
    wire::AppendBytes(out, proto::IPCFrame::kMsgInvokeMethod, wire::AsBytes(body));
  }
  PutPrefix(out, at);
}

}  // namespace ringscope::ipc
