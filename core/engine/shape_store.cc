#include "core/engine/shape_store.h"

namespace ringscope::v2 {

void ShapeStore::Write(ChunkRef ref, const StoredChunk&, const ChunkCommit&, uint32_t bytes) {
  Entry& entry = entries_[ref & entry_mask_];
  SetFragments(entry, *incoming_, bytes);
  entry.release = fragments_.end();
  entry.committed_ns = incoming_->committed_ns;
}

/// The chunk keeps the time of its first commit, and its place in the order in which fragments are
/// freed: it leaves the ring of chunks before any whose fragments follow its new ones.
void ShapeStore::Rewrite(ChunkRef ref, const StoredChunk&, const ChunkCommit&, uint32_t bytes) {
  SetFragments(entries_[ref & entry_mask_], *incoming_, bytes);
  next_offset_ = UINT32_MAX;
}

void ShapeStore::SetFragments(Entry& entry, const ChunkShape& shape, uint32_t bytes) {
  entry.at = fragments_.end();
  if (shape.fragments.empty() || shape.fragments.back().end <= bytes) {
    entry.bytes = shape.content_bytes;
    entry.count = static_cast<uint16_t>(shape.fragments.size());
    entry.packets = shape.filled;
    fragments_.Add(shape.fragments);
    return;
  }
  entry.bytes = 0;
  entry.count = 0;
  entry.packets = 0;
  uint32_t begin = 0;
  for (const ShapeFragment& fragment : shape.fragments) {
    if (fragment.end > bytes) break;
    const uint32_t size = fragment.end - begin - fragment.header;
    begin = fragment.end;
    entry.bytes += size;
    if (size > 0) ++entry.packets;
    ++entry.count;
    fragments_.Add(fragment);
  }
}

/// Index of the chunk's fragment that begins at `offset`.
uint32_t ShapeStore::Find(const Entry& entry, uint32_t offset) {
  if (offset == 0) return 0;
  uint32_t low = 0, high = entry.count;  // the first whose end is not before `offset`
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    if (fragments_[entry.at + middle].end < offset)
      low = middle + 1;
    else
      high = middle;
  }
  if (low < entry.count && fragments_[entry.at + low].end == offset) return low + 1;
  SetProblem("a chunk was re-committed with other fragments");
  return entry.count;
}

FragmentStatus ShapeStore::Read(ChunkRef ref, const StoredChunk& chunk, uint32_t offset,
                                Fragment& out) {
  if (offset >= chunk.payload_size) return FragmentStatus::kNone;
  const Entry& entry = entries_[ref & entry_mask_];
  const bool continues = ref == next_ref_ && offset == next_offset_;
  uint32_t index = continues ? next_index_ : Find(entry, offset);
  if (index >= entry.count) return FragmentStatus::kNone;
  const ShapeFragment& shape = fragments_[entry.at + index];
  out = {.offset = offset, .body = offset + shape.header, .end = shape.end};
  traits_ = shape.traits;
  next_ref_ = ref;
  next_offset_ = shape.end;
  next_index_ = index + 1;
  return FragmentStatus::kFragment;
}

WholePackets ShapeStore::ReadWhole(const StoredChunk& chunk, const Fragment& first,
                                   bool same_traits) {
  const Entry& entry = entries_[next_ref_ & entry_mask_];
  const bool continues = (chunk.flags & kLastContinues) != 0;
  WholePackets whole{.fragments = 1,
                     .packets = first.size() > 0 ? 1u : 0u,
                     .bytes = first.size(),
                     .end = first.end};
  while (next_index_ < entry.count && whole.end < chunk.payload_size) {
    const ShapeFragment& next = fragments_[entry.at + next_index_];
    if ((continues && next.end >= chunk.payload_size) || (same_traits && next.traits != traits_))
      break;
    const uint32_t size = next.end - whole.end - next.header;
    ++whole.fragments;
    whole.packets += size > 0 ? 1 : 0;
    whole.bytes += size;
    whole.end = next.end;
    ++next_index_;
  }
  next_offset_ = whole.end;
  return whole;
}

bool ShapeStore::ReadLast(ChunkRef ref, Fragment& out) {
  const Entry& entry = entries_[ref & entry_mask_];
  if (entry.count == 0) return false;
  const ShapeFragment& last = fragments_[entry.at + entry.count - 1u];
  const uint32_t begin = entry.count == 1 ? 0 : fragments_[entry.at + entry.count - 2u].end;
  out = {.offset = begin, .body = begin + last.header, .end = last.end};
  return true;
}

void ShapeStore::Apply(ChunkRef ref, const StoredChunk& chunk, const Patch& patch) {
  const Entry& entry = entries_[ref & entry_mask_];
  const uint64_t patch_end = patch.offset + kPatchSize;
  uint32_t begin = 0;
  for (uint32_t i = 0; i < entry.count && begin < patch_end; ++i) {
    const ShapeFragment& shape = fragments_[entry.at + i];
    const Fragment hit{.offset = begin, .body = begin + shape.header, .end = shape.end};
    begin = shape.end;
    if (hit.end <= patch.offset) continue;
    if (patch.offset < hit.body) {
      SetProblem("a patch changes the size of a fragment");
    } else if (KindOf(hit, chunk.payload_size, chunk.flags) == FragmentKind::kWhole) {
      SetProblem("a patch changes a packet that needs none");
    }
  }
}

void ShapeStore::GrowEntries(const ChunkRing& chunks) {
  std::vector<Entry> old(entries_.empty() ? 64 : entries_.size() * 2);
  old.swap(entries_);
  const uint32_t old_mask = entry_mask_;
  entry_mask_ = static_cast<uint32_t>(entries_.size() - 1);
  for (ChunkRef ref = chunks.begin(); ref != chunks.end(); ++ref)
    entries_[ref & entry_mask_] = old[ref & old_mask];
}

}  // namespace ringscope::v2
