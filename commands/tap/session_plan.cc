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
    plan.buffers.push_back({.size = buffer.size_kb * kPlanBytesPerKb,
                            .policy = ipc::FillPolicyOf(buffer),
                            .engine = ipc::EngineOf(buffer),
                            .transfer_on_clone = buffer.transfer_on_clone,
                            .clear_before_clone = buffer.clear_before_clone});
  }
  for (const ipc::ConfiguredDataSource& source : config.data_sources)
    plan.sources.push_back(
        {.name = source.config.name, .buffer = ipc::TargetOf(config, source.config)});
  plan.name = config.unique_session_name;
  if (config.flush_timeout_ms != 0) plan.flush_timeout_ms = config.flush_timeout_ms;
  plan.starts_at_once = !config.deferred_start && config.triggers.mode != ipc::kTriggerModeStart;
  plan.into_file = config.write_into_file;
  plan.trigger_mode = config.triggers.mode;
  plan.output_path = config.output_path;
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
  SessionPlan plan = PlanOf(decoded);
  auto source = plan.sources.begin();
  wire::FieldReader reader(config);
  while (const auto field = reader.Next()) {
    if (field->number != proto::TraceConfig::kDataSources || field->type != wire::Type::kBytes ||
        source == plan.sources.end())
      continue;
    source->own = ipc::OwnFieldsOf(ipc::FieldBytes(field->bytes, proto::DataSource::kConfig));
    wire::FieldReader parts(field->bytes);
    while (const auto part = parts.Next())
      source->filtered |= part->number != proto::DataSource::kConfig;
    ++source;
  }
  return plan;
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
    entry.transfer_on_clone = HasValue(buffer->message, "transfer_on_clone", "true", 1);
    entry.clear_before_clone = HasValue(buffer->message, "clear_before_clone", "true", 1);
    if (const auto* const name = buffer->message.Last("name")) entry.name = name->value;
  }
  for (const TextMessage::Field* source : config.All("data_sources")) {
    ipc::ConfiguredDataSource& entry = plain.data_sources.emplace_back();
    const TextMessage::Field* const inner = source->message.Last("config");
    if (inner == nullptr) continue;
    if (const auto* const name = inner->message.Last("name")) entry.config.name = name->value;
    RS_ASSIGN_OR_RETURN(entry.config.target_buffer,
                        NumberIn(inner->message, "target_buffer", path));
    if (const auto* const buffer = inner->message.Last("target_buffer_name"))
      entry.config.target_buffer_name = buffer->value;
  }
  if (const auto* const name = config.Last("unique_session_name"))
    plain.unique_session_name = name->value;
  RS_ASSIGN_OR_RETURN(plain.flush_timeout_ms, NumberIn(config, "flush_timeout_ms", path));
  if (plain.buffers.empty()) {
    return Fail(ErrorCode::kCorrupt, "this trace config has no buffers", {path, {}, {}},
                "expected a TraceConfig in protobuf's text format");
  }
  return PlanOf(plain);
}

}  // namespace ringscope::record
