#include "core/compare/ledger_run.h"

#include <fmt/format.h>

#include "core/perfetto/packet_validator.h"
#include "core/session/session.h"

namespace ringscope {

Result<std::unique_ptr<LedgerRun>> LedgerRun::Create(const EngineInfo& info, uint64_t size,
                                                     FillPolicy policy, LedgerSink& sink) {
  std::unique_ptr<LedgerRun> run(new LedgerRun(sink));
  SessionBuffer& buffer = run->buffer_;
  buffer.id = BufferId{1};
  buffer.requested_size = size;
  buffer.policy = policy;
  buffer.info = &info;
  RS_ASSIGN_OR_RETURN(buffer.engine,
                      info.create({.size = size, .policy = policy, .observer = &run->observer_}));
  run->ledger_.OnBufferSetUp(buffer);
  return run;
}

void LedgerRun::Apply(const StreamStep& step) {
  now_.record = ++records_;
  ledger_.OnRecord({}, now_);
  switch (step.kind) {
    case StreamStep::Kind::kCommit:
      ledger_.OnChunk(buffer_.id, step.commit, std::nullopt);
      observer_.BeginCommit(step.commit);
      buffer_.engine->Commit(step.commit);
      observer_.EndCommit();
      ledger_.OnChunkDone(buffer_.id, step.commit);
      break;
    case StreamStep::Kind::kPatch:
      buffer_.engine->ApplyPatches(step.patches);
      break;
    case StreamStep::Kind::kRead:
      Read(step.max_packets);
      break;
    case StreamStep::Kind::kClone:  // leaves the buffer as it is
      break;
  }
}

void LedgerRun::Read(uint64_t max_packets) {
  ledger_.OnReadBegun(buffer_.id);
  buffer_.engine->BeginRead();
  for (uint64_t n = 0; n < max_packets; ++n) {
    const Packet* packet = buffer_.engine->NextPacket();
    if (packet == nullptr) return;
    if (tell_) tell_(*packet);
    static_cast<void>(ledger_.OnPacket({.buffer = buffer_.id,
                                        .packet = packet,
                                        .sequence_id = 2,
                                        .valid = IsValidPacket(packet->slices)}));
  }
}

void LedgerRun::Finish() {
  observer_.BeginDrain();
  ledger_.OnDrainBegun(buffer_.id);
  buffer_.engine->BeginRead();
  while (const Packet* packet = buffer_.engine->NextPacket()) {
    if (tell_) tell_(*packet);
    ledger_.OnDrainPacket(buffer_.id, *packet);
  }
  ledger_.OnDrained();
}

namespace {

/// Puts a stream through an engine and a ledger.
/// @param before (step) called before each step; @param tell see TellOfPackets
/// @return nullptr: the engine reports no events, or fails, which the duel reports
template <typename Before>
std::unique_ptr<LedgerRun> RunLedger(const EngineInfo& info, const PlainStream& stream,
                                     LedgerSink& sink, Before before,
                                     std::function<void(const Packet&)> tell = {}) {
  if (!info.reports.chunks) return nullptr;
  auto run = LedgerRun::Create(info, stream.size, stream.policy, sink);
  if (!run) return nullptr;
  (*run)->TellOfPackets(std::move(tell));
  for (const auto& step : stream.steps) {
    step->With([&](const StreamStep& view) {
      before(view);
      (*run)->Apply(view);
    });
    if ((*run)->failure() != nullptr) return nullptr;
  }
  (*run)->Finish();
  return std::move(*run);
}

}  // namespace

std::string CheckLedger(const EngineInfo& info, const PlainStream& stream) {
  class Unexplained : public LedgerSink {
   public:
    void OnPacketFate(const PacketAccount& account) override {
      count += account.fate == Fate::kUnexplained ? 1 : 0;
    }
    uint64_t count = 0;
  } unexplained;
  const auto run = RunLedger(info, stream, unexplained, [](const StreamStep&) {});
  if (run == nullptr) return "";
  if (std::string wrong = run->ledger().Check(); !wrong.empty()) return wrong;
  // Of an engine that does not report what a read abandons, that is unknown, and nothing is wrong.
  if (unexplained.count == 0 || !info.reports.abandoned) return "";
  return fmt::format("the events do not explain what became of {} packets", unexplained.count);
}

std::vector<FoundFault> FindLossFaults(const EngineInfo& info, const PlainStream& stream) {
  LossCheck judge(!info.flags_first_of_sequence);
  const auto run = RunLedger(
      info, stream, judge,
      [&](const StreamStep& step) {
        if (step.kind == StreamStep::Kind::kCommit) judge.OnCommit(step.commit);
        if (step.kind == StreamStep::Kind::kPatch) judge.OnPatches(step.patches);
      },
      [&](const Packet& packet) { judge.OnReturned(packet); });
  return run == nullptr ? std::vector<FoundFault>() : judge.Faults();
}

}  // namespace ringscope
