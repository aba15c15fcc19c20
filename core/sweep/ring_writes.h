#ifndef RINGSCOPE_CORE_SWEEP_RING_WRITES_H_
#define RINGSCOPE_CORE_SWEEP_RING_WRITES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/base/ids.h"
#include "core/base/sequence_map.h"

namespace ringscope {

/// The space that the chunks of one buffer took, and its reads. From these follow the sizes that a
/// ring needs, by arithmetic: as if each read took all that is there. A replay tells whether that
/// is so. Memory: 4 bytes for each chunk.
class RingWrites {
 public:
  /// @param keep_from_ns of each sequence, the newest chunk that was committed by then is to be
  /// kept
  explicit RingWrites(uint64_t keep_from_ns) : keep_from_ns_(keep_from_ns) {}

  /// A chunk is committed in which a packet begins.
  /// @param bytes that were written to the buffer before it
  void AddPackets(SequenceKey sequence, uint64_t now_ns, uint64_t bytes) {
    SetBytes(bytes);
    std::optional<size_t>& from = kept_from_[sequence];
    if (!from || now_ns <= keep_from_ns_) from = chunks_.size();
  }
  void AddRead(uint64_t bytes) {
    SetBytes(bytes);
    reads_.push_back(chunks_.size());
  }
  /// Notes what was written since the last call. @param bytes of all chunks so far
  void SetBytes(uint64_t bytes) {
    if (bytes > bytes_) chunks_.push_back(static_cast<uint32_t>(bytes - bytes_));
    bytes_ = bytes;
  }

  /// The size of the smallest ring that overwrites nothing that was not read, in whole pages.
  uint64_t SizeToHoldAll() const { return SizeFrom(0, reads_); }
  /// The size of the smallest ring that has what is to be kept at the end, in whole pages.
  uint64_t SizeToKeep() const;

 private:
  uint64_t SizeFrom(size_t first, const std::vector<size_t>& reads) const;
  uint64_t HeldBy(uint64_t size, size_t first, const std::vector<size_t>& reads) const;

  const uint64_t keep_from_ns_;
  std::vector<uint32_t> chunks_;  // bytes that each takes
  std::vector<size_t> reads_;     // by the number of chunks before them
  uint64_t bytes_ = 0;
  SequenceMap<std::optional<size_t>> kept_from_;  // chunk to be kept
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_SWEEP_RING_WRITES_H_
