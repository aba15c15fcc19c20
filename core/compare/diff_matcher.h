#ifndef RINGSCOPE_CORE_COMPARE_DIFF_MATCHER_H_
#define RINGSCOPE_CORE_COMPARE_DIFF_MATCHER_H_

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/list_alignment.h"
#include "core/compare/side_tape.h"

namespace ringscope {

/// What two lists of packets have in common. All indices ascend; pairs ascend in the first.
struct PacketMatches {
  std::vector<AlignedPair> pairs;
  std::vector<uint32_t> only_a;
  std::vector<uint32_t> only_b;
};

/// Matches packets by place; the n-th at a place with the n-th at it.
PacketMatches MatchByPlace(const ReturnedPackets& a, const ReturnedPackets& b);

/// How many of the pairs must be taken out for the rest to be in the same order on both sides.
/// @param pairs ascending in the first
uint64_t CountDisplaced(std::span<const AlignedPair> pairs);

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_COMPARE_DIFF_MATCHER_H_
