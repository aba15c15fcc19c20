#ifndef RINGSCOPE_CORE_GAPS_BYTE_SHARES_H_
#define RINGSCOPE_CORE_GAPS_BYTE_SHARES_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <vector>

#include "core/base/ids.h"

namespace ringscope {

/// A sequence and its part of something, in bytes.
struct SequenceShare {
  SequenceKey sequence;
  uint64_t bytes = 0;

  friend bool operator==(const SequenceShare&, const SequenceShare&) = default;
};

/// Bytes by sequence: a list in no order, beside a flat hash table (open addressing, linear
/// probing) of places in it. Sequences come and go; memory is used again.
class BytesBySequence {
 public:
  BytesBySequence() = default;
  BytesBySequence(std::initializer_list<SequenceShare> shares) {
    for (const SequenceShare& share : shares) (*this)[share.sequence] += share.bytes;
  }

  /// Of a sequence that is new: 0.
  uint64_t& operator[](SequenceKey sequence) {
    if ((shares_.size() + 1) * 2 > slots_.size()) Grow();
    const size_t slot = SlotOf(sequence);
    if (slots_[slot] == kNone) {
      slots_[slot] = static_cast<uint32_t>(shares_.size());
      shares_.push_back({sequence, 0});
    }
    return shares_[slots_[slot]].bytes;
  }
  /// The sequence has at least as many; with none left it is taken out.
  void Subtract(SequenceKey sequence, uint64_t bytes) {
    const size_t slot = SlotOf(sequence);
    uint64_t& left = shares_[slots_[slot]].bytes;
    left -= bytes;
    if (left == 0) Erase(slot);
  }
  /// The sequence must have some.
  uint64_t at(SequenceKey sequence) const { return shares_[slots_[SlotOf(sequence)]].bytes; }
  bool contains(SequenceKey sequence) const {
    return !slots_.empty() && slots_[SlotOf(sequence)] != kNone;
  }
  size_t size() const { return shares_.size(); }
  auto begin() const { return shares_.begin(); }
  auto end() const { return shares_.end(); }
  void clear() {
    if (shares_.empty()) return;
    shares_.clear();
    std::fill(slots_.begin(), slots_.end(), kNone);
  }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;

  size_t HomeOf(SequenceKey sequence) const {
    return (sequence.Packed() * uint64_t{0x9E3779B97F4A7C15} >> 32) & (slots_.size() - 1);
  }
  size_t Next(size_t slot) const { return (slot + 1) & (slots_.size() - 1); }
  /// Where the sequence is, or the free place that it would get.
  size_t SlotOf(SequenceKey sequence) const {
    size_t slot = HomeOf(sequence);
    while (slots_[slot] != kNone && shares_[slots_[slot]].sequence != sequence) slot = Next(slot);
    return slot;
  }
  void Grow();
  void Erase(size_t slot);

  std::vector<SequenceShare> shares_;
  std::vector<uint32_t> slots_;  // places in `shares_`; a power of two
};

/// A sum of bytes by sequence, of which the largest parts are kept one by one: exact for up to
/// kMost sequences; of more, the small ones are lumped together.
class ByteShares {
 public:
  static constexpr size_t kMost = 32;

  void Add(const BytesBySequence& bytes);
  void Add(const ByteShares& other) { AddPart(other, 1, 1); }
  /// Adds `part` of `whole` of each.
  void AddPart(const ByteShares& other, uint64_t part, uint64_t whole);
  /// Largest first, at most kMost; the others become a sum.
  void Sort();

  const std::vector<SequenceShare>& shares() const { return shares_; }
  uint64_t other_bytes() const { return other_bytes_; }

 private:
  void AddOne(SequenceKey sequence, uint64_t bytes);

  std::vector<SequenceShare> shares_;
  uint64_t other_bytes_ = 0;
};

/// What was written to a buffer in any period of time, in blocks of chunks that are summed up again
/// in larger ones. Memory: a half byte for each chunk.
class ShareBlocks {
 public:
  static constexpr uint64_t kBlock = 1024;  // chunks

  /// The next chunk. @param bytes 0: it was committed, but took no space
  void Add(SequenceKey sequence, uint64_t bytes);
  /// The chunks `first` up to (not with) `end`, to the next borders of blocks; a block that is not
  /// full yet is left out.
  ByteShares Between(uint64_t first, uint64_t end) const;

 private:
  static constexpr size_t kFanOut = 16;

  uint64_t chunks_ = 0;
  BytesBySequence current_;
  std::vector<std::vector<ByteShares>> levels_;
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_GAPS_BYTE_SHARES_H_
