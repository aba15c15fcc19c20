#include "core/engine/chunk_shape.h"

#include "core/engine/engine.h"

namespace ringscope {

void ChunkShape::CountFragments() {
  uint32_t begin = 0;
  content_bytes = filled = 0;
  for (const ShapeFragment& fragment : fragments) {
    const uint32_t size = fragment.end - begin - fragment.header;
    begin = fragment.end;
    content_bytes += size;
    filled = static_cast<uint16_t>(filled + (size > 0 ? 1 : 0));
  }
}

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
  shape.CountFragments();
  if (shape.end == FragmentStatus::kWriterDrop) {
    const uint32_t at = out.empty() ? 0 : out.back().end;
    shape.has_long_varint |=
        ReadFragmentSize(commit.payload.data() + at, shape.payload_size - at, kMaxVarintV1).size ==
        0;
  }
  return shape;
}

}  // namespace ringscope
