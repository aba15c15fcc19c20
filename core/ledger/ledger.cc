#include "core/ledger/ledger.h"

#include "core/ledger/buffer_ledger.h"

namespace ringscope {
void ReportedLosses::Add(const Op& op, const LogMoment& moment) {
  const auto* gap = std::get_if<RecorderGap>(&op.body);
  if (gap == nullptr) return;
  if (list_.size() == limit_) {
    ++unlisted_;
    return;
  }
  list_.push_back({*gap, moment});
}

std::optional<size_t> ReportedLosses::Between(const LogMoment& first, const LogMoment& last,
                                              SequenceKey sequence) const {
  auto at = std::ranges::lower_bound(list_, first.record, {},
                                     [](const ReportedLoss& loss) { return loss.at.record; });
  for (; at != list_.end() && at->at.record <= last.record; ++at)
    if (at->Concerns(sequence)) return static_cast<size_t>(at - list_.begin());
  return std::nullopt;
}

FateCount FateCounts::all() const {
  FateCount sum;
  for (const FateRow& row : kEnumRows<Fate>)
    if (row.group != FateGroup::kDropped) sum += (*this)[row.value];
  return sum;
}

FateCount FateCounts::Of(FateGroup group) const {
  FateCount sum;
  for (const FateRow& row : kEnumRows<Fate>)
    if (row.group == group) sum += (*this)[row.value];
  return sum;
}

FateCounts& FateCounts::operator+=(const FateCounts& other) {
  for (size_t i = 0; i < kFates; ++i) (*this)[i] += other[i];
  return *this;
}

LedgerTotals& LedgerTotals::operator+=(const LedgerTotals& other) {
  written += other.written;
  by_fate += other.by_fate;
  own_fault += other.own_fault;
  duplicates += other.duplicates;
  returned += other.returned;
  return *this;
}

Ledger::Ledger(LedgerSinks sinks) : sinks_(std::move(sinks)) {}
Ledger::~Ledger() = default;

ledger::BufferLedger& Ledger::Of(BufferId id) {
  std::unique_ptr<ledger::BufferLedger>& buffer = buffers_[id];
  if (buffer == nullptr)
    buffer = std::make_unique<ledger::BufferLedger>(id, now_, reported_, sinks_);
  return *buffer;
}

ledger::BufferLedger& Ledger::Touch(BufferId id) {
  if (touched_.empty() || touched_.back() != id) touched_.push_back(id);
  return Of(id);
}

/// A buffer is at its end: its accounts go into the totals.
void Ledger::Close(BufferId id) {
  const auto buffer = buffers_.find(id);
  if (buffer == buffers_.end()) return;
  buffer->second->Finish();
  totals_[id] += buffer->second->totals();
  buffers_.erase(buffer);
}

void Ledger::OnRecord(const Op& op, const LogMoment& moment) {
  std::sort(touched_.begin(), touched_.end());
  const auto end = std::unique(touched_.begin(), touched_.end());
  for (auto id = touched_.begin(); id != end; ++id) {
    const auto buffer = buffers_.find(*id);
    if (buffer == buffers_.end()) continue;
    buffer->second->Settle();
    ++settled_;
  }
  touched_.clear();
  now_ = moment;
  reported_.Add(op, moment);
}
void Ledger::OnBufferSetUp(SessionBuffer& buffer) {
  Of(buffer.id).SetEngine(*buffer.info, buffer.requested_size, buffer.policy);
}
void Ledger::OnBufferReplaced(SessionBuffer& buffer) { Close(buffer.id); }
void Ledger::OnChunk(BufferId buffer, const ChunkCommit& commit, std::optional<Refusal> refusal) {
  written_.Take(commit);
  sinks_.Call(&LedgerSink::OnChunkWritten, buffer, written_);
  if (refusal)
    Of(buffer).Refused(written_, *refusal);
  else
    Of(buffer).BeginChunk(written_);
}
void Ledger::OnChunkDone(BufferId buffer, const ChunkCommit&) { Of(buffer).EndChunk(); }
void Ledger::OnReadBegun(BufferId buffer) { Of(buffer).BeginRead(); }
Status Ledger::OnPacket(const SessionPacket& packet) {
  if (packet.packet->place == kUnknownPlace) {
    if (packet.packet->size == 0) return {};  // an empty fragment is no packet that was written
    return Fail(ErrorCode::kUnsupported,
                fmt::format("buffer {}: the plug-in does not report the places of its packets, so "
                            "that their fates are unknown",
                            Raw(packet.buffer)),
                {}, "'stats', 'diff' and 'replay -o' need no places");
  }
  Touch(packet.buffer).OnRead(packet, /*is_taken=*/false);
  return {};
}
void Ledger::OnTakenPacket(const SessionPacket& packet) {
  Touch(packet.buffer).OnRead(packet, /*is_taken=*/true);
}
void Ledger::OnBufferEvent(const BufferEvent& event) { Touch(event.buffer).OnEvent(event); }
void Ledger::OnDrainBegun(BufferId buffer) { Of(buffer).Settle(); }
void Ledger::OnDrainEvent(const BufferEvent& event) { Of(event.buffer).OnDrainEvent(event); }
void Ledger::OnDrainPacket(BufferId buffer, const Packet& packet) {
  Of(buffer).OnDrainPacket(packet);
}
void Ledger::OnDrained() {
  while (!buffers_.empty()) Close(buffers_.begin()->first);
}

std::string Ledger::Check() const {
  std::string problems;
  for (const auto& [id, totals] : totals_) {
    const FateCount sum = totals.by_fate.all();
    if (sum != totals.written)
      problems += fmt::format(
          "buffer {}: {} packets of {} bytes were written, but {} packets of {} bytes have a "
          "fate\n",
          Raw(id), totals.written.packets, totals.written.bytes, sum.packets, sum.bytes);
    const uint64_t came_out = totals[Fate::kRead].packets + totals[Fate::kReadBefore].packets +
                              totals[Fate::kInvalid].packets + totals.duplicates.packets;
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
