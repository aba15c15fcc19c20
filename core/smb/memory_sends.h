#ifndef RINGSCOPE_CORE_SMB_MEMORY_SENDS_H_
#define RINGSCOPE_CORE_SMB_MEMORY_SENDS_H_

#include <cstddef>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "core/smb/chunk_use.h"

namespace ringscope::smb {

// When a producer sends the chunks that its writers have returned: some time after the first of
// them, or as soon as they fill half of the memory. Source: Perfetto's shared memory arbiter.

/// Chunks that were returned and not sent.
class HeldChunks {
 public:
  /// @param chunk_bytes header included
  /// @param memory_bytes of the whole memory; UINT64_MAX: they are never sent for their number
  HeldChunks(uint64_t chunk_bytes, uint64_t memory_bytes)
      : chunk_bytes_(chunk_bytes), half_(memory_bytes / 2) {}

  /// @return whether the producer sends all of them at once
  bool Add(size_t use) {
    held_.insert(use);
    return held_.size() * chunk_bytes_ >= half_;
  }
  /// The time has come to send this one. @return false: it was sent before
  bool Send(size_t use) { return held_.erase(use) > 0; }
  std::set<size_t> SendAll() { return std::exchange(held_, {}); }

 private:
  const uint64_t chunk_bytes_;
  const uint64_t half_;
  std::set<size_t> held_;
};

/// Requests that were sent because chunks filled half of the memory, as far as their sizes show it.
struct EarlySends {
  uint64_t requests = 0;
  /// The longest that a producer held back the first chunk of another request.
  uint64_t delay_ns = 0;
};
/// Sets when the uses' chunks would have been sent if they had not filled half of the memory.
/// @param chunk_bytes header included
EarlySends FindDueTimes(std::vector<ChunkUse>& uses, uint64_t chunk_bytes, uint64_t memory_bytes);

/// The earliest moments at which the uses may be over in a memory of that size, each as short as
/// looks allow, in their order. What fills half of the memory may be sent earlier than recorded.
std::vector<uint64_t> EarliestEnds(const std::vector<ChunkUse>& uses, uint64_t chunk_bytes,
                                   uint64_t memory_bytes);

}  // namespace ringscope::smb

#endif  // RINGSCOPE_CORE_SMB_MEMORY_SENDS_H_
