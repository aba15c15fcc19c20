#include "commands/testing/ipc_script.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <span>

#include "formats/log/record_codec.h"

namespace ringscope::testing {
namespace {

constexpr uint8_t kFirstOfRecorderInScript = 0xF0;

constexpr uint64_t kService = 1;
constexpr uint8_t kMethodNumbers = 15;  // one of them unknown to each port

uint64_t RequestIdOf(uint8_t byte) {
  if (byte < kFirstOfRecorderInScript) return byte;
  return kFirstOfRecorder + byte - kFirstOfRecorderInScript;
}

/// As a frame, cut to the size that frames can have.
std::string Framed(Bytes content) {
  content = content.first(std::min(content.size(), ipc::kMaxFrameBytes - ipc::kFramePrefix));
  std::string frame;
  for (size_t i = 0; i < ipc::kFramePrefix; ++i)
    frame.push_back(static_cast<char>(content.size() >> (8 * i)));
  frame += wire::AsText(content);
  return frame;
}

void WriteTo(const TestMemory& memory, size_t offset, Bytes bytes) {
  offset %= memory.size();
  bytes = bytes.first(std::min(bytes.size(), memory.size() - offset));
  if (!bytes.empty()) std::memcpy(memory.data() + offset, bytes.data(), bytes.size());
}

}  // namespace

uint8_t ScriptInput::Byte() {
  if (rest_.empty()) return 0;
  const uint8_t byte = rest_[0];
  rest_ = rest_.subspan(1);
  return byte;
}

uint16_t ScriptInput::Word() {
  const uint8_t low = Byte();
  return static_cast<uint16_t>(low | Byte() << 8);
}

Bytes ScriptInput::Counted() {
  const size_t count = std::min<size_t>(Word(), rest_.size());
  const Bytes bytes = rest_.first(count);
  rest_ = rest_.subspan(count);
  return bytes;
}

ScriptStep NextStep(ScriptInput& input, const TestMemory& memory) {
  const uint8_t first = input.Byte();
  ScriptStep step;
  step.kind = static_cast<StepKind>(first & 7);
  step.with_descriptor = (first & 8) != 0;
  step.connection = static_cast<uint8_t>(first >> 5);
  switch (step.kind) {
    case StepKind::kClientFrame:
    case StepKind::kServiceFrame:
      step.bytes = Framed(input.Counted());
      break;
    case StepKind::kRequest: {
      const uint8_t method = input.Byte();
      const uint64_t request = RequestIdOf(input.Byte());
      ipc::AppendInvoke(step.bytes, request,
                        {.service = kService,
                         .method = uint64_t{method} % kMethodNumbers,
                         .args = input.Counted(),
                         .drop_reply = (method & 0x80) != 0});
      break;
    }
    case StepKind::kReply: {
      const uint64_t request = RequestIdOf(input.Byte());
      const uint8_t flags = input.Byte();
      ipc::AppendInvokeReply(
          step.bytes, request,
          {.success = (flags & 1) == 0, .has_more = (flags & 2) != 0, .reply = input.Counted()});
      break;
    }
    case StepKind::kMemory: {
      const uint16_t offset = input.Word();
      WriteTo(memory, offset, input.Counted());
      break;
    }
    case StepKind::kClientBytes:
    case StepKind::kServiceBytes:
      step.bytes = wire::AsText(input.Counted());
      break;
    case StepKind::kAct:
      step.act = input.Byte();
      break;
  }
  return step;
}

Binding BindingOf(std::string_view port) {
  Binding binding;
  ipc::AppendBind(binding.request, 1, port);
  ipc::AppendBindReply(binding.reply, 1, ipc::BindReplyWith(kService, port));
  return binding;
}

bool IsOfRecorder(const ipc::Frame& frame) {
  return frame.request_id >= kFirstOfRecorder &&
         (std::holds_alternative<ipc::InvokeMethod>(frame.body) ||
          std::holds_alternative<ipc::InvokeMethodReply>(frame.body));
}

std::vector<std::string> SplitFrames(std::string_view stream) {
  std::vector<std::string> frames;
  while (stream.size() >= ipc::kFramePrefix) {
    const size_t size = ipc::kFramePrefix + wire::LoadLittleEndian<uint32_t>(
                                                reinterpret_cast<const uint8_t*>(stream.data()));
    if (size > ipc::kMaxFrameBytes || size > stream.size()) break;
    if (!ipc::ParseFrame(wire::AsBytes(stream.substr(0, size)))) break;
    frames.emplace_back(stream.substr(0, size));
    stream.remove_prefix(size);
  }
  return frames;
}

bool IsForwarded(const std::string& sent, const std::string& received, bool edited) {
  if (sent == received) return true;
  if (!edited) return false;
  const auto before = ipc::ParseFrame(wire::AsBytes(sent));
  const auto after = ipc::ParseFrame(wire::AsBytes(received));
  if (!before || !after || before->request_id != after->request_id) return false;
  const auto* const from = std::get_if<ipc::InvokeMethod>(&before->body);
  const auto* const to = std::get_if<ipc::InvokeMethod>(&after->body);
  return from != nullptr && to != nullptr && from->service == to->service &&
         from->method == to->method && from->drop_reply == to->drop_reply;
}

void CheckedLog::Append(OpBody body) {
  const auto content = [](const std::string& record) {
    return wire::FieldReader(wire::AsBytes(record)).Next()->bytes;
  };
  first_.clear();
  commit_log::AppendRecord({.time_ns = 1, .body = std::move(body)}, 0, first_);
  const auto decoded = commit_log::DecodeRecord(content(first_));
  if (!decoded || !*decoded) std::abort();
  second_.clear();
  commit_log::AppendRecord(**decoded, 0, second_);
  if (first_ != second_) std::abort();
}

}  // namespace ringscope::testing
