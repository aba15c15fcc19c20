#include "core/payload/patches_ahead.h"

#include <algorithm>

#include "core/base/wire.h"

namespace ringscope {
namespace {

PatchesAhead::Chunk ChunkOf(ProducerId producer, const ChunkToPatch& patched) {
  return {{producer, WriterId{static_cast<uint16_t>(patched.writer.value_or(0))}},
          ChunkId{static_cast<uint32_t>(patched.chunk.value_or(0))}};
}

}  // namespace

std::optional<uint64_t> PatchedSizeOf(Bytes data) {
  if (data.size() != kPatchSize) return std::nullopt;
  const wire::Varint size = wire::ReadVarint(data);
  if (size.size != kPatchSize) return std::nullopt;
  return size.value;
}

auto PatchesAhead::Add(const Commit& commit) -> std::vector<Chunk> {
  parser_.Parse(commit.request);
  for (const ChunkToPatch& patched : parser_.patches()) {
    Entry& entry = chunks_[ChunkOf(commit.producer, patched)];
    ++entry.requests;
    bool are_sizes = true;
    for (const PatchSpan& patch : patched.patches) {
      are_sizes = are_sizes && PatchedSizeOf(patch.data) && patch.offset <= UINT16_MAX;
      entry.places.offsets.push_back(static_cast<uint32_t>(patch.offset));
    }
    std::ranges::sort(entry.places.offsets);
    entry.places.are_all = !patched.more && are_sizes;
  }
  std::vector<Chunk> waiting;
  constexpr uint8_t kWaits = kNeedsPatching | kLastContinues;
  for (const ChunkToMove& chunk : parser_.chunks()) {
    if (!chunk.data || chunk.incomplete) continue;
    const std::optional<ChunkHeader> header = ParseChunkHeader(*chunk.data);
    if (header && (header->flags & kWaits) == kWaits)
      waiting.push_back({{commit.producer, header->writer}, header->chunk});
  }
  return waiting;
}

void PatchesAhead::Remove(const Commit& commit) {
  if (chunks_.empty()) return;
  parser_.Parse(commit.request);
  for (const ChunkToPatch& patched : parser_.patches()) {
    const auto entry = chunks_.find(ChunkOf(commit.producer, patched));
    if (entry != chunks_.end() && --entry->second.requests == 0) chunks_.erase(entry);
  }
}

auto PatchesAhead::Find(const Chunk& chunk) const -> const Places* {
  const auto entry = chunks_.find(chunk);
  return entry == chunks_.end() ? nullptr : &entry->second.places;
}

}  // namespace ringscope
