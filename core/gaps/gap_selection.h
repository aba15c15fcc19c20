#ifndef RINGSCOPE_CORE_GAPS_GAP_SELECTION_H_
#define RINGSCOPE_CORE_GAPS_GAP_SELECTION_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "core/gaps/gap_report.h"
#include "core/log/log_range.h"

namespace ringscope {

/// Which losses to show. Within a list any entry matches; all lists that are not empty must agree.
struct GapFilter : LogSelection {
  bool Keeps(BufferId buffer, SequenceKey sequence) const;
  /// Returns true for a gap with packets that were written in the time asked for.
  /// @param start_ns of the session
  bool Keeps(const Gap& gap, uint64_t start_ns) const;
  bool Keeps(const PacketAccount& account, uint64_t start_ns) const;
  /// Returns true if the filter can select some of a sequence's gaps.
  bool selects_gaps() const { return from || to; }
};

/// The parts of a report that a filter keeps. The report must live longer.
struct GapSelection {
  /// @param start_ns of the session
  GapSelection(const GapReport& report, uint64_t start_ns, const GapFilter& filter);

  const GapReport& report;
  std::vector<const Gap*> own_fault;  // with packets that the buffer lost by a bug; in order
  std::vector<const Gap*> gaps;       // the others; in order
  uint64_t unlisted = 0;              // gaps that were too many to be kept
  std::vector<const SequenceGaps*> sequences;  // with packets
  std::vector<std::pair<const SequenceGaps*, const FalseFlag*>> false_flags;
  uint64_t unlisted_flags = 0;
  std::vector<std::pair<const SequenceGaps*, const MissingChunks*>> missing;
  uint64_t unlisted_missing = 0;
  std::vector<StaleSequence> stale;
  std::vector<CounterRise> counted;
  std::array<uint64_t, kLossCounters> counts{};
  std::vector<ReportedLoss> reported;
  uint64_t unlisted_reports = 0;
  bool is_filtered = false;  // not all packets of the session are selected
  bool by_time = false;      // the filter selects the gaps that reach into a time
  bool any_loss = false;     // packets were lost that the filter keeps
  /// Something shows that more may be missing: chunks that are not in the log, losses that the log
  /// itself reports, counters of losses, sequences that wait.
  bool any_sign = false;

 private:
  void AddSequence(const SequenceGaps& sequence, uint64_t start_ns, const GapFilter& filter);
  void AddSigns(const GapFilter& filter);
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_GAPS_GAP_SELECTION_H_
