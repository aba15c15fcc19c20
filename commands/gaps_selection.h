#ifndef RINGSCOPE_COMMANDS_GAPS_SELECTION_H_
#define RINGSCOPE_COMMANDS_GAPS_SELECTION_H_

#include <vector>

#include "commands/gaps_filter.h"
#include "commands/gaps_words.h"
#include "commands/replay_run.h"
#include "core/gap_report.h"

namespace ringscope {

/// What the user wants to see of a report, and all that showing it takes.
struct GapSelection {
  /// @param limit gaps to list at most, the largest; 0: all
  GapSelection(const GapReport& report, const ReplayOutcome& outcome, const SessionNotes& notes,
               const GapFilter& filter, uint64_t limit);

  const GapReport& report;
  const ReplayOutcome& outcome;
  const SessionNotes& notes;
  std::vector<const Gap*> own_fault;  // with packets lost by the buffer's own fault; in order
  std::vector<const Gap*> gaps;       // the others; in order
  uint64_t hidden = 0;                // gaps that the limit leaves out
  uint64_t unlisted = 0;              // gaps that were too many to be kept
  std::vector<const SequenceGaps*> sequences;  // that the filter keeps, those that have written
  std::vector<std::pair<const SequenceGaps*, const FalseFlag*>> false_flags;
  uint64_t unlisted_flags = 0;
  bool any_loss = false;  // whether anything was lost that the filter keeps

  const BufferOutcome* BufferOf(BufferId id) const;
};

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_GAPS_SELECTION_H_
