#ifndef RINGSCOPE_CORE_EXAMINE_LOG_LOSSES_H_
#define RINGSCOPE_CORE_EXAMINE_LOG_LOSSES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/sentence.h"
#include "core/examine/examination.h"

namespace ringscope {

/// The losses of an examined session of a log in sentences: how much, why, of whom, for whom.
class LogLosses {
 public:
  /// @param examination of a log, with its subject, account and reach; must outlive this
  explicit LogLosses(const Examination& examination);

  /// Returns the packets that were lost, or places at which an unknown number of them was dropped.
  uint64_t losses() const { return lost_.packets + places_; }
  /// Packets that were lost, without those of which only the place is known.
  uint64_t lost() const { return lost_.packets; }
  uint64_t waiting() const { return totals_[Fate::kStalled].packets; }
  /// Packets that one more read would have returned, in a session that was read.
  uint64_t unread() const {
    return outcome_.read_passes > 0 ? totals_[Fate::kReadable].packets : 0;
  }
  const LedgerTotals& totals() const { return totals_; }
  /// The index of the buffer that lost most packets; absent: none lost any.
  std::optional<uint32_t> worst_buffer() const;

  /// "122 of 128 packets (95.3%) were lost, from 714.5 ms to 1.833 s."
  Sentence LostHeadline() const;
  Sentence WaitingHeadline() const;
  /// The headline of a session without losses that has signs of them.
  Sentence SignsHeadline() const;
  Sentence UnreadHeadline() const;
  /// Says that nothing was lost, as far as the log goes.
  Sentence NothingLostHeadline() const;

  // The other sentences are empty where there is nothing to say.

  /// Why packets were lost; of writers that dropped them, the reason that the looks at the shared
  /// memory show most often.
  Sentence Why() const;
  /// The sequences that lost most packets, or else at most places.
  Sentence Losers() const;
  /// "96.6% linux.ftrace, 3.4% linux.process_stats": of packets whose data source is known, if
  /// there are several.
  Sentence Sources() const;
  /// "12.0 s of events need the lost process tree of pid 610 (init)"
  Sentence Needed() const;
  /// For whose commits packets were overwritten.
  Sentence Evictors() const;
  /// "710.5 ms ··▂█████ 3.7 s: share of packets lost, by the time of their commit"
  Sentence OverTime() const;
  /// "more, by their writers, at 12 places ...": beside the packets that were lost otherwise.
  Sentence Dropped() const;
  Sentence Waiting() const;
  /// The packets that were committed long after their time, and when.
  Sentence Stale() const;
  /// The signs that more may be missing than is known.
  const Sentence& Signs() const { return signs_; }
  /// "2 were made, and may have other packets: gaps --clone 1"
  Sentence Clones() const;

 private:
  Sentence FindSigns() const;
  Sentence DroppedPlaces() const;
  std::string WhyDropped() const;
  Sentence TimeFromStart(const char* name, uint64_t ns) const;
  Sentence TimeOf(const char* name, uint64_t ns) const;
  Sentence LostWhen() const;

  const Examination& examination_;
  const GapReport& report_;
  const ReplayOutcome& outcome_;
  const SessionNotes& notes_;
  LedgerTotals totals_;  // of all buffers
  /// Without what writers dropped: each mark of it stands for an unknown number of packets.
  FateCount lost_;
  uint64_t places_ = 0;      // at which writers dropped packets
  uint64_t dropped_ns_ = 0;  // the longest time that a writer of these found no chunk
  std::vector<const SequenceGaps*> sequences_;
  std::vector<CauseCount> causes_;  // of all gaps
  uint64_t missing_chunks_ = 0;
  Sentence signs_;
  const BufferGaps* worst_ = nullptr;  // the buffer that lost most; nullptr if none lost any
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_EXAMINE_LOG_LOSSES_H_
