#include "core/gaps/gap_analysis.h"

#include <algorithm>

#include "core/base/wire.h"
#include "core/perfetto/packet_facts.h"

namespace ringscope {

using gaps::GapFinder;

GapFinder& GapAnalysis::Of(BufferId id) {
  std::unique_ptr<GapFinder>& buffer = buffers_[id];
  if (buffer == nullptr) buffer = std::make_unique<GapFinder>(id, now_, unused_, reported_);
  return *buffer;
}

void GapAnalysis::OnRecord(const Op& op, const LogMoment& moment) {
  now_ = moment;
  clock_.AddRecord(op);
  if (const auto* clocks = std::get_if<ClockSnapshotRecord>(&op.body))
    stale_.AddClocks(wire::AsBytes(clocks->snapshot));
  reported_.Add(op, moment);
  memory_.OnRecord(op, moment);
}

void GapAnalysis::OnChunkWritten(BufferId id, WrittenCommit& written) {
  const ChunkCommit& commit = written.commit();
  Of(id).OnChunk(commit, memory_.AddChunk(commit, written.chunk()));
  const ChunkName chunk{commit.sequence, commit.chunk};
  stale_.AddChunk(id, written, clock_.start_ns(), now_.time_ns,
                  [&](size_t fragment, const PacketFacts& facts, Bytes content, Bytes packet,
                      std::optional<uint64_t> time_ns) {
                    kinds_.Add(id, chunk, fragment, facts, content, packet);
                    times_.Add(id, chunk, fragment, time_ns);
                    if (!time_ns) return;
                    newest_ns_ = std::max(newest_ns_, *time_ns);
                    ++events_;
                  });
}

void GapAnalysis::OnPacketFate(const PacketAccount& account) {
  last_kind_ = kinds_.Of(account);
  if (account.fate == Fate::kOverwritten) {
    if (account.culprit) ++evictors_[account.culprit->sequence];
    uint64_t& newest_ns = newest_overwritten_ns_[account.buffer];
    newest_ns = std::max(newest_ns, times_.Of(account));
  }
  if (account.written.time_ns && account.fate != Fate::kWriterDropped)
    over_time_.Add(*account.written.time_ns, IsLoss(account.fate));
  Of(account.buffer).OnPacketFate(account, last_kind_);
}

void GapAnalysis::OnChunkForgotten(BufferId buffer, SequenceKey sequence, uint64_t chunk) {
  kinds_.Forget(buffer, sequence, chunk);
  times_.Forget(buffer, sequence, chunk);
}

void GapAnalysis::OnReturned(const PacketAccount& account, const SessionPacket& packet) {
  const std::span<const Bytes> slices = packet.packet->slices;
  const Bytes bytes = Joined(slices, joined_);
  // Of a packet in one slice, the ledger has read the same bytes.
  const PacketFacts facts = slices.size() == 1 ? account.facts : ReadPacketFacts(bytes);
  Of(packet.buffer).OnPacket(account, facts);
}

/// The buffer is at its end.
void GapAnalysis::Close(BufferId id) {
  const auto buffer = buffers_.find(id);
  if (buffer == buffers_.end()) return;
  buffer->second->Finish(done_[id]);
  buffers_.erase(buffer);
}

GapReport GapAnalysis::Finish(const std::map<BufferId, LedgerTotals>& totals) {
  while (!buffers_.empty()) Close(buffers_.begin()->first);
  GapReport report;
  for (auto& [id, done] : done_) {
    BufferGaps& buffer = report.buffers.emplace_back(std::move(done));
    buffer.id = id;
    buffer.newest_overwritten_ns = newest_overwritten_ns_[id];
    if (const auto total = totals.find(id); total != totals.end()) buffer.totals = total->second;
  }
  for (size_t i = 0; i < evictors_.size(); ++i)
    report.evictors.push_back({evictors_.At(i).key, evictors_.At(i).value});
  std::ranges::stable_sort(report.evictors, std::ranges::greater(), &EvictorCount::packets);
  report.over_time = over_time_;
  report.wrong_patches = std::move(wrong_patches_);
  report.reported = reported_.list();
  report.unlisted_reports = reported_.unlisted();
  report.stale = stale_.Result();
  report.newest_ns = newest_ns_;
  report.events = events_;
  return report;
}

}  // namespace ringscope
