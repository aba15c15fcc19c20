#include "commands/testing/session_store.h"

#include <utility>

#include "core/perfetto/packet_facts.h"
#include "formats/trace/perfetto_trace.h"

namespace ringscope::testing {
namespace {

/// An engine that a clone may take over from the session that has it.
class SharedEngine : public Engine {
 public:
  /// Is called with the engine that takes this one's place, as it is observed.
  using Replaced = std::function<void(std::shared_ptr<Engine>)>;

  SharedEngine(std::shared_ptr<Engine> engine, Replaced replaced)
      : engine_(std::move(engine)), replaced_(std::move(replaced)) {}

  void Commit(const ChunkCommit& commit) override { engine_->Commit(commit); }
  bool ApplyPatches(const ChunkPatches& patches) override { return engine_->ApplyPatches(patches); }
  void BeginRead() override { engine_->BeginRead(); }
  const Packet* NextPacket() override { return engine_->NextPacket(); }
  Result<std::unique_ptr<Engine>> Clone() const override { return engine_->Clone(); }
  Result<std::unique_ptr<Engine>> ObserveBy(EngineObserver* observer) override {
    RS_ASSIGN_OR_RETURN(std::shared_ptr<Engine> engine, engine_->ObserveBy(observer));
    replaced_(engine);
    return std::make_unique<SharedEngine>(std::move(engine), replaced_);
  }
  const BufferStats& stats() const override { return engine_->stats(); }
  void VisitWriterStats(const std::function<void(const WriterStats&)>& visit) const override {
    engine_->VisitWriterStats(visit);
  }
  std::string CheckInvariants() const override { return engine_->CheckInvariants(); }

 private:
  const std::shared_ptr<Engine> engine_;
  const Replaced replaced_;
};

}  // namespace

/// Gets the packets of a pass.
class SessionStore::Collector : public ReplayListener {
 public:
  Status OnPacket(const SessionPacket& read) override {
    if (!read.valid) return {};
    std::string& packet = packets.emplace_back();
    packet.reserve(read.packet->size + 16);
    for (const Bytes slice : read.packet->slices) packet += wire::AsText(slice);
    AppendTrustedFields(packet, read.packet->identity, read.sequence_id, read.packet->dropped,
                        read.machine);
    return {};
  }

  Status OnProtoVms(const ProtoVmsRead& read) override {
    AddOfService(proto::TracePacket::kTraceProvenance, read.listing);
    AddOfService(proto::TracePacket::kProtovms, read.protovms);
    return {};
  }

  std::vector<std::string> packets;

 private:
  void AddOfService(uint32_t field, Bytes content) {
    std::string& packet = packets.emplace_back();
    wire::AppendBytes(packet, field, content);
    AppendTrustedFields(packet, {.uid = 0, .pid = -1}, kServiceSequenceId, 0);
  }
};

SessionStore::SessionStore() : collector_(std::make_shared<Collector>()) {
  Session::Options options;
  options.make_engine = [this](const EngineInfo& info, const EngineConfig& config,
                               BufferId id) -> Result<std::unique_ptr<Engine>> {
    std::shared_ptr<Engine> engine = std::exchange(content_, nullptr);
    if (engine == nullptr) {
      RS_ASSIGN_OR_RETURN(engine, info.create(config));
    }
    engines_[id] = engine;
    observed_.erase(id);
    return std::make_unique<SharedEngine>(std::move(engine),
                                          [this, id](std::shared_ptr<Engine> replacement) {
                                            engines_[id] = std::move(replacement);
                                            observed_.insert(id);
                                          });
  };
  session_ = std::make_unique<Session>(std::move(options), *collector_);
}

Status SessionStore::SetUp(NewBuffer buffer) {
  content_ = std::move(buffer.content);
  RS_RETURN_IF_ERROR(session_->Apply({.time_ns = {},
                                      .body = BufferSetUp{.id = buffer.id,
                                                          .index = buffer.index,
                                                          .size = buffer.size,
                                                          .policy = buffer.policy,
                                                          .engine = std::move(buffer.engine)}}));
  for (ProtoVmSetUp& program : buffer.programs) {
    program.buffer = buffer.id;
    RS_RETURN_IF_ERROR(session_->Apply({.time_ns = {}, .body = std::move(program)}));
  }
  return {};
}

std::vector<ProtoVmSetUp> SessionStore::Programs(BufferId id) const {
  std::vector<ProtoVmSetUp> programs;
  const SessionBuffer& buffer = session_->buffers().at(id);
  if (buffer.vms == nullptr) return programs;
  buffer.vms->Visit([&](const ProgramState& vm) {
    for (const ProducerId producer : vm.producers)
      programs.push_back({.buffer = id,
                          .producer = producer,
                          .data_source = std::string(vm.data_source),
                          .program = std::string(wire::AsText(vm.program)),
                          .memory_limit_kb = vm.memory_limit_kb,
                          .state = std::string(wire::AsText(vm.state))});
  });
  return programs;
}

void SessionStore::Apply(const OpBody& fact) {
  static_cast<void>(session_->Apply({.time_ns = {}, .body = fact}));
}

void SessionStore::Commit(ProducerId producer, Bytes request, Origin origin) {
  ringscope::Commit commit;
  commit.producer = producer;
  commit.origin = origin;
  commit.request = request;
  // Only engines of plug-ins can fail.
  static_cast<void>(session_->Apply({.time_ns = {}, .body = commit}));
}

auto SessionStore::Read(uint64_t max_bytes) -> Pass {
  const Result<bool> at_limit = session_->ReadAllBuffers(max_bytes);
  return {std::exchange(collector_->packets, {}), at_limit.value_or(false)};
}

Result<std::shared_ptr<Engine>> SessionStore::Copy(BufferId id) const {
  RS_ASSIGN_OR_RETURN(std::shared_ptr<Engine> copy, engines_.at(id)->Clone());
  return copy;
}

Result<std::shared_ptr<Engine>> SessionStore::Take(BufferId id) {
  // What observes the engine does not go with it.
  std::shared_ptr<Engine> taken = engines_.at(id);
  if (observed_.contains(id)) {
    RS_ASSIGN_OR_RETURN(taken, Copy(id));
  }
  RS_RETURN_IF_ERROR(session_->Apply(
      {.time_ns = {}, .body = BufferCloned{.clone = 0, .buffer = id, .transfer = true}}));
  return taken;
}

bool SessionStore::HoldsData(BufferId id) const {
  const BufferStats& stats = engines_.at(id)->stats();
  return stats.bytes_written > 0;
}

void SessionStore::Clear(BufferId id) { Apply(BufferCleared{id}); }

std::string SessionStore::TraceStats(const ServiceStats& service) {
  return EncodeTraceStats(*session_, service);
}

}  // namespace ringscope::testing
