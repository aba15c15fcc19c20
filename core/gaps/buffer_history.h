#ifndef RINGSCOPE_CORE_GAPS_BUFFER_HISTORY_H_
#define RINGSCOPE_CORE_GAPS_BUFFER_HISTORY_H_

#include <cstdint>
#include <deque>
#include <optional>

#include "core/base/ids.h"
#include "core/base/sequence_map.h"
#include "core/gaps/gap_report.h"

namespace ringscope {

/// The chunks that were written to one buffer lately, in order, and the bytes between two moments.
/// Includes what a buffer that discards would have been written, had it been larger.
/// Memory: O(chunks held by the buffer + kLateness).
class BufferHistory {
 public:
  /// How many chunks may leave the buffer before one that left is forgotten: as many as the ledger
  /// waits for.
  static constexpr size_t kLateness = 8192;

  struct Entry {
    uint64_t record = 0;
    uint64_t start = 0;  // bytes before it
    ChunkName chunk;
    uint32_t outer = 0;  // bytes that it occupies in the buffer

    uint64_t end() const { return start + outer; }
  };

  /// @param outer bytes that the chunk occupies in the buffer
  void AddCommit(uint64_t record, ChunkName chunk, uint32_t outer);
  /// Adds a chunk that a full buffer discards. A scraped chunk that is re-committed takes no space
  /// of its own.
  void AddDiscard(uint64_t record, ChunkName chunk, uint32_t outer);
  void AddErase() { held_ -= held_ > 0 ? 1 : 0; }
  void AddRead(uint64_t record);

  /// Bytes of all chunks so far, one after the other as in an endless buffer.
  uint64_t bytes() const { return bytes_; }
  /// Bytes of the largest chunk so far: a ring may leave nearly as much unused where it wraps.
  uint32_t largest() const { return largest_; }
  /// Returns the newest commit of a chunk, valid until the next Add; nullptr if it is forgotten.
  const Entry* Find(ChunkName chunk) const;
  /// Notes whose data is newer than the chunk of a stall, unless that takes too many visits.
  /// @param evictor the commit that needs the chunk's space, which is not in the history yet
  void AddNewerData(const SequenceShare& evictor, Stall& stall);
  /// Returns the bytes before the first read that began at this record or later, if one did.
  std::optional<uint64_t> BytesAtReadFrom(uint64_t record) const;

 private:
  struct ReadEntry {
    uint64_t record = 0;
    uint64_t bytes = 0;  // before it
  };

  void Add(uint64_t record, ChunkName chunk, uint32_t outer);

  std::deque<Entry> entries_;
  uint64_t first_number_ = 0;   // number of entries_.front(), counted from 0
  ChunkMap<uint64_t> numbers_;  // of their newest commits
  std::deque<ReadEntry> reads_;
  uint64_t bytes_ = 0;
  uint32_t largest_ = 0;
  size_t held_ = 0;
  size_t most_held_ = 0;
  size_t visits_left_ = 4'000'000;  // of entries, for AddNewerData
  // The last answer: packets of a chunk follow each other.
  mutable ChunkName found_chunk_;
  mutable const Entry* found_ = nullptr;
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_GAPS_BUFFER_HISTORY_H_
