#ifndef RINGSCOPE_CORE_SMB_MEMORY_STALL_H_
#define RINGSCOPE_CORE_SMB_MEMORY_STALL_H_

#include <cstdint>
#include <vector>

#include "core/smb/chunk_use.h"
#include "core/smb/memory_sends.h"

namespace ringscope::smb {

/// Which of the moments that looks allow is taken.
enum class EventTimes : uint8_t { kLikely, kEarlyFree, kLateFree };

struct StallTotals {
  uint64_t waits = 0;
  uint64_t waited_ns = 0;
  uint64_t longest_ns = 0;
  uint64_t gave_up = 0;
};

/// How long a writer sleeps after so many searches in vain, in ns.
/// Source: Perfetto's shared memory arbiter.
uint64_t SleepAfter(uint64_t searches);

/// Writers wait for chunks, and do what follows so much later. A writer that is not served in
/// kMostSearches searches drops, without waiting, until it finds a chunk.
/// @param uses those taken first, first
/// @param held nothing yet
StallTotals SimulateStall(const std::vector<ChunkUse>& uses, uint64_t chunks, EventTimes times,
                          HeldChunks held);

}  // namespace ringscope::smb

#endif  // RINGSCOPE_CORE_SMB_MEMORY_STALL_H_
