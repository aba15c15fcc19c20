#include "commands/protovm/found_programs.h"

#include <algorithm>

#include "commands/shell/input.h"
#include "core/perfetto/fields.h"
#include "core/protovm/traced_program.h"
#include "core/protovm/vm_program.h"
#include "formats/inputs/input_kind.h"
#include "formats/inputs/open_log.h"
#include "formats/trace/perfetto_trace.h"

namespace ringscope {
namespace {

constexpr size_t kMaxMessageBytes = size_t{64} << 20;

/// Adds a program, or a producer to one that is known.
void AddProgram(FoundProgram added, std::vector<FoundProgram>& programs) {
  const auto known = std::find_if(programs.begin(), programs.end(), [&](const FoundProgram& one) {
    return one.program == added.program && one.data_source == added.data_source &&
           one.memory_limit_kb == added.memory_limit_kb;
  });
  if (known == programs.end()) return programs.push_back(std::move(added));
  for (const uint64_t producer : added.producers) {
    if (std::find(known->producers.begin(), known->producers.end(), producer) ==
        known->producers.end())
      known->producers.push_back(producer);
  }
}

Result<std::vector<FoundProgram>> ProgramsOfLog(std::unique_ptr<ByteSource> source) {
  std::vector<FoundProgram> programs;
  RS_ASSIGN_OR_RETURN(const auto log, OpenLog(std::move(source)));
  while (true) {
    RS_ASSIGN_OR_RETURN(const std::optional<Op> op, log->Next());
    if (!op) return programs;
    if (const auto* registered = std::get_if<DataSourceRegistered>(&op->body)) {
      if (!registered->protovm_program.empty())
        AddProgram({.program = registered->protovm_program,
                    .data_source = registered->name,
                    .producers = {Raw(registered->producer)}},
                   programs);
    } else if (const auto* setup = std::get_if<ProtoVmSetUp>(&op->body)) {
      AddProgram({.program = setup->program,
                  .data_source = setup->data_source,
                  .producers = {Raw(setup->producer)},
                  .memory_limit_kb = setup->memory_limit_kb},
                 programs);
    }
  }
}

FoundProgram DecodeInstance(Bytes instance) {
  const protovm::TracedProgram read = protovm::ReadTracedProgram(instance);
  FoundProgram found{.program = std::string(wire::AsText(read.program))};
  found.state = wire::AsText(read.state);
  found.memory_limit_kb = read.memory_limit_kb;
  for (const int32_t producer : read.producers)
    found.producers.push_back(static_cast<uint64_t>(producer));
  return found;
}

Result<std::vector<FoundProgram>> ProgramsOfTrace(std::unique_ptr<ByteSource> source) {
  std::vector<FoundProgram> programs;
  RS_ASSIGN_OR_RETURN(const auto trace,
                      TraceReader::Open(std::move(source), TraceReader::OnDamage::kSkip));
  while (true) {
    RS_ASSIGN_OR_RETURN(const std::optional<TracePacket> packet, trace->Next());
    if (!packet) return programs;
    wire::ForEachField(packet->bytes, [&](const wire::VisitedField& field) {
      if (field.number != proto::TracePacket::kProtoVms) return;
      wire::FieldReader instances(field.bytes);
      while (const auto instance = instances.Next())
        if (instance->number == proto::ProtoVms::kInstance)
          programs.push_back(DecodeInstance(instance->bytes));
    });
  }
}

}  // namespace

Result<std::vector<FoundProgram>> FindPrograms(Context& context, const std::string& path) {
  RS_ASSIGN_OR_RETURN(KnownInput input, OpenKnownInput(context, path));
  if (input.kind == InputKind::kLog) return ProgramsOfLog(std::move(input.source));
  if (input.kind == InputKind::kTrace) return ProgramsOfTrace(std::move(input.source));
  RS_ASSIGN_OR_RETURN(std::string program, ReadAll(*input.source, kMaxMessageBytes));
  if (protovm::Program(wire::AsBytes(program)).all().empty())
    return Fail(ErrorCode::kCorrupt, "this is not a program: it has no instructions (VmProgram)",
                {path, {}, {}}, "name a VmProgram message, a log or a trace");
  return std::vector<FoundProgram>{{.program = std::move(program), .message = ""}};
}

Result<std::string> ReadMessageFile(Context& context, const std::string& path) {
  RS_ASSIGN_OR_RETURN(const auto source, OpenInput(context, path));
  return ReadAll(*source, kMaxMessageBytes);
}

}  // namespace ringscope
