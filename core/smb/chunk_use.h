#ifndef RINGSCOPE_CORE_SMB_CHUNK_USE_H_
#define RINGSCOPE_CORE_SMB_CHUNK_USE_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "core/smb/memory_picture.h"

namespace ringscope::smb {

/// Where a chunk is in a memory: its page and its place there.
using ChunkSlot = std::pair<size_t, size_t>;

/// When something happened, as looks show it: after `from`, at the latest at `to`. Times in ns.
struct Moment {
  uint64_t from = 0;
  uint64_t to = 0;
  friend bool operator==(const Moment&, const Moment&) = default;
};

/// It was not over when the looks ended.
inline constexpr uint64_t kNotOver = UINT64_MAX;

/// What a writer put into a chunk.
struct ChunkContent {
  uint32_t bytes = 0;         // of its payload that are used
  uint32_t packets = 0;       // that begin in it
  bool is_known = false;      // a commit has its bytes
  bool is_full = false;       // its writer needed another one
  bool is_aborted = false;    // it ends with the marker of an aborted packet
  bool follows_loss = false;  // its first packet is flagged by its producer: others were dropped
  friend bool operator==(const ChunkContent&, const ChunkContent&) = default;
};

/// One use of a chunk: from the moment that a writer takes it until it is free again.
struct ChunkUse {
  ChunkHolder holder;
  Moment taken;
  Moment returned;  // by its writer
  Moment freed;     // by the service
  ChunkContent content;
};

}  // namespace ringscope::smb

#endif  // RINGSCOPE_CORE_SMB_CHUNK_USE_H_
