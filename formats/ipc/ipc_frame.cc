#include "formats/ipc/ipc_frame.h"

#include <fmt/format.h>

#include <cstring>

#include "core/base/lookup.h"
#include "core/perfetto/fields.h"
#include "formats/io/message_codec.h"

namespace ringscope::ipc {

using FrameFields = proto::IPCFrame;

void Fields(auto& field, Like<BindService> auto& m) { NumberFields(field, m.service_name); }
void Fields(auto& field, Like<Method> auto& m) { NumberFields(field, m.id, m.name); }
void Fields(auto& field, Like<BindServiceReply> auto& m) {
  NumberFields(field, m.success, m.service, m.methods);
}
void Fields(auto& field, Like<InvokeMethod> auto& m) {
  NumberFields(field, m.service, m.method, m.args, m.drop_reply);
}
void Fields(auto& field, Like<InvokeMethodReply> auto& m) {
  NumberFields(field, m.success, m.has_more, m.reply);
}

namespace {

/// Appends a frame; `append` appends its message to the same text.
void AppendPrefixed(std::string& out, auto append) {
  const size_t begin = out.size() + kFramePrefix;
  out.resize(begin);
  append();
  const size_t size = out.size() - begin;
  for (size_t i = 0; i < kFramePrefix; ++i)
    out[begin - kFramePrefix + i] = static_cast<char>(size >> (8 * i));
}

}  // namespace

Result<Frame> ParseFrame(Bytes whole) {
  Frame frame{.whole = whole};
  bool ok = whole.size() >= kFramePrefix;
  wire::FieldReader reader(ok ? whole.subspan(kFramePrefix) : whole);
  const auto take = [&]<typename Body>(const wire::Field& field, uint32_t number, Body&& body) {
    if (!field.IsBytes(number)) return;
    ok = ok && DecodeMessage(field.bytes, body);
    frame.body = std::forward<Body>(body);
  };
  while (const auto field = reader.Next()) {
    if (field->IsVarint(FrameFields::kRequestId)) frame.request_id = field->value;
    take(*field, FrameFields::kMsgBindService, BindService());
    take(*field, FrameFields::kMsgBindServiceReply, BindServiceReply());
    take(*field, FrameFields::kMsgInvokeMethod, InvokeMethod());
    take(*field, FrameFields::kMsgInvokeMethodReply, InvokeMethodReply());
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
  AppendPrefixed(out, [&] {
    wire::AppendUint(out, FrameFields::kRequestId, request_id);
    wire::AppendBytes(out, number, wire::AsBytes(body));
  });
}

void AppendInvoke(std::string& out, uint64_t request_id, const InvokeMethod& invoke) {
  std::string body;
  body.reserve(invoke.args.size() + 32);
  EncodeMessage(invoke, body);
  AppendFrame(out, request_id, FrameFields::kMsgInvokeMethod, body);
}

void AppendWithArgs(std::string& out, const Frame& frame, Bytes args) {
  AppendPrefixed(out, [&] {
    for (const wire::Field& field : wire::FieldReader(frame.whole.subspan(kFramePrefix))) {
      if (!field.IsBytes(FrameFields::kMsgInvokeMethod)) {
        out += wire::AsText(field.whole);
        continue;
      }
      std::string body;
      body.reserve(field.bytes.size() + args.size());
      for (const wire::Field& part : wire::FieldReader(field.bytes))
        if (!part.IsBytes(FrameFields::InvokeMethod::kArgsProto)) body += wire::AsText(part.whole);
      wire::AppendBytes(body, FrameFields::InvokeMethod::kArgsProto, args);
      wire::AppendBytes(out, FrameFields::kMsgInvokeMethod, wire::AsBytes(body));
    }
  });
}

void MethodTable::Learn(const BindServiceReply& reply) {
  if (!reply.success) return;
  service_ = reply.service;
  for (const Method& method : reply.methods)
    if (const auto known = FromName<MethodName>(method.name)) names_[method.id] = *known;
}

MethodName MethodTable::Find(const InvokeMethod& invoke) const {
  if (invoke.service != service_) return MethodName::kUnknown;
  const MethodName* const found = FindIn(names_, invoke.method);
  return found == nullptr ? MethodName::kUnknown : *found;
}

std::optional<uint64_t> MethodTable::IdOf(MethodName name) const {
  for (const auto& [id, known] : names_)
    if (known == name) return id;
  return std::nullopt;
}

}  // namespace ringscope::ipc
