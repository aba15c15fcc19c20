#ifndef RINGSCOPE_COMMANDS_GAPS_GAPS_TEXT_PARTS_H_
#define RINGSCOPE_COMMANDS_GAPS_GAPS_TEXT_PARTS_H_

#include <algorithm>
#include <cstdint>

#include "commands/gaps/shown_gaps.h"
#include "commands/view/report.h"

namespace ringscope {

// The parts of the report for people. `limit` is of the entries of each list; 0: all.

inline size_t CountToShow(size_t all, uint64_t limit) {
  return limit == 0 ? all : static_cast<size_t>(std::min<uint64_t>(all, limit));
}
/// "  and 12 more places", unless there are no more.
void PrintMore(Report& out, uint64_t more, const char* noun);

/// What became of all packets, in sums: by buffer, process, content and sequence.
void PrintLossTables(Report& out, const ShownGaps& selection, uint64_t limit);
/// Gaps of the same sequence and for the same cause together, those with most packets first.
void PrintGapGroups(Report& out, const ShownGaps& selection, uint64_t limit);

// What shows that more may be missing than the packets that are known to be lost.

/// Where the log itself reports a loss: its recorder's gaps, or those of the trace it was made of.
void PrintReported(Report& out, const ShownGaps& selection, uint64_t limit);
/// Chunks that no record commits.
void PrintMissing(Report& out, const ShownGaps& selection, uint64_t limit);
/// Counters of lost data, with the records that made them count.
void PrintCounted(Report& out, const ShownGaps& selection, uint64_t limit);
/// What the trace cannot name, as the packets with the names were lost.
void PrintLostNames(Report& out, const ShownGaps& selection, uint64_t limit);
/// Packets that wait in a buffer to the end, and the chunks that they wait for.
void PrintWaiting(Report& out, const ShownGaps& selection, uint64_t limit);
/// Packets that are neither read nor missing.
void PrintPending(Report& out, const ShownGaps& selection);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_GAPS_GAPS_TEXT_PARTS_H_
