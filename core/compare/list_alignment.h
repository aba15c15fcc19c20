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
/// elements are equal. That is the least number possible where few elements occur several times
/// (Hunt and Szymanski's algorithm). Other stretches are first cut at elements, or else at runs of
/// elements, that occur once in each list (patience). Where there are none of these, an element is
/// only compared with those that occur about as often before it. Memory: O(elements).
std::vector<AlignedPair> Align(std::span<const uint64_t> a, std::span<const uint64_t> b);

/// The indices, in the order of the list, of a longest run of values that ascend strictly.
std::vector<uint32_t> LongestAscending(std::span<const uint32_t> values);

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_COMPARE_LIST_ALIGNMENT_H_
