#ifndef RINGSCOPE_CORE_GAPS_GAP_FILTER_H_
#define RINGSCOPE_CORE_GAPS_GAP_FILTER_H_

#include <cstdint>
#include <vector>

#include "core/gaps/gap_report.h"
#include "core/log/log_range.h"

namespace ringscope {

/// Which losses to show. Within a list any entry matches; all lists that are not empty must agree.
struct GapFilter : LogSelection {
  std::vector<Fate> fates;
  std::vector<Cause> causes;
  std::vector<uint32_t> contents;

  bool Keeps(BufferId buffer, SequenceKey sequence) const;
  /// The same where the buffer is not known.
  bool KeepsSequence(SequenceKey sequence) const;
  /// Whether the gap has a packet of the fates, causes and kinds of content asked for, and packets
  /// were written in the time asked for.
  /// @param start_ns of the session
  bool Keeps(const Gap& gap, uint64_t start_ns) const;
  bool Keeps(const PacketAccount& account, uint64_t start_ns) const;
  /// Whether this filter can select some of a sequence's gaps.
  bool selects_gaps() const {
    return from || to || !fates.empty() || !causes.empty() || !contents.empty();
  }
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_GAPS_GAP_FILTER_H_
