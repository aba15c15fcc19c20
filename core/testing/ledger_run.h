#ifndef RINGSCOPE_CORE_TESTING_LEDGER_RUN_H_
#define RINGSCOPE_CORE_TESTING_LEDGER_RUN_H_

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/compare/stored_ops.h"
#include "core/engine/catalogue.h"
#include "core/ledger/ledger.h"
#include "core/perfetto/packet_validator.h"
#include "core/session/buffer_observer.h"
#include "core/session/session.h"

namespace ringscope {

/// Operations through one engine, reported to a ledger as a session would.
class LedgerRun {
 public:
  /// @param info, sink must outlive it. Fails if the engine cannot be made.
  static Result<std::unique_ptr<LedgerRun>> Create(const EngineInfo& info, uint64_t size,
                                                   FillPolicy policy, LedgerSink& sink);

  void Apply(const StreamStep& step);
  void Finish();
  /// Has this called with each packet that is returned, before the ledger gets it.
  void TellOfPackets(std::function<void(const Packet&)> tell) { tell_ = std::move(tell); }
  /// After Finish.
  const Ledger& ledger() const { return ledger_; }
  /// Why the engine could not continue; nullptr: it could.
  const Error* failure() const { return buffer_.engine->failure(); }

 private:
  explicit LedgerRun(LedgerSink& sink) : ledger_(sink) {}
  void Read(uint64_t max_packets);

  Ledger ledger_;
  LogMoment now_;
  ReplayListeners listeners_{ledger_};
  BufferObserver observer_{BufferId{1}, now_, listeners_};
  SessionBuffer buffer_;
  uint64_t records_ = 0;
  std::function<void(const Packet&)> tell_;  // may be empty
};

inline Result<std::unique_ptr<LedgerRun>> LedgerRun::Create(const EngineInfo& info, uint64_t size,
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

inline void LedgerRun::Apply(const StreamStep& step) {
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

inline void LedgerRun::Read(uint64_t max_packets) {
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

inline void LedgerRun::Finish() {
  observer_.BeginDrain();
  ledger_.OnDrainBegun(buffer_.id);
  buffer_.engine->BeginRead();
  while (const Packet* packet = buffer_.engine->NextPacket()) {
    if (tell_) tell_(*packet);
    ledger_.OnDrainPacket(buffer_.id, *packet);
  }
  ledger_.OnDrained();
}

}  // namespace ringscope

#endif
