#ifndef RINGSCOPE_CORE_EXAMINE_LOG_LOSSES_H_
#define RINGSCOPE_CORE_EXAMINE_LOG_LOSSES_H_

#include "core/examine/examination.h"

namespace ringscope {

/// The losses of an examined session of a log in sentences, each empty if there is nothing to say.
struct LogLosses {
  LedgerTotals totals = {};  // of all buffers
  uint64_t lost = 0;         // packets, without those of which only the place is known
  uint64_t places = 0;       // at which writers dropped an unknown number of packets
  uint64_t waiting = 0;      // packets in a buffer that were not read
  std::optional<uint32_t> worst_buffer = {};  // index of that which lost most packets

  /// "122 of 128 packets (95.3%) were lost, from 714.5 ms to 1.833 s."; without a loss what waits,
  /// the signs of losses, or that nothing was lost as far as the log goes.
  Sentence headline = {};
  Sentence waiting_headline = {};
  /// "710.5 ms ··▂█████ 3.7 s: share of packets lost", by the time of their commit
  Sentence over_time = {};
  // Empty unless there are losses.
  Sentence why = {};       // of writers that dropped packets, what the looks at shared memory show
  Sentence losers = {};    // the sequences that lost most packets, or else at most places
  Sentence sources = {};   // "96.6% linux.ftrace, 3.4% linux.process_stats": if there are several
  Sentence needed = {};    // "12.0 s of events need the lost process tree of pid 610 (init)"
  Sentence evictors = {};  // for whose commits packets were overwritten
  Sentence dropped = {};   // "more, by their writers, at 12 places ...": beside other losses
  // Of all sessions.
  Sentence still_there = {};  // what waits, and where
  Sentence stale = {};        // the packets that were committed long after their time, and when
  Sentence signs = {};        // that more may be missing than is known
  Sentence clones = {};       // "2 were made, and may have other packets: gaps --clone 1"

  bool any() const { return lost + places > 0; }
};

/// @param examination of a log, with its subject, account and reach
LogLosses LossesOf(const Examination& examination);

/// "Only the last 101.7 ms of 3.710 s are left": of a ring; empty if its reach is not known.
/// @param buffer its index in the config; absent: none
Sentence LeftText(const Examination& examination, std::optional<uint32_t> buffer);
/// "a, b, 4 further lines": the first texts, as many as two lines of an answer hold.
std::string ShortList(const std::vector<std::string>& texts, std::string_view further,
                      std::string_view between = ", ");

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_EXAMINE_LOG_LOSSES_H_
