// Programs (ProtoVM) of the data sources of a session.

#include <fmt/format.h>

#include <memory>
#include <utility>

#include "core/base/text.h"
#include "core/protovm/buffer_vms.h"
#include "core/protovm/protovm_rules.h"
#include "core/session/session.h"

namespace ringscope {

void Session::Register(const DataSourceRegistered& source) {
  if (source.protovm_program.empty())
    programs_.erase({source.producer, source.name});
  else
    programs_[{source.producer, source.name}] = source.protovm_program;
}

/// Sets up the VM of a data source instance, if it has a program, as the service does.
Status Session::SetUpSource(const DataSourceSetUp& source) {
  if (!options_.run_programs) return {};
  const auto program = programs_.find({source.producer, source.name});
  const Bytes encoded = program == programs_.end() ? Bytes() : wire::AsBytes(program->second);
  using SetUpKind = protovm::VmSetUp::Kind;
  const protovm::VmSetUp found = protovm::VmSetUpOf(encoded, wire::AsBytes(source.config));
  const char* lacks = nullptr;
  switch (found.kind) {
    case SetUpKind::kNone:
      return {};
    case SetUpKind::kNoConfig:
      lacks = "a program (ProtoVM), but its config has no protovm_config";
      break;
    case SetUpKind::kNoProgram:
      lacks = "a protovm_config, but its descriptor has no program (ProtoVM)";
      break;
    case SetUpKind::kNoLimit:
      lacks = "a protovm_config without memory_limit_kb";
      break;
    case SetUpKind::kComplete:
      return SetUpProgram({.buffer = source.target_buffer,
                           .producer = source.producer,
                           .data_source = source.name,
                           .program = program->second,
                           .memory_limit_kb = found.memory_limit_kb});
  }
  WarnOnce("protovm", fmt::format("data source '{}' has {}: no state is kept for it, as the "
                                  "service does",
                                  source.name, lacks));
  return {};
}

Status Session::SetUpProgram(const ProtoVmSetUp& setup) {
  if (!options_.run_programs) return {};
  SessionBuffer* buffer = FindOpenBuffer(setup.buffer);
  if (buffer == nullptr) {
    if (!IsOutOfView(setup.buffer))
      WarnOnce("protovm_buffer",
               fmt::format("a program (ProtoVM) for buffer {}, which is not set up: skipped",
                           Raw(setup.buffer)));
    return {};
  }
  auto* const runner = dynamic_cast<ProgramRunner*>(buffer->engine.get());
  if (runner != nullptr && runner->SetUpProgram({.data_source = setup.data_source,
                                                 .program = wire::AsBytes(setup.program),
                                                 .memory_limit_kb = setup.memory_limit_kb,
                                                 .producer = setup.producer}))
    return CheckEngine(buffer->id, *buffer->engine);
  const protovm::ProtoVmRules* const rules =
      buffer->info->has_protovm ? protovm::FindProtoVmRules(buffer->info->release) : nullptr;
  if (rules != nullptr && buffer->vms == nullptr) {
    auto vms = std::make_unique<protovm::BufferVms>(*rules);
    VmFeed* feed = buffer->observer.get();
    if (feed == nullptr) {
      auto own = std::make_unique<VmFeed>(now_);
      if (auto engine = buffer->engine->ObserveBy(own.get())) {
        buffer->engine = std::move(*engine);
        feed = own.get();
        buffer->vm_feed = std::move(own);
      }
    }
    if (feed != nullptr) {
      buffer->vms = std::move(vms);
      feed->FeedTo(buffer);
    }
  }
  if (buffer->vms == nullptr) {
    WarnOnce("protovm_engine",
             fmt::format("data source '{}' has a program (ProtoVM), but buffer {} ({}) keeps no "
                         "states",
                         setup.data_source, Raw(setup.buffer), buffer->info->name));
    return {};
  }
  if (buffer->vms->SetUp(setup.data_source, wire::AsBytes(setup.program), setup.memory_limit_kb,
                         setup.producer, wire::AsBytes(setup.state)))
    return {};
  return Fail(
      ErrorCode::kLimit,
      fmt::format("buffer {} has more than {} programs (ProtoVM), or {} of them", Raw(setup.buffer),
                  protovm::BufferVms::kMaxVms, HumanSize(protovm::BufferVms::kMaxProgramBytes)),
      {}, "replay without them: --protovm off");
}

void SessionBuffer::VisitPrograms(const ProgramVisitor& visit) const {
  if (vms != nullptr) vms->Visit(visit);
  if (const auto* const runner = dynamic_cast<const ProgramRunner*>(engine.get()))
    runner->VisitPrograms(visit);
}

}  // namespace ringscope
