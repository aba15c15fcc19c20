#include "core/ledger/ledger.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/ledger/ledger_buffer.h"

namespace ringscope {
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

FateCount FateCounts::all() const {
  FateCount sum;
  for (const FateCount& count : *this) sum += count;
  return sum;
}

FateCount FateCounts::lost() const {
  FateCount sum;
  for (size_t i = 0; i < kFates; ++i)
    if (IsLoss(static_cast<Fate>(i))) sum += (*this)[i];
  return sum;
}

class Ledger::Impl {
 public:
  explicit Impl(LedgerSink& sink) : sink_(sink) {}

  ledger::BufferLedger& Of(BufferId id) {
    std::unique_ptr<ledger::BufferLedger>& buffer = buffers_[id];
    if (buffer == nullptr) buffer = std::make_unique<ledger::BufferLedger>(id, now_, sink_);
    return *buffer;
  }
  /// The same, where something happens that may have to be told at the end of the record.
  ledger::BufferLedger& Touch(BufferId id) {
    if (touched_.empty() || touched_.back() != id) touched_.push_back(id);
    return Of(id);
  }

  /// A buffer is at its end: its accounts go into the totals.
  void Close(BufferId id) {
    const auto buffer = buffers_.find(id);
    if (buffer == buffers_.end()) return;
    buffer->second->Finish();
    Add(totals_[id], buffer->second->totals());
    buffers_.erase(buffer);
  }
  void CloseAll() {
    while (!buffers_.empty()) Close(buffers_.begin()->first);
  }

  void BeginRecord(const LogMoment& moment) {
    std::sort(touched_.begin(), touched_.end());
    const auto end = std::unique(touched_.begin(), touched_.end());
    for (auto id = touched_.begin(); id != end; ++id)
      if (const auto buffer = buffers_.find(*id); buffer != buffers_.end())
        buffer->second->Settle();
    touched_.clear();
    now_ = moment;
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
  std::vector<BufferId> touched_;  // by the record under way
  std::map<BufferId, LedgerTotals> totals_;
};

Ledger::Ledger(LedgerSink& sink) : impl_(std::make_unique<Impl>(sink)) {}
Ledger::~Ledger() = default;

const std::map<BufferId, LedgerTotals>& Ledger::totals() const { return impl_->totals(); }

void Ledger::OnRecord(const Op&, const LogMoment& moment) { impl_->BeginRecord(moment); }
void Ledger::OnBufferSetUp(SessionBuffer& buffer) {
  if (!buffer.info->reports_events)
    impl_->Of(buffer.id).SetSilent(buffer.requested_size, buffer.policy);
}
void Ledger::OnBufferReplaced(SessionBuffer& buffer) { impl_->Close(buffer.id); }
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
  impl_->Touch(packet.buffer).OnRead(*packet.packet, packet.valid);
  return {};
}

void Ledger::OnBufferEvent(const BufferEvent& event) { impl_->Touch(event.buffer).OnEvent(event); }
void Ledger::OnDrainBegun(BufferId buffer) { impl_->Of(buffer).Settle(); }
void Ledger::OnDrainEvent(const BufferEvent& event) { impl_->Of(event.buffer).OnDrainEvent(event); }
void Ledger::OnDrainPacket(BufferId buffer, const Packet& packet) {
  impl_->Of(buffer).OnDrainPacket(packet);
}
void Ledger::OnDrained() { impl_->CloseAll(); }

std::string Ledger::Check() const {
  std::string problems;
  for (const auto& [id, totals] : impl_->totals()) {
    const FateCount sum = totals.by_fate.all();
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
  if (!problems.empty())
    problems.insert(0,
                    "the fates of the packets do not add up, which is a bug in ringscope; please "
                    "report it with the log: ");
  return problems;
}

}  // namespace ringscope
