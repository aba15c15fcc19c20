#ifndef RINGSCOPE_CORE_GAPS_GAP_SELECTION_H_
#define RINGSCOPE_CORE_GAPS_GAP_SELECTION_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "core/gaps/gap_filter.h"
#include "core/gaps/gap_report.h"

namespace ringscope {

/// The parts of a report that a filter keeps. The report must live longer.
struct GapSelection {
  /// @param start_ns of the session
  /// @param at_most gaps to list at most, the largest; 0: all
  GapSelection(const GapReport& report, uint64_t start_ns, const GapFilter& filter,
               uint64_t at_most);

  const GapReport& report;
  std::vector<const Gap*> own_fault;  // with packets that the buffer lost by a bug; in order
  std::vector<const Gap*> gaps;       // the others; in order
  uint64_t hidden = 0;                // gaps that the limit leaves out
  uint64_t unlisted = 0;              // gaps that were too many to be kept
  std::vector<const SequenceGaps*> sequences;  // that the filter keeps, those that have written
  std::vector<std::pair<const SequenceGaps*, const FalseFlag*>> false_flags;
  uint64_t unlisted_flags = 0;
  std::vector<std::pair<const SequenceGaps*, const MissingChunks*>> missing;
  uint64_t unlisted_missing = 0;
  std::vector<LostName> names;
  std::vector<StaleSequence> stale;
  std::vector<const CounterRise*> counted;
  std::array<uint64_t, kLossCounters> counts{};
  std::vector<const ReportedLoss*> reported;
  uint64_t unlisted_reports = 0;
  bool is_filtered = false;  // not all packets of the session are selected
  bool by_time = false;      // a filter selects the gaps that reach into a time
  bool any_loss = false;     // whether packets were lost that the filter keeps
  /// Whether, beside such packets, something shows that more may be missing: chunks that are not in
  /// the log, what the log itself reports as missing, counters of losses, sequences that wait.
  bool any_sign = false;
  uint64_t limit = 0;  // entries to list at most; 0: all

 private:
  void SelectSigns(const GapFilter& filter);
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_GAPS_GAP_SELECTION_H_
