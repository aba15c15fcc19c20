#ifndef RINGSCOPE_CORE_SMB_MEMORY_DEMAND_H_
#define RINGSCOPE_CORE_SMB_MEMORY_DEMAND_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "core/base/ids.h"
#include "core/base/wire.h"
#include "core/smb/chunk_use.h"
#include "core/smb/memory_sends.h"
#include "core/smb/page_layout.h"

namespace ringscope::smb {

/// What the bytes of a committed chunk, header and payload, show of its use.
/// @param capacity bytes of payload that the chunk has space for: a log may leave out unused ones
ChunkContent ReadContent(Bytes chunk, size_t capacity);

/// Uses of chunks, as long as there is memory for them.
class KeptUses {
 public:
  /// @param left how many more may be kept: shared with others
  explicit KeptUses(std::shared_ptr<size_t> left) : left_(std::move(left)) {}
  void Add(const ChunkUse& use) {
    shows_loss_ |= use.content.shows_loss();
    if (*left_ == 0) {
      is_cut_ = true;
      return;
    }
    --*left_;
    uses_.push_back(use);
  }
  /// A look shows no free chunk.
  void AddFullLook(uint64_t time_ns) {
    if (full_looks_.size() < kMostFullLooks) full_looks_.push_back(time_ns);
  }
  const std::vector<ChunkUse>& uses() const { return uses_; }
  const std::vector<uint64_t>& full_looks() const { return full_looks_; }
  /// There were more.
  bool is_cut() const { return is_cut_; }
  /// Of all uses, also those that are not kept.
  bool shows_loss() const { return shows_loss_; }

 private:
  static constexpr size_t kMostFullLooks = 10'000;
  std::shared_ptr<size_t> left_;
  std::vector<ChunkUse> uses_;
  std::vector<uint64_t> full_looks_;
  bool is_cut_ = false;
  bool shows_loss_ = false;
};

/// What a producer's writers asked of its shared memory, as looks and commits show it.
struct MemoryDemand {
  ProducerId producer{};
  uint64_t size = 0;           // bytes, as recorded
  uint64_t page_size = 0;      // bytes, as recorded
  size_t chunks_per_page = 1;  // of most pages that were divided
  uint64_t first_ns = 0;       // of the first and last look
  uint64_t last_ns = 0;
  bool is_partial = false;     // looks are missing, or uses were not kept
  bool was_free = false;       // looks prove that a chunk was free at any time
  std::vector<ChunkUse> uses;  // those taken first, first
  /// Times that a writer lost packets because no chunk was free, by markers of aborted packets and
  /// flags of the packets that follow. What it wrote meanwhile is not in `uses`.
  uint64_t losses = 0;
  uint64_t between_packets = 0;  // of these: no packet was aborted, only the next one is flagged
  uint64_t seen_full = 0;        // of these: meanwhile a look shows no free chunk
  std::vector<uint64_t> full_looks;  // the first of them, by time
  EarlySends early;
  /// What the writers would have asked for in these times, if they had kept their pace. No look or
  /// commit shows it.
  std::vector<ChunkUse> assumed;

  /// Puts `uses` in order, and finds the losses, and what was sent early.
  void Finish();
  /// Everything that was asked for is in `uses`. (Of a writer that found no chunk, and then wrote
  /// nothing more, there is no sign.)
  bool is_known() const { return losses == 0 && !is_partial && was_free; }
  /// Bytes of a chunk, its header included, at a page size.
  uint64_t ChunkSize(uint64_t page_bytes) const {
    return ChunkBytes(static_cast<size_t>(page_bytes), chunks_per_page);
  }
  /// Bytes of a chunk's payload, at a page size.
  size_t Capacity(uint64_t page_bytes) const;
  /// Chunks that it had.
  uint64_t RecordedChunks() const { return Chunks(size, page_size); }
  /// Chunks of a memory of that size.
  uint64_t Chunks(uint64_t bytes, uint64_t page_bytes) const {
    return bytes / page_bytes * chunks_per_page;
  }
};

/// When uses began at the earliest and ended at the latest, each in ascending order.
struct WidestTimes {
  std::vector<uint64_t> starts;
  std::vector<uint64_t> ends;
};
/// @param sent_when_due if nothing had been sent for filling half of the memory
WidestTimes WidestTimesOf(const std::vector<ChunkUse>& uses, bool sent_when_due = false);

/// The uses as they would be with pages of another size: writers fill the chunks with the same
/// bytes, evenly from taking a chunk until returning it; a chunk that was returned before it was
/// full is so again.
std::vector<ChunkUse> Repack(const std::vector<ChunkUse>& uses, size_t old_capacity,
                             size_t capacity);

}  // namespace ringscope::smb

#endif  // RINGSCOPE_CORE_SMB_MEMORY_DEMAND_H_
