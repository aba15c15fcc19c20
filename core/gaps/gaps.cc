#include "core/gaps/gaps.h"

#include "core/base/wire.h"
#include "core/perfetto/packet_facts.h"

namespace ringscope {

using gaps::GapBuffer;

GapBuffer& GapAnalysis::Of(BufferId id) {
  std::unique_ptr<GapBuffer>& buffer = buffers_[id];
  if (buffer == nullptr) buffer = std::make_unique<GapBuffer>(id, now_, unused_);
  return *buffer;
}

void GapAnalysis::OnRecord(const Op& op, const LogMoment& moment) {
  now_ = moment;
  if (const auto* clocks = std::get_if<ClockSnapshotRecord>(&op.body))
    stale_.AddClocks(wire::AsBytes(clocks->snapshot));
}

void GapAnalysis::OnChunk(BufferId id, const ChunkCommit& commit, std::optional<Refusal>) {
  Of(id).OnChunk(commit);
  stale_.AddChunk(id, commit, now_.time_ns);
}

void GapAnalysis::OnPacketFate(const PacketAccount& account) {
  last_ = account;
  Of(account.buffer).OnPacketFate(account);
}

/// The ledger reported this packet just before.
Status GapAnalysis::OnPacket(const SessionPacket& packet) {
  if (!packet.valid) return {};
  const Bytes bytes = Joined(packet.packet->slices, joined_);
  const PacketFacts facts = ReadPacketFacts(bytes);
  ftrace_.AddPacket(bytes, facts.content);
  Of(packet.buffer).OnPacket(last_, facts);
  return {};
}

/// The buffer is at its end.
void GapAnalysis::Close(BufferId id) {
  const auto buffer = buffers_.find(id);
  if (buffer == buffers_.end()) return;
  std::vector<SequenceGaps>& done = done_[id];
  for (SequenceGaps& sequence : buffer->second->Finish()) done.push_back(std::move(sequence));
  buffers_.erase(buffer);
}

GapReport GapAnalysis::Finish(const std::map<BufferId, LedgerTotals>& totals) {
  while (!buffers_.empty()) Close(buffers_.begin()->first);
  GapReport report;
  for (auto& [id, sequences] : done_) {
    BufferGaps& buffer = report.buffers.emplace_back();
    buffer.id = id;
    if (const auto total = totals.find(id); total != totals.end()) buffer.totals = total->second;
    buffer.sequences = std::move(sequences);
  }
  report.ftrace = ftrace_.Result();
  report.stale = stale_.Result();
  return report;
}

}  // namespace ringscope
