#include "core/gaps/stale_packets.h"

#include "core/perfetto/fragment.h"

namespace ringscope {

void StalePackets::AddChunk(BufferId buffer, const ChunkCommit& commit,
                            std::optional<uint64_t> now_ns, const Visitor& visit) {
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
  ReadWrittenChunk(commit, written_);
  for (size_t i = sequence.fragments; i < written_.fragments.size(); ++i) {
    const WrittenFragment& fragment = written_.fragments[i];
    const bool begins =
        fragment.kind == FragmentKind::kWhole || fragment.kind == FragmentKind::kBegin;
    if (!begins || fragment.size == 0) continue;
    Fragment place;
    const auto size = static_cast<uint32_t>(commit.payload.size());
    if (ReadFragment(commit.payload.data(), size, fragment.offset, place) !=
        FragmentStatus::kFragment)
      break;
    const Bytes packet = commit.payload.subspan(place.body, place.size());
    Bytes content;
    const PacketFacts facts = ReadPacketFacts(packet, &content);
    if (visit) visit(i, facts, content, packet);
    const std::optional<uint64_t> time = sequence.clocks.TimeOf(facts, packet, clocks_);
    if (!time || !now_ns) continue;
    StaleSequence& result = sequence.result;
    ++result.packets;
    const uint64_t delay = *now_ns > *time ? *now_ns - *time : 0;
    if (delay > limit_ns_) ++result.stale;
    if (delay <= result.longest_ns) continue;
    result.longest_ns = delay;
    result.longest_chunk = Raw(commit.chunk);
  }
  sequence.fragments = std::max(sequence.fragments, written_.fragments.size());
}

std::vector<StaleSequence> StalePackets::Result() const {
  std::vector<StaleSequence> stale;
  for (const auto& [key, sequence] : sequences_)
    if (sequence.result.stale > 0) stale.push_back(sequence.result);
  return stale;
}

}  // namespace ringscope
