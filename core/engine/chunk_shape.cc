#include "core/engine/chunk_shape.h"

#include "core/engine/engine.h"

namespace ringscope {

ChunkShape ReadShape(const ChunkCommit& commit, std::vector<ShapeFragment>& out) {
  ChunkShape shape;
  shape.payload_size = static_cast<uint32_t>(commit.payload.size());
  out.clear();
  shape.end = VisitFragments(commit.payload, commit.fragments, [&](const Fragment& fragment) {
    const auto header = static_cast<uint8_t>(fragment.body - fragment.offset);
    shape.has_long_varint |= header > kMaxVarintV1;
    out.push_back({.end = static_cast<uint16_t>(fragment.end), .header = header, .traits = 0});
  });
  shape.fragments = out;
  if (shape.end == FragmentStatus::kWriterDrop) {
    const uint32_t at = out.empty() ? 0 : out.back().end;
    shape.has_long_varint |=
        ReadFragmentSize(commit.payload.data() + at, shape.payload_size - at, kMaxVarintV1).size ==
        0;
  }
  return shape;
}

}  // namespace ringscope
