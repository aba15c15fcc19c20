#ifndef RINGSCOPE_CORE_GAPS_BUFFER_HISTORY_H_
#define RINGSCOPE_CORE_GAPS_BUFFER_HISTORY_H_

#include <cstdint>
#include <deque>
#include <optional>
#include <unordered_map>

#include "core/base/ids.h"
#include "core/gaps/byte_shares.h"

namespace ringscope {

/// What was laid into one buffer lately, chunk by chunk, in order: it tells how much room came
/// between two moments, and whose it was. Chunks are counted from 0; those that are too long ago
/// are forgotten but for sums. Memory: O(chunks held by the buffer + kLateness), and the sums.
class BufferHistory {
 public:
  /// How many chunks may have left the buffer before questions about one are over: as many as the
  /// ledger waits for.
  static constexpr size_t kLateness = 8192;

  /// @param outer bytes that the chunk occupies in the buffer
  void AddCommit(uint64_t record, ChunkName chunk, uint32_t outer);
  /// A chunk for which a buffer that discards had no room. What it would have occupied counts as
  /// room, but pushed nothing out. A scraped chunk that comes again takes no room of its own.
  void AddDiscard(uint64_t record, ChunkName chunk, uint32_t outer);
  void AddErase() { held_ -= held_ > 0 ? 1 : 0; }
  void AddRead(uint64_t record);

  /// Bytes of all chunks so far, one behind the other as in an endless buffer.
  uint64_t laid() const { return laid_; }
  /// The largest chunk so far: a ring may leave nearly as much unused where it wraps.
  uint32_t largest() const { return largest_; }
  /// Bytes in front of and up to the end of a chunk (its newest commit); nullopt: forgotten.
  std::optional<uint64_t> StartOf(ChunkName chunk) const;
  std::optional<uint64_t> EndOf(ChunkName chunk) const;
  /// Number of a chunk (its newest commit); nullopt: forgotten.
  std::optional<uint64_t> IndexOf(ChunkName chunk) const;
  /// One behind the last chunk that came up to this record.
  uint64_t IndexBehind(uint64_t record) const;
  /// Bytes laid before the first read that began at this record or later; nullopt: none did yet.
  std::optional<uint64_t> LaidAtReadFrom(uint64_t record) const;
  /// Bytes by sequence of the chunks `first` up to (not with) `end`. Asking for windows that move
  /// on little by little is cheap.
  const BytesBySequence& BytesBetween(uint64_t first, uint64_t end);
  /// The same of any chunks, however long ago, to the next borders of blocks.
  ShareList BlocksBetween(uint64_t first, uint64_t end) const {
    return blocks_.Between(first, end);
  }

 private:
  struct Entry {
    uint64_t record = 0;
    uint64_t start = 0;
    ChunkName chunk;
    uint32_t outer = 0;
    bool laid = false;  // false: discarded
  };
  struct ReadEntry {
    uint64_t record = 0;
    uint64_t laid = 0;
  };

  void Add(uint64_t record, ChunkName chunk, uint32_t outer, bool laid);
  void Trim();
  const Entry* Find(ChunkName chunk) const;
  void Count(uint64_t first, uint64_t end, bool add, BytesBySequence& bytes) const;

  uint64_t end_index() const { return first_index_ + entries_.size(); }

  std::deque<Entry> entries_;
  uint64_t first_index_ = 0;                      // number of entries_.front()
  std::unordered_map<uint64_t, uint64_t> index_;  // by ChunkName::Packed
  std::deque<ReadEntry> reads_;
  uint64_t laid_ = 0;
  uint32_t largest_ = 0;
  size_t held_ = 0;
  size_t most_held_ = 0;
  // The large window asked for last, and the small one.
  uint64_t window_first_ = 0;
  uint64_t window_end_ = 0;
  BytesBySequence window_;
  BytesBySequence small_window_;
  ShareBlocks blocks_;
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_GAPS_BUFFER_HISTORY_H_
