#ifndef RINGSCOPE_COMMANDS_GAPS_GAPS_TEXT_H_
#define RINGSCOPE_COMMANDS_GAPS_GAPS_TEXT_H_

#include <string>

#include "commands/gaps/shown_gaps.h"
#include "commands/view/report.h"

namespace ringscope {

/// One session's losses for people.
/// @param limit of the entries of each list; 0: all
/// @param stale_ns the limit for stale packets
void PrintGaps(Report& out, const ShownGaps& selection, bool summary, uint64_t limit,
               uint64_t stale_ns);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_GAPS_GAPS_TEXT_H_
