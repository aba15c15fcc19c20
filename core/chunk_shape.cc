#include "core/chunk_shape.h"

#include "core/engine.h"

namespace ringscope {

FragmentStatus ReadShape(const ChunkCommit& commit, std::vector<ShapeFragment>& out) {
  const auto size = static_cast<uint32_t>(commit.payload.size());
  uint32_t offset = 0;
  for (uint32_t i = 0; i < commit.fragments; ++i) {
    Fragment fragment;
    const FragmentStatus status = ReadFragment(commit.payload.data(), size, offset, fragment);
    if (status != FragmentStatus::kFragment) return status;
    out.push_back({.end = static_cast<uint16_t>(fragment.end),
                   .header = static_cast<uint8_t>(fragment.body - fragment.offset),
                   .traits = 0});
    offset = fragment.end;
  }
  return FragmentStatus::kFragment;
}

}  // namespace ringscope
