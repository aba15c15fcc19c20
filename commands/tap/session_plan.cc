#include "commands/tap/session_plan.h"

#include <fmt/format.h>

#include "formats/ipc/ipc_messages.h"
#include "formats/proto/text_proto.h"

namespace ringscope::record {
namespace {

constexpr uint64_t kPlanBytesPerKb = 1024;

SessionPlan PlanOf(const ipc::TraceConfig& config) {
  SessionPlan plan;
  for (const ipc::BufferConfig& buffer : config.buffers) {
    plan.buffers.push_back(
        {.size = buffer.size_kb * kPlanBytesPerKb,
         .policy = buffer.fill_policy == ipc::kFillPolicyDiscard ? FillPolicy::kDiscard
                                                                 : FillPolicy::kRingBuffer,
         .engine = buffer.experimental_mode == ipc::kExperimentalModeV2 ? "v2" : "v1"});
  }
  for (const ipc::ConfiguredDataSource& source : config.data_sources)
    plan.sources.push_back(
        {source.config.name, static_cast<uint32_t>(source.config.target_buffer)});
  return plan;
}

Result<uint64_t> NumberIn(const TextMessage& message, std::string_view name,
                          const std::string& path) {
  const TextMessage::Field* const field = message.Last(name);
  if (field == nullptr) return uint64_t{0};
  if (const auto number = field->Number()) return *number;
  return Fail(ErrorCode::kCorrupt,
              fmt::format("expected a number for {}, found '{}'", name, field->value),
              {path, {}, field->line});
}

/// Whether an enum has this value, by its name or its number.
bool HasValue(const TextMessage& message, std::string_view name, std::string_view value,
              uint64_t number) {
  const TextMessage::Field* const field = message.Last(name);
  return field != nullptr && (field->value == value || field->Number() == number);
}

}  // namespace

Result<SessionPlan> PlanOfConfig(Bytes config) {
  ipc::TraceConfig decoded;
  RS_RETURN_IF_ERROR(DecodeMessage(config, decoded));
  return PlanOf(decoded);
}

Result<SessionPlan> PlanOfText(std::string_view text, const std::string& path) {
  RS_ASSIGN_OR_RETURN(const TextMessage config, ParseTextProto(text, path));
  ipc::TraceConfig plain;
  for (const TextMessage::Field* buffer : config.All("buffers")) {
    ipc::BufferConfig& entry = plain.buffers.emplace_back();
    RS_ASSIGN_OR_RETURN(entry.size_kb, NumberIn(buffer->message, "size_kb", path));
    if (HasValue(buffer->message, "fill_policy", "DISCARD", ipc::kFillPolicyDiscard))
      entry.fill_policy = ipc::kFillPolicyDiscard;
    if (HasValue(buffer->message, "experimental_mode", "TRACE_BUFFER_V2", ipc::kExperimentalModeV2))
      entry.experimental_mode = ipc::kExperimentalModeV2;
  }
  for (const TextMessage::Field* source : config.All("data_sources")) {
    ipc::ConfiguredDataSource& entry = plain.data_sources.emplace_back();
    const TextMessage::Field* const inner = source->message.Last("config");
    if (inner == nullptr) continue;
    if (const auto* const name = inner->message.Last("name")) entry.config.name = name->value;
    RS_ASSIGN_OR_RETURN(entry.config.target_buffer,
                        NumberIn(inner->message, "target_buffer", path));
  }
  if (plain.buffers.empty()) {
    return Fail(ErrorCode::kCorrupt, "this trace config has no buffers", {path, {}, {}},
                "expected a TraceConfig in protobuf's text format");
  }
  return PlanOf(plain);
}

}  // namespace ringscope::record
