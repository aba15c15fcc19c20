#include "formats/ipc_frame.h"

#include <fmt/format.h>

#include <cstring>

namespace ringscope::ipc {
namespace {

// Field numbers of IPCFrame and the messages in it.
enum FrameField : uint32_t {
  kRequestId = 2,
  kBind = 3,
  kBindReply = 4,
  kInvoke = 5,
  kInvokeReply = 6,
};
enum BindField : uint32_t { kServiceName = 1 };
enum BindReplyField : uint32_t { kBound = 1, kBoundService = 2, kMethods = 3 };
enum MethodField : uint32_t { kMethodIdInList = 1, kMethodName = 2 };
enum InvokeField : uint32_t { kService = 1, kMethod = 2, kArgs = 3, kDropReply = 4 };
enum InvokeReplyField : uint32_t { kSuccess = 1, kHasMore = 2, kReply = 3 };

bool IsVarint(const wire::Field& field, uint32_t number) {
  return field.number == number && field.type == wire::Type::kVarint;
}
bool IsBytes(const wire::Field& field, uint32_t number) {
  return field.number == number && field.type == wire::Type::kBytes;
}

bool Parse(Bytes message, BindService& bind) {
  wire::FieldReader reader(message);
  while (const auto field = reader.Next())
    if (IsBytes(*field, kServiceName)) bind.service_name = wire::AsText(field->bytes);
  return reader.ok();
}

bool Parse(Bytes message, Method& method) {
  wire::FieldReader reader(message);
  while (const auto field = reader.Next()) {
    if (IsVarint(*field, kMethodIdInList)) method.id = field->value;
    if (IsBytes(*field, kMethodName)) method.name = wire::AsText(field->bytes);
  }
  return reader.ok();
}

bool Parse(Bytes message, BindServiceReply& reply) {
  wire::FieldReader reader(message);
  while (const auto field = reader.Next()) {
    if (IsVarint(*field, kBound)) reply.success = field->value != 0;
    if (IsVarint(*field, kBoundService)) reply.service = field->value;
    if (IsBytes(*field, kMethods) && !Parse(field->bytes, reply.methods.emplace_back()))
      return false;
  }
  return reader.ok();
}

bool Parse(Bytes message, InvokeMethod& invoke) {
  wire::FieldReader reader(message);
  while (const auto field = reader.Next()) {
    if (IsVarint(*field, kService)) invoke.service = field->value;
    if (IsVarint(*field, kMethod)) invoke.method = field->value;
    if (IsBytes(*field, kArgs)) invoke.args = field->bytes;
    if (IsVarint(*field, kDropReply)) invoke.drop_reply = field->value != 0;
  }
  return reader.ok();
}

bool Parse(Bytes message, InvokeMethodReply& reply) {
  wire::FieldReader reader(message);
  while (const auto field = reader.Next()) {
    if (IsVarint(*field, kSuccess)) reply.success = field->value != 0;
    if (IsVarint(*field, kHasMore)) reply.has_more = field->value != 0;
    if (IsBytes(*field, kReply)) reply.reply = field->bytes;
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

void AppendBody(std::string& out, uint64_t request_id, uint32_t number, std::string_view body) {
  const size_t at = StartFrame(out);
  wire::AppendUint(out, kRequestId, request_id);
  wire::AppendBytes(out, number, wire::AsBytes(body));
  PutPrefix(out, at);
}

}  // namespace

Result<Frame> ParseFrame(Bytes whole) {
  Frame frame{.whole = whole};
  bool ok = whole.size() >= kFramePrefix;
  wire::FieldReader reader(ok ? whole.subspan(kFramePrefix) : whole);
  while (const auto field = reader.Next()) {
    if (IsVarint(*field, kRequestId)) frame.request_id = field->value;
    if (IsBytes(*field, kBind)) ok = ok && ParseBody<BindService>(field->bytes, frame);
    if (IsBytes(*field, kBindReply)) ok = ok && ParseBody<BindServiceReply>(field->bytes, frame);
    if (IsBytes(*field, kInvoke)) ok = ok && ParseBody<InvokeMethod>(field->bytes, frame);
    if (IsBytes(*field, kInvokeReply)) ok = ok && ParseBody<InvokeMethodReply>(field->bytes, frame);
  }
  if (!ok || !reader.ok())
    return Fail(ErrorCode::kCorrupt, "sent a frame that is not well-formed protobuf");
  return frame;
}

FrameDecoder::FrameDecoder() : buffer_(kMinRoom) {}

std::span<uint8_t> FrameDecoder::Room() {
  if (begin_ == end_) {
    begin_ = end_ = 0;
  } else if (buffer_.size() - end_ < kMinRoom && begin_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  if (buffer_.size() - end_ < kMinRoom) buffer_.resize(end_ + kMinRoom);
  return std::span(buffer_).subspan(end_);
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

void AppendInvoke(std::string& out, uint64_t request_id, const InvokeMethod& invoke) {
  std::string body;
  body.reserve(invoke.args.size() + 32);
  wire::AppendUint(body, kService, invoke.service);
  wire::AppendUint(body, kMethod, invoke.method);
  wire::AppendBytes(body, kArgs, invoke.args);
  if (invoke.drop_reply) wire::AppendUint(body, kDropReply, 1);
  AppendBody(out, request_id, kInvoke, body);
}

void AppendInvokeReply(std::string& out, uint64_t request_id, const InvokeMethodReply& reply) {
  std::string body;
  wire::AppendUint(body, kSuccess, reply.success ? 1 : 0);
  wire::AppendUint(body, kHasMore, reply.has_more ? 1 : 0);
  wire::AppendBytes(body, kReply, reply.reply);
  AppendBody(out, request_id, kInvokeReply, body);
}

void AppendBind(std::string& out, uint64_t request_id, std::string_view service_name) {
  std::string body;
  wire::AppendBytes(body, kServiceName, wire::AsBytes(service_name));
  AppendBody(out, request_id, kBind, body);
}

void AppendBindReply(std::string& out, uint64_t request_id, const BindServiceReply& reply) {
  std::string body;
  wire::AppendUint(body, kBound, reply.success ? 1 : 0);
  wire::AppendUint(body, kBoundService, reply.service);
  for (const Method& method : reply.methods) {
    std::string entry;
    wire::AppendUint(entry, kMethodIdInList, method.id);
    wire::AppendBytes(entry, kMethodName, wire::AsBytes(method.name));
    wire::AppendBytes(body, kMethods, wire::AsBytes(entry));
  }
  AppendBody(out, request_id, kBindReply, body);
}

void AppendWithArgs(std::string& out, const Frame& frame, Bytes args) {
  const size_t at = StartFrame(out);
  wire::FieldReader fields(frame.whole.subspan(kFramePrefix));
  while (const auto field = fields.Next()) {
    if (!IsBytes(*field, kInvoke)) {
      out += wire::AsText(field->whole);
      continue;
    }
    std::string body;
    body.reserve(field->bytes.size() + args.size());
    wire::FieldReader parts(field->bytes);
    while (const auto part = parts.Next())
      if (!IsBytes(*part, kArgs)) body += wire::AsText(part->whole);
    wire::AppendBytes(body, kArgs, args);
    wire::AppendBytes(out, kInvoke, wire::AsBytes(body));
  }
  PutPrefix(out, at);
}

}  // namespace ringscope::ipc
