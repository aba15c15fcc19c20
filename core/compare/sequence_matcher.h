#ifndef RINGSCOPE_CORE_COMPARE_SEQUENCE_MATCHER_H_
#define RINGSCOPE_CORE_COMPARE_SEQUENCE_MATCHER_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "core/compare/output_diff.h"

namespace ringscope {

/// Matches the sequences of two results one to one: those with most packets in common first, and
/// among equals those of the same name. Only sequences of one group, with something in common.
/// @return pairs of indices, ascending in the first
std::vector<std::pair<uint32_t, uint32_t>> MatchSequences(const ReplayOutput& a,
                                                          const ReplayOutput& b);

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_COMPARE_SEQUENCE_MATCHER_H_
