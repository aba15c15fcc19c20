#ifndef RINGSCOPE_COMMANDS_GAPS_GAPS_SIGNS_TEXT_H_
#define RINGSCOPE_COMMANDS_GAPS_GAPS_SIGNS_TEXT_H_

#include "commands/gaps/shown_gaps.h"
#include "commands/report/report.h"

namespace ringscope {

// For people: what shows that more may be missing than the packets that are known to be lost.

/// Where the log itself reports a loss: its recorder's gaps, or those of the trace it was made of.
void PrintReported(Report& out, const ShownGaps& selection, uint64_t limit);
/// Chunks that no record commits.
void PrintMissing(Report& out, const ShownGaps& selection, uint64_t limit);
/// Counters of lost data, with the records that made them count.
void PrintCounted(Report& out, const ShownGaps& selection);
/// What the trace cannot name, as the packets with the names were lost.
void PrintLostNames(Report& out, const ShownGaps& selection);
/// Packets that are neither read nor lost, and what they wait for.
void PrintPending(Report& out, const ShownGaps& selection);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_GAPS_GAPS_SIGNS_TEXT_H_
