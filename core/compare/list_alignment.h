#ifndef RINGSCOPE_CORE_COMPARE_LIST_ALIGNMENT_H_
#define RINGSCOPE_CORE_COMPARE_LIST_ALIGNMENT_H_

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace ringscope {

/// A pair of elements that an alignment puts on each other: indices in the two lists.
using AlignedPair = std::pair<uint32_t, uint32_t>;

/// Aligns two lists so that few elements stay alone; the pairs ascend in both indices, and paired
/// elements are equal. Where a stretch has up to kMaxCandidates pairs of equal elements, it is the
/// least number possible (Hunt and Szymanski's algorithm). Others are first cut at elements that
/// occur once in each list (patience), and where there are none of these, paired greedily. Memory:
/// O(elements), and never more than about 20 * kMaxCandidates bytes beside.
std::vector<AlignedPair> AlignLists(std::span<const uint64_t> a, std::span<const uint64_t> b);

inline constexpr uint64_t kMaxCandidates = uint64_t{1} << 22;

/// The indices, in the order of the list, of a longest run of values that ascend strictly.
std::vector<uint32_t> LongestAscending(std::span<const uint32_t> values);

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_COMPARE_LIST_ALIGNMENT_H_
