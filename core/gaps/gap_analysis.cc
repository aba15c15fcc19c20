#include "core/gaps/gap_analysis.h"

namespace ringscope {

void StalePackets::AddChunk(BufferId buffer, WrittenCommit& written, uint64_t start_ns,
                            std::optional<uint64_t> now_ns, const Visitor& visit) {
  const ChunkCommit& commit = written.commit();
  Sequence& sequence = sequences_[{buffer, commit.sequence}];
  sequence.result.buffer = buffer;
  sequence.result.sequence = commit.sequence;
  if (sequence.chunk != commit.chunk) {
    if (sequence.chunk && commit.chunk != Successor(*sequence.chunk)) {
      if (Precedes(commit.chunk, *sequence.chunk)) return;  // sent again: it was seen
      sequence.clocks.LosePackets();
    }
    sequence.chunk = commit.chunk;
    sequence.fragments = 0;
  }
  const std::vector<WrittenFragment>& fragments = written.chunk().fragments;
  for (size_t i = sequence.fragments; i < fragments.size(); ++i) {
    const WrittenFragment& fragment = fragments[i];
    const bool begins =
        fragment.kind == FragmentKind::kWhole || fragment.kind == FragmentKind::kBegin;
    if (!begins || fragment.size == 0) continue;
    const WrittenCommit::PacketBeginning& packet = written.PacketAt(i);
    std::optional<uint64_t> time = sequence.clocks.TimeOf(packet.facts, packet.bytes, clocks_);
    const std::optional<FtraceMoment> event =
        packet.facts.content == proto::TracePacket::kFtraceEvents ? FirstFtraceEvent(packet.content)
                                                                  : std::nullopt;
    if (event) time = event->time_ns;
    if (visit) visit(i, packet, time);
    if (!time || !now_ns) continue;
    StaleSequence& result = sequence.result;
    ++result.packets;
    if (*time < start_ns) continue;
    const StaleEvent stale{*time, *now_ns > *time ? *now_ns - *time : 0, Raw(commit.chunk),
                           event ? event->cpu : std::nullopt};
    if (stale.delay_ns > result.longest.delay_ns) result.longest = stale;
    if (stale.delay_ns <= kStaleNs) continue;
    ++result.stale;
    if (result.events.size() < StaleSequence::kMostListed) result.events.push_back(stale);
  }
  sequence.fragments = std::max(sequence.fragments, fragments.size());
}

std::vector<StaleSequence> StalePackets::Result() const {
  std::vector<StaleSequence> stale;
  for (const auto& [key, sequence] : sequences_)
    if (sequence.result.stale > 0) stale.push_back(sequence.result);
  return stale;
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
                  [&](size_t fragment, const WrittenCommit::PacketBeginning& packet,
                      std::optional<uint64_t> time_ns) {
                    kinds_.Add(id, chunk, fragment, packet.facts, packet.content, packet.bytes);
                    times_.Add(id, chunk, fragment, time_ns);
                    report_.newest_ns = std::max(report_.newest_ns, time_ns.value_or(0));
                    report_.events += time_ns ? 1 : 0;
                  });
}

void GapAnalysis::OnPacketFate(const PacketAccount& account) {
  last_kind_ = kinds_.Of(account);
  if (account.fate == Fate::kOverwritten) {
    if (account.culprit) ++evictors_[account.culprit->sequence];
    uint64_t& newest_ns = done_[account.buffer].newest_overwritten_ns;
    newest_ns = std::max(newest_ns, times_.Of(account));
  }
  if (account.written.time_ns && account.fate != Fate::kWriterDropped)
    report_.over_time.Add(*account.written.time_ns, IsLoss(account.fate));
  Of(account.buffer).OnPacketFate(account, last_kind_);
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
  if (const auto buffer = buffers_.extract(id)) buffer.mapped()->Finish(done_[id]);
}

GapReport GapAnalysis::Finish(const std::map<BufferId, LedgerTotals>& totals) {
  while (!buffers_.empty()) Close(buffers_.begin()->first);
  for (auto& [id, done] : done_) {
    BufferGaps& buffer = report_.buffers.emplace_back(std::move(done));
    buffer.id = id;
    if (const LedgerTotals* const total = FindIn(totals, id)) buffer.totals = *total;
  }
  for (size_t i = 0; i < evictors_.size(); ++i)
    report_.evictors.push_back({evictors_.At(i).key, evictors_.At(i).value});
  std::ranges::stable_sort(report_.evictors, std::ranges::greater(), &EvictorCount::packets);
  report_.reported = reported_.list();
  report_.unlisted_reports = reported_.unlisted();
  report_.stale = stale_.Result();
  return std::move(report_);
}

}  // namespace ringscope
