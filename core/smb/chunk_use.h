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
  bool shows_loss() const { return is_aborted || follows_loss; }
  friend bool operator==(const ChunkContent&, const ChunkContent&) = default;
};

/// When a chunk is sent that was returned, as long as what is held back does not fill half of the
/// memory. As it was sent, unless that is why.
struct DueTime {
  uint64_t likely_ns = kNotOver;
  uint64_t latest_ns = kNotOver;
};

/// One use of a chunk: from the moment that a writer takes it until it is free again.
struct ChunkUse {
  ChunkHolder holder;
  Moment taken;
  Moment returned;                   // by its writer
  Moment freed;                      // by the service
  uint64_t committed_ns = kNotOver;  // named by a commit; kNotOver: no commit shows it
  DueTime due = {};                  // see FindDueTimes
  ChunkContent content;
};

/// The time from one moment to another; 0: it is not later.
constexpr uint64_t Between(uint64_t from_ns, uint64_t to_ns) {
  return to_ns > from_ns ? to_ns - from_ns : 0;
}

}  // namespace ringscope::smb

#endif  // RINGSCOPE_CORE_SMB_CHUNK_USE_H_
