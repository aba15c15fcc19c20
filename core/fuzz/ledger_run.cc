#include "core/fuzz/ledger_run.h"

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
  while (const Packet* packet = buffer_.engine->NextPacket())
    ledger_.OnDrainPacket(buffer_.id, *packet);
  ledger_.OnDrained();
}

std::string CheckLedger(const EngineInfo& info, const PlainStream& stream) {
  class Unexplained : public LedgerSink {
   public:
    void OnPacketFate(const PacketAccount& account) override {
      count += account.fate == Fate::kUnexplained ? 1 : 0;
    }
    uint64_t count = 0;
  } unexplained;
  if (!info.reports.chunks) return "";
  const auto run = LedgerRun::Create(info, stream.size, stream.policy, unexplained);
  if (!run) return "";  // the duel reports that
  for (const auto& step : stream.steps) {
    step->With([&](const StreamStep& view) { (*run)->Apply(view); });
    if ((*run)->failure() != nullptr) return "";
  }
  (*run)->Finish();
  if (std::string wrong = (*run)->ledger().Check(); !wrong.empty()) return wrong;
  if (unexplained.count == 0) return "";
  return fmt::format("the events do not explain what became of {} packets", unexplained.count);
}

}  // namespace ringscope
