#ifndef RINGSCOPE_CORE_GAPS_BUFFER_HISTORY_H_
#define RINGSCOPE_CORE_GAPS_BUFFER_HISTORY_H_

#include <cstdint>
#include <deque>
#include <optional>

#include "core/base/chunk_map.h"
#include "core/base/ids.h"
#include "core/gaps/byte_shares.h"

namespace ringscope {

/// What was written to one buffer lately, chunk by chunk, in order: how many bytes between two
/// moments, and by which sequences. Chunks are counted from 0; of those that are too long ago only
/// sums are kept. Memory: O(chunks held by the buffer + kLateness), and the sums.
///
/// Beside what the moments of events have (BufferMoment), it has what a buffer that discards would
/// have been written, had it been larger.
class BufferHistory {
 public:
  /// How many chunks may have left the buffer before questions about one are over: as many as the
  /// ledger waits for.
  static constexpr size_t kLateness = 8192;

  struct Entry {
    uint64_t number = 0;
    uint64_t record = 0;
    uint64_t start = 0;  // bytes before it
    ChunkName chunk;
    uint32_t outer = 0;    // bytes that it occupies in the buffer
    bool written = false;  // false: discarded

    uint64_t end() const { return start + outer; }
  };

  /// @param outer bytes that the chunk occupies in the buffer
  void AddCommit(uint64_t record, ChunkName chunk, uint32_t outer);
  /// A chunk that a full buffer discards. What it would have occupied counts, but pushed nothing
  /// out. A scraped chunk that is re-committed takes no space of its own.
  void AddDiscard(uint64_t record, ChunkName chunk, uint32_t outer);
  void AddErase() { held_ -= held_ > 0 ? 1 : 0; }
  void AddRead(uint64_t record);

  /// Bytes of all chunks so far, one after the other as in an endless buffer.
  uint64_t bytes() const { return bytes_; }
  /// The largest chunk so far: a ring may leave nearly as much unused where it wraps.
  uint32_t largest() const { return largest_; }
  /// The newest commit of a chunk; nullptr: forgotten. Valid until the next Add.
  const Entry* Find(ChunkName chunk) const;
  /// One after the last chunk that was written up to this record.
  uint64_t EndOfRecord(uint64_t record) const;
  /// Bytes before the first read that began at this record or later; nullopt: none did yet.
  std::optional<uint64_t> BytesAtReadFrom(uint64_t record) const;
  /// Bytes by sequence of the chunks `first` up to (not with) `end`. Asking for windows that
  /// advance little by little is cheap.
  const BytesBySequence& BytesBetween(uint64_t first, uint64_t end);
  /// The same of any chunks, however long ago, to the next borders of blocks.
  ByteShares BlocksBetween(uint64_t first, uint64_t end) const {
    return blocks_.Between(first, end);
  }

 private:
  struct ReadEntry {
    uint64_t record = 0;
    uint64_t bytes = 0;  // before it
  };

  void Add(uint64_t record, ChunkName chunk, uint32_t outer, bool written);
  void Trim();
  void Count(uint64_t first, uint64_t end, bool add, BytesBySequence& bytes) const;

  uint64_t end_number() const { return first_number_ + entries_.size(); }

  std::deque<Entry> entries_;
  uint64_t first_number_ = 0;   // number of entries_.front()
  ChunkMap<uint64_t> numbers_;  // of their newest commits
  std::deque<ReadEntry> reads_;
  uint64_t bytes_ = 0;
  uint32_t largest_ = 0;
  size_t held_ = 0;
  size_t most_held_ = 0;
  // The answers given last: packets of a chunk follow each other.
  mutable ChunkName found_chunk_;
  mutable const Entry* found_ = nullptr;
  mutable std::optional<uint64_t> end_of_;  // a record
  mutable uint64_t end_ = 0;
  // The large window asked for last, and the small one.
  uint64_t window_first_ = 0;
  uint64_t window_end_ = 0;
  BytesBySequence window_;
  BytesBySequence small_window_;
  ShareBlocks blocks_;
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_GAPS_BUFFER_HISTORY_H_
