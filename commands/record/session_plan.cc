#include "commands/record/session_plan.h"

#include "formats/ipc/ipc_messages.h"

namespace ringscope {
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

}  // namespace

Result<SessionPlan> PlanOfConfig(Bytes config) {
  ipc::TraceConfig decoded;
  RS_RETURN_IF_ERROR(DecodeMessage(config, decoded));
  SessionPlan plan = PlanOf(decoded);
  auto source = plan.sources.begin();
  wire::FieldReader reader(config);
  while (const auto field = reader.Next()) {
    if (!field->IsBytes(proto::TraceConfig::kDataSources) || source == plan.sources.end()) continue;
    source->own = ipc::OwnFieldsOf(ipc::FieldBytes(field->bytes, proto::DataSource::kConfig));
    wire::FieldReader parts(field->bytes);
    while (const auto part = parts.Next())
      source->filtered |= part->number != proto::DataSource::kConfig;
    ++source;
  }
  return plan;
}

Result<SessionPlan> PlanWithBuffers(Bytes config, const std::string& path) {
  RS_ASSIGN_OR_RETURN(SessionPlan plan, PlanOfConfig(config));
  if (plan.buffers.empty()) {
    return Fail(ErrorCode::kCorrupt, "this trace config has no buffers", {path, {}, {}},
                "expected a TraceConfig in protobuf's text format");
  }
  return plan;
}

}  // namespace ringscope
