#ifndef RINGSCOPE_CORE_CHUNK_IDS_H_
#define RINGSCOPE_CORE_CHUNK_IDS_H_

#include <cstdint>

#include "core/ids.h"

namespace ringscope {

/// A chunk id counted on beyond 2^32: the number nearest to the sequence's newest one whose lower
/// 32 bits are the id. The first id of a sequence stands for itself.
inline uint64_t UnwrapChunkId(bool has_newest, uint64_t newest, ChunkId id) {
  if (!has_newest) return Raw(id);
  const auto step = static_cast<int32_t>(Raw(id) - static_cast<uint32_t>(newest));
  const auto unwrapped = static_cast<int64_t>(newest) + step;
  return unwrapped < 0 ? Raw(id) : static_cast<uint64_t>(unwrapped);
}

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_CHUNK_IDS_H_
