#ifndef RINGSCOPE_CORE_ENGINE_CHUNK_SHAPE_H_
#define RINGSCOPE_CORE_ENGINE_CHUNK_SHAPE_H_

#include <cstdint>
#include <span>
#include <vector>

#include "core/perfetto/fragment.h"

namespace ringscope {

struct ChunkCommit;

/// A fragment without its bytes.
struct ShapeFragment {
  uint16_t end = 0;    // offset after its last byte in the payload; the next one begins there
  uint8_t header = 0;  // bytes of its size varint
  uint8_t traits = 0;  // of a packet that begins here, see packet_traits.h
};
static_assert(sizeof(ShapeFragment) == 4);

/// A chunk's payload without its bytes: all that a buffer needs to know of it to decide what is
/// kept.
struct ChunkShape {
  std::span<const ShapeFragment> fragments;  // those that could be read, at most as counted
  uint32_t payload_size = 0;                 // bytes of the commit's payload
  /// What follows the fragments; kFragment: as many were there as counted.
  FragmentStatus end = FragmentStatus::kFragment;
  /// A size varint is longer than the buffers of V1 read: they find other fragments than V2.
  bool has_long_varint = false;
  uint64_t committed_ns = 0;  // log time of the commit
  // Of all the fragments:
  uint32_t content_bytes = 0;  // without their size varints
  uint16_t filled = 0;         // that are not empty

  /// To be called once `fragments` are there.
  void CountFragments();
};

/// The bytes that a size varint has at most in V1, which reads no longer ones.
inline constexpr size_t kMaxVarintV1 = 4;

/// Reads the shape of a commit with payload.
/// @param out gets the fragments, in place of what it had: the shape points to them
ChunkShape ReadShape(const ChunkCommit& commit, std::vector<ShapeFragment>& out);

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_ENGINE_CHUNK_SHAPE_H_
