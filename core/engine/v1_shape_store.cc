#include <algorithm>

#include "core/engine/v1_stores.h"

namespace ringscope::v1 {

void ShapeStore::Write(ChunkSlot slot, const Chunk& chunk, const ChunkCommit&) {
  if (entries_.size() <= slot) entries_.resize(slot + 1);
  Entry& entry = entries_[slot];
  SetFragments(entry, chunk);
  entry.release = fragments_.end();
  entry.committed_ns = incoming_->committed_ns;
  entry.accounted = 0;
}

/// The chunk keeps the time of its first commit, and its place in the order in which fragments are
/// freed: it leaves the buffer before any whose fragments follow its new ones.
void ShapeStore::Rewrite(ChunkSlot slot, const Chunk& chunk, const ChunkCommit&) {
  SetFragments(entries_[slot], chunk);
}

void ShapeStore::SetFragments(Entry& entry, const Chunk& chunk) {
  const ChunkShape& shape = *incoming_;
  const auto count = std::min<size_t>(chunk.fragments, shape.fragments.size());
  entry.at = fragments_.end();
  entry.count = static_cast<uint16_t>(count);
  fragments_.Add(shape.fragments.first(count));
  if (count == shape.fragments.size()) {
    entry.content_bytes = shape.content_bytes;
    entry.filled = shape.filled;
  } else {
    ChunkShape part;
    part.fragments = shape.fragments.first(count);
    part.CountFragments();
    entry.content_bytes = part.content_bytes;
    entry.filled = part.filled;
  }
  entry.end = FragmentStatus::kFragment;
  if (shape.has_long_varint) SetProblem("a size varint is longer than V1 reads");
  if (chunk.fragments == count) return;
  entry.end = shape.end;
  // The bytes for alignment count as payload, so that what follows the fragments may be others.
  if (shape.end != FragmentStatus::kWriterDrop)
    SetProblem("a chunk counts more fragments than it has");
  else if (chunk.last_continues())
    SetProblem("a packet continues after its writer aborted it");
}

FragmentStatus ShapeStore::Read(ChunkSlot slot, const Chunk& chunk, Fragment& out) {
  const Entry& entry = entries_[slot];
  const uint32_t index = chunk.fragments_read;
  const uint32_t begin = index <= entry.count ? BeginOf(slot, index) : UINT32_MAX;
  if (begin != chunk.next_fragment) {
    SetProblem("a chunk was re-committed with other fragments");
    return FragmentStatus::kCorrupted;
  }
  if (index == entry.count) return entry.end;
  const ShapeFragment& shape = fragments_[entry.at + index];
  out = {.offset = begin, .body = begin + shape.header, .end = shape.end};
  traits_ = shape.traits;
  return FragmentStatus::kFragment;
}

PacketCount ShapeStore::ContentOf(ChunkSlot slot, uint32_t first, uint32_t end) const {
  const Entry& entry = entries_[slot];
  const bool most = (end - std::min(first, end)) * 2 > entry.count;
  PacketCount content = most ? PacketCount{entry.filled, entry.content_bytes} : PacketCount();
  const auto visit = [&](uint32_t from, uint32_t to, auto take) {
    for (uint32_t i = from; i < to; ++i)
      if (const uint32_t size = SizeOf(slot, i); size > 0) take(size);
  };
  if (!most) {
    visit(first, end, [&](uint32_t size) { content += {1, size}; });
    return content;
  }
  // All but the few others.
  const auto take_out = [&](uint32_t size) {
    --content.packets;
    content.bytes -= size;
  };
  visit(0, first, take_out);
  visit(end, entry.count, take_out);
  return content;
}

WholePackets ShapeStore::ReadWhole(ChunkSlot slot, const Chunk& chunk) const {
  const Entry& entry = entries_[slot];
  const uint32_t first = chunk.fragments_read;
  const uint32_t whole = chunk.fragments - (chunk.last_continues() ? 1u : 0u);
  const uint32_t end = std::min<uint32_t>(whole, entry.count);
  WholePackets found{.end = chunk.next_fragment};
  for (uint32_t i = first; i < end; ++i) {
    const ShapeFragment& next = fragments_[entry.at + i];
    const uint32_t size = next.end - found.end - next.header;
    if (next.traits != traits_ || size == 0) break;
    ++found.fragments;
    ++found.packets;
    found.bytes += size;
    found.end = next.end;
  }
  return found;
}

void ShapeStore::Apply(ChunkSlot slot, const Chunk& chunk, const Patch& patch) {
  const Entry& entry = entries_[slot];
  const uint64_t patch_end = patch.offset + kPatchSize;
  uint32_t begin = 0;
  for (uint32_t i = 0; i < entry.count; ++i) {
    if (begin >= patch_end) return;
    const ShapeFragment& shape = fragments_[entry.at + i];
    const uint32_t body = begin + shape.header;
    begin = shape.end;
    if (shape.end <= patch.offset) continue;
    const bool continues = i == 0 && chunk.first_continues();
    const bool continued = i + 1u == chunk.fragments && chunk.last_continues();
    if (patch.offset < body)
      SetProblem("a patch changes the size of a fragment");
    else if (!continues && !continued)
      SetProblem("a patch changes a packet that needs none");
  }
  if (begin < patch_end && entry.count < chunk.fragments)
    SetProblem("a patch changes an aborted packet");
}

void ShapeStore::CheckKept(ChunkSlot slot, const Chunk& chunk) {
  const Entry& entry = entries_[slot];
  const auto count = std::min<size_t>(entry.count, incoming_->fragments.size());
  bool same = count == entry.count && count == std::min(entry.count, chunk.fragments);
  for (size_t i = 0; i < count; ++i) {
    const ShapeFragment& kept = fragments_[entry.at + i];
    same &=
        kept.end == incoming_->fragments[i].end && kept.header == incoming_->fragments[i].header;
  }
  if (!same) SetProblem("a chunk was re-committed with other fragments");
}

}  // namespace ringscope::v1
