#ifndef RINGSCOPE_CORE_GAPS_BYTE_SHARES_H_
#define RINGSCOPE_CORE_GAPS_BYTE_SHARES_H_

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "core/base/ids.h"

namespace ringscope {

/// A sequence and its part of something, in bytes.
struct SequenceShare {
  SequenceKey sequence;
  uint64_t bytes = 0;

  friend bool operator==(const SequenceShare&, const SequenceShare&) = default;
};

using BytesBySequence = std::unordered_map<SequenceKey, uint64_t>;

/// A sum of bytes by sequence, of which the largest parts are kept one by one: exact for up to
/// kMost sequences; of more, the small ones are lumped together.
class ShareList {
 public:
  static constexpr size_t kMost = 32;

  void Add(const BytesBySequence& bytes);
  void Add(const ShareList& other) { AddPart(other, 1, 1); }
  /// Adds `part` of `whole` of each.
  void AddPart(const ShareList& other, uint64_t part, uint64_t whole);
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
  ShareList Between(uint64_t first, uint64_t end) const;

 private:
  static constexpr size_t kFanOut = 16;

  uint64_t chunks_ = 0;
  BytesBySequence current_;
  std::vector<std::vector<ShareList>> levels_;
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_GAPS_BYTE_SHARES_H_
