#include "core/payload/patches_ahead.h"

#include <algorithm>

#include "core/base/wire.h"

namespace ringscope {
std::optional<uint64_t> PatchedSizeOf(Bytes data) {
  if (data.size() != kPatchSize) return std::nullopt;
  const wire::Varint size = wire::ReadVarint(data);
  if (size.size != kPatchSize) return std::nullopt;
  return size.value;
}

std::vector<ChunkName> PatchesAhead::Add(const Commit& commit) {
  parser_.Parse(commit.request);
  for (const ChunkToPatch& patched : parser_.patches()) {
    Entry& entry = chunks_[patched.NameFor(commit.producer)];
    ++entry.requests;
    bool are_sizes = true;
    for (const PatchSpan& patch : patched.patches) {
      are_sizes = are_sizes && PatchedSizeOf(patch.data) && patch.offset <= UINT16_MAX;
      entry.places.offsets.push_back(static_cast<uint32_t>(patch.offset));
    }
    std::ranges::sort(entry.places.offsets);
    entry.places.are_all = !patched.more && are_sizes;
  }
  std::vector<ChunkName> waiting;
  constexpr uint8_t kWaits = kNeedsPatching | kLastContinues;
  for (const ChunkToMove& chunk : parser_.chunks()) {
    const std::optional<ChunkHeader> header = chunk.header();
    if (header && !chunk.incomplete && (header->flags & kWaits) == kWaits)
      waiting.push_back({{commit.producer, header->writer}, header->chunk});
  }
  return waiting;
}

void PatchesAhead::Remove(const Commit& commit) {
  if (chunks_.empty()) return;
  parser_.Parse(commit.request);
  for (const ChunkToPatch& patched : parser_.patches()) {
    const auto entry = chunks_.find(patched.NameFor(commit.producer));
    if (entry != chunks_.end() && --entry->second.requests == 0) chunks_.erase(entry);
  }
}

auto PatchesAhead::Find(const ChunkName& chunk) const -> const Places* {
  const auto entry = chunks_.find(chunk);
  return entry == chunks_.end() ? nullptr : &entry->second.places;
}

}  // namespace ringscope
