#include "core/ledger.h"

#include <fmt/format.h>

#include "core/ledger_buffer.h"

namespace ringscope {
namespace {

struct CauseName {
  Cause cause;
  const char* name;
};

constexpr std::array<const char*, kFates> kFateNames = {
    "read", "readable",  "stalled",    "overwritten", "discarded",  "writer_dropped",
    "cut",  "corrupted", "incomplete", "invalid",     "unexplained"};

constexpr std::array kCauseNames = {
    CauseName{Cause::kNone, "none"},
    CauseName{Cause::kEvicted, "evicted"},
    CauseName{Cause::kSealed, "sealed"},
    CauseName{Cause::kFull, "full"},
    CauseName{Cause::kTooLarge, "too_large"},
    CauseName{Cause::kAlreadyConsumed, "already_consumed"},
    CauseName{Cause::kBadRecommit, "bad_recommit"},
    CauseName{Cause::kNoSharedMemory, "no_shared_memory"},
    CauseName{Cause::kNoSuchPage, "no_such_page"},
    CauseName{Cause::kNoSuchBuffer, "no_such_buffer"},
    CauseName{Cause::kMayNotWrite, "may_not_write"},
    CauseName{Cause::kAborted, "aborted"},
    CauseName{Cause::kNeverCommitted, "never_committed"},
    CauseName{Cause::kBrokenChain, "broken_chain"},
    CauseName{Cause::kReadGap, "read_gap"},
    CauseName{Cause::kGivenUp, "given_up"},
    CauseName{Cause::kBrokenSize, "broken_size"},
    CauseName{Cause::kResent, "resent"},
    CauseName{Cause::kWaitsForPatch, "waits_for_patch"},
    CauseName{Cause::kWaitsForChunk, "waits_for_chunk"},
    CauseName{Cause::kWaitsForCompletion, "waits_for_completion"},
    CauseName{Cause::kBehindGivenUp, "behind_given_up"},
    CauseName{Cause::kUnfinished, "unfinished"},
    CauseName{Cause::kRejected, "rejected"},
};

}  // namespace

const char* Name(Fate fate) { return kFateNames[static_cast<size_t>(fate)]; }

std::optional<Fate> FateFromName(std::string_view name) {
  for (size_t i = 0; i < kFates; ++i)
    if (name == kFateNames[i]) return static_cast<Fate>(i);
  return std::nullopt;
}

bool IsLoss(Fate fate) {
  switch (fate) {
    case Fate::kRead:
    case Fate::kReadable:
    case Fate::kStalled:
    case Fate::kIncomplete:
      return false;
    default:
      return true;
  }
}

const char* Name(Cause cause) {
  for (const CauseName& entry : kCauseNames)
    if (entry.cause == cause) return entry.name;
  return "";
}

std::optional<Cause> CauseFromName(std::string_view name) {
  for (const CauseName& entry : kCauseNames)
    if (entry.name == name) return entry.cause;
  return std::nullopt;
}

FateCount LedgerTotals::lost() const {
  FateCount lost;
  for (size_t i = 0; i < kFates; ++i)
    if (IsLoss(static_cast<Fate>(i))) lost += by_fate[i];
  return lost;
}

class Ledger::Impl {
 public:
  explicit Impl(LedgerSink& sink) : sink_(sink) {}

  ledger::BufferLedger& Of(BufferId id) {
    std::unique_ptr<ledger::BufferLedger>& buffer = buffers_[id];
    if (buffer == nullptr) buffer = std::make_unique<ledger::BufferLedger>(id, now_, sink_);
    return *buffer;
  }

  /// A buffer is at its end: its accounts go into the totals.
  void Close(BufferId id, Engine* engine) {
    const auto buffer = buffers_.find(id);
    if (buffer == buffers_.end()) return;
    buffer->second->Finish(engine);
    Add(totals_[id], buffer->second->totals());
    // The observer is handed out: it stays, with empty accounts.
    buffer->second->Reset();
  }

  void CloseAll(const Session& session) {
    for (const auto& [id, buffer] : buffers_) {
      const auto open = session.buffers().find(id);
      Close(id, open == session.buffers().end() ? nullptr : open->second.engine.get());
    }
  }

  void BeginRecord(const Op& op, uint64_t number) {
    for (const auto& [id, buffer] : buffers_) buffer->Settle();
    now_.record = number;
    if (op.time_ns) now_.time_ns = op.time_ns;
  }

  const std::map<BufferId, LedgerTotals>& totals() const { return totals_; }

 private:
  static void Add(LedgerTotals& sum, const LedgerTotals& more) {
    sum.written += more.written;
    for (size_t i = 0; i < kFates; ++i) sum.by_fate[i] += more.by_fate[i];
    sum.own_fault += more.own_fault;
    sum.duplicates += more.duplicates;
    sum.returned += more.returned;
  }

  LedgerSink& sink_;
  LogMoment now_;
  std::map<BufferId, std::unique_ptr<ledger::BufferLedger>> buffers_;
  std::map<BufferId, LedgerTotals> totals_;
};

Ledger::Ledger(LedgerSink& sink) : impl_(std::make_unique<Impl>(sink)) {}
Ledger::~Ledger() = default;

EngineObserver* Ledger::Observer(BufferId buffer) { return &impl_->Of(buffer); }
void Ledger::Finish(const Session& session) { impl_->CloseAll(session); }
const std::map<BufferId, LedgerTotals>& Ledger::totals() const { return impl_->totals(); }

void Ledger::OnRecord(const Op& op, uint64_t number) { impl_->BeginRecord(op, number); }
void Ledger::OnBufferSetUp(SessionBuffer& buffer) {
  if (!buffer.info->reports_events)
    impl_->Of(buffer.id).SetSilent(buffer.requested_size, buffer.policy);
}
void Ledger::OnBufferReplaced(SessionBuffer& buffer) {
  impl_->Close(buffer.id, buffer.engine.get());
}
void Ledger::OnChunk(BufferId buffer, const ChunkCommit& commit, std::optional<Refusal> refusal) {
  if (refusal)
    impl_->Of(buffer).Refused(commit, *refusal);
  else
    impl_->Of(buffer).BeginChunk();
}
void Ledger::OnChunkDone(BufferId buffer, const ChunkCommit& commit) {
  impl_->Of(buffer).EndChunk(commit);
}
void Ledger::OnReadBegun(BufferId buffer) { impl_->Of(buffer).BeginRead(); }
Status Ledger::OnPacket(const SessionPacket& packet) {
  impl_->Of(packet.buffer).OnRead(*packet.packet, packet.valid);
  return {};
}

std::string Ledger::Check() const {
  std::string problems;
  for (const auto& [id, totals] : impl_->totals()) {
    FateCount sum;
    for (const FateCount& count : totals.by_fate) sum += count;
    if (!(sum == totals.written))
      problems += fmt::format(
          "buffer {}: {} packets of {} bytes were written, but {} packets of {} bytes have a "
          "fate\n",
          Raw(id), totals.written.packets, totals.written.bytes, sum.packets, sum.bytes);
    const uint64_t came_out =
        totals[Fate::kRead].packets + totals[Fate::kInvalid].packets + totals.duplicates.packets;
    if (came_out != totals.returned)
      problems += fmt::format("buffer {}: {} packets were returned, but {} are accounted for\n",
                              Raw(id), totals.returned, came_out);
  }
  return problems;
}

}  // namespace ringscope
