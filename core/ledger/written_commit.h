#ifndef RINGSCOPE_CORE_LEDGER_WRITTEN_COMMIT_H_
#define RINGSCOPE_CORE_LEDGER_WRITTEN_COMMIT_H_

#include "core/perfetto/fragment.h"
#include "core/perfetto/packet_facts.h"

namespace ringscope {

/// A chunk as it is committed, taken apart once for all who ask: its fragments, and what the
/// packets that begin in it contain, which is read when the first asks for it.
class WrittenCommit {
 public:
  /// A packet that begins in the chunk, as far as it is in it.
  struct PacketBeginning {
    PacketFacts facts;
    Bytes content;  // as ReadPacketFacts finds it
    Bytes bytes;
    bool is_read = false;
  };

  /// @param commit must stay as it is until the next call
  void Take(const ChunkCommit& commit) {
    commit_ = &commit;
    ReadWrittenChunk(commit, chunk_);
    packets_.resize(std::max(packets_.size(), chunk_.fragments.size()));
    for (size_t i = 0; i < chunk_.fragments.size(); ++i) packets_[i].is_read = false;
  }

  const ChunkCommit& commit() const { return *commit_; }
  const WrittenChunk& chunk() const { return chunk_; }
  /// Offset after the last byte of a fragment.
  uint32_t EndOf(size_t fragment) const {
    const bool is_last = fragment + 1 == chunk_.fragments.size();
    return is_last ? chunk_.bytes : chunk_.fragments[fragment + 1].offset;
  }
  /// The packet that begins with this fragment.
  const PacketBeginning& PacketAt(size_t fragment) {
    PacketBeginning& packet = packets_[fragment];
    if (packet.is_read) return packet;
    const uint32_t size = chunk_.fragments[fragment].size;
    packet.bytes = commit_->payload.subspan(EndOf(fragment) - size, size);
    // Patches will bring sizes of messages in a fragment that continues in the next chunk.
    const FragmentKind kind = chunk_.fragments[fragment].kind;
    const bool is_open = kind == FragmentKind::kBegin || kind == FragmentKind::kContinue;
    const bool lacks_sizes = is_open && (chunk_.flags & kNeedsPatching) != 0;
    packet.facts = ReadPacketFacts(packet.bytes, &packet.content,
                                   lacks_sizes ? SizesAre::kMissing : SizesAre::kThere);
    packet.is_read = true;
    return packet;
  }
  /// Calls visit(fragment) for those that have other bytes in the buffer.
  /// @param held the chunk's payload there; empty: not known
  template <typename Visit>
  void VisitOthers(Bytes held, Visit visit) const {
    for (size_t i = 0; i < chunk_.fragments.size(); ++i) {
      const uint32_t begin = chunk_.fragments[i].offset, end = EndOf(i);
      if (end <= held.size() && !std::ranges::equal(held.subspan(begin, end - begin),
                                                    commit_->payload.subspan(begin, end - begin)))
        visit(i);
    }
  }

 private:
  const ChunkCommit* commit_ = nullptr;
  WrittenChunk chunk_;
  std::vector<PacketBeginning> packets_;  // by fragment; there may be more than the chunk has
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_LEDGER_WRITTEN_COMMIT_H_
