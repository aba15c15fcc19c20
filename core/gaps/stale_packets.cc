#include "core/gaps/stale_packets.h"

#include "core/perfetto/fields.h"
#include "core/trace/ftrace_counters.h"

namespace ringscope {

void StalePackets::AddChunk(BufferId buffer, WrittenCommit& written, uint64_t start_ns,
                            std::optional<uint64_t> now_ns, const Visitor& visit) {
  const ChunkCommit& commit = written.commit();
  Sequence& sequence = sequences_[{buffer, commit.sequence}];
  sequence.result.buffer = buffer;
  sequence.result.sequence = commit.sequence;
  const bool again = sequence.chunk == commit.chunk;
  if (!again) {
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
    if (visit) visit(i, packet.facts, packet.content, packet.bytes, time);
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

}  // namespace ringscope
