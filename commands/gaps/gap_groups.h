#ifndef RINGSCOPE_COMMANDS_GAPS_GAP_GROUPS_H_
#define RINGSCOPE_COMMANDS_GAPS_GAP_GROUPS_H_

#include <string>
#include <vector>

#include "core/gaps/gap_report.h"

namespace ringscope {

/// Gaps of a sequence that have the same cause.
struct GapGroup {
  std::vector<const Gap*> gaps;  // the largest first
  FateCount lost;
};
/// Those that lost most packets first.
std::vector<GapGroup> GroupsOf(const std::vector<const Gap*>& gaps);

/// "chunks #3 to #7"
std::string ChunksText(const Gap& gap);
/// How many packets after the gap cannot be used; empty: none.
std::string UnusableText(const Gap& gap);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_GAPS_GAP_GROUPS_H_
