#include "core/engine/chunk_shape.h"

#include "core/engine/engine.h"

namespace ringscope {

FragmentStatus ReadShape(const ChunkCommit& commit, std::vector<ShapeFragment>& out) {
  return VisitFragments(commit.payload, commit.fragments, [&](const Fragment& fragment) {
    out.push_back({.end = static_cast<uint16_t>(fragment.end),
                   .header = static_cast<uint8_t>(fragment.body - fragment.offset),
                   .traits = 0});
  });
}

}  // namespace ringscope
