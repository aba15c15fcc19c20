#ifndef RINGSCOPE_CORE_COMPARE_DIFF_CHUNKS_H_
#define RINGSCOPE_CORE_COMPARE_DIFF_CHUNKS_H_

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "core/base/chunk_map.h"
#include "core/base/ids.h"
#include "core/compare/log_diff.h"

namespace ringscope {

/// A chunk as one side has it.
struct ChunkOnSide {
  bool held = false;
  /// Place after the packet that was returned last: offset of its first fragment, plus 1.
  uint32_t returned_to = 0;
  uint64_t left = 0;  // count of the record during which it left the buffer, from 1
  uint64_t came = 0;  // likewise, when it was committed
  HeldChunk info;     // as it went in last; flags and sizes as they are now
  std::unique_ptr<HeldChunk> previous;  // if it left and came in one record: as that found it
  std::unique_ptr<DiffWhy> why;  // why packets of it may be missing: the last event of that kind
  std::vector<std::pair<uint32_t, DiffWhy>> abandoned;  // by offset of the packet's first fragment
};

/// The chunks that at least one side holds, or lost during the current record. Memory: O(chunks
/// held).
class DiffChunks {
 public:
  using Entry = Both<ChunkOnSide>;

  Entry* Find(const ChunkAt& chunk) {
    Chunks* const chunks = Of(chunk.buffer);
    return chunks == nullptr ? nullptr : chunks->Find(chunk.name);
  }
  /// Makes it if it is new. Entries stay where they are.
  Entry& At(const ChunkAt& chunk) {
    Chunks* const chunks = Of(chunk.buffer);
    return (chunks != nullptr ? *chunks : buffers_[chunk.buffer]).Add(chunk.name).first;
  }
  /// Notes a chunk that a side does not hold any more, or never took in, for DropGone.
  void MayBeGone(const ChunkAt& chunk) { may_be_gone_.push_back(chunk); }

  /// Drops chunks that no side holds any more, and calls `gone(ChunkAt)` for each before.
  template <typename F>
  void DropGone(F gone) {
    for (const ChunkAt& chunk : may_be_gone_) {
      const Entry* const entry = Find(chunk);
      if (entry == nullptr || entry->a.held || entry->b.held) continue;
      gone(chunk);
      Of(chunk.buffer)->Erase(chunk.name);
    }
    may_be_gone_.clear();
  }
  /// Drops all chunks of a buffer that another one has replaced.
  void DropBuffer(BufferId buffer) {
    buffers_.erase(buffer);
    last_ = {};
  }
  /// Calls `visit(ChunkName, const Entry&)` for each chunk of a buffer, in no order.
  template <typename F>
  void ForEachOf(BufferId buffer, F visit) {
    if (Chunks* const chunks = Of(buffer)) chunks->ForEach(visit);
  }

 private:
  using Chunks = ChunkMap<Entry>;

  Chunks* Of(BufferId buffer) {
    if (last_.second == nullptr || last_.first != buffer) {
      const auto found = buffers_.find(buffer);
      last_ = {buffer, found == buffers_.end() ? nullptr : &found->second};
    }
    return last_.second;
  }

  std::map<BufferId, Chunks> buffers_;
  std::pair<BufferId, Chunks*> last_{BufferId{}, nullptr};  // of the last call
  std::vector<ChunkAt> may_be_gone_;
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_COMPARE_DIFF_CHUNKS_H_
