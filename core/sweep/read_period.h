#ifndef RINGSCOPE_CORE_SWEEP_READ_PERIOD_H_
#define RINGSCOPE_CORE_SWEEP_READ_PERIOD_H_

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "core/gaps/gap_report.h"
#include "core/sweep/needed_sizes.h"

namespace ringscope {

// The period with which a session would have to be written into its file, so that its buffers lose
// nothing with their own sizes. All commands that name one have it from here.

/// What file_write_period_ms can be at least.
inline constexpr uint64_t kShortestReadPeriodNs = 100'000'000;

/// A period in whole milliseconds, and what a replay with it showed.
struct TriedPeriod {
  uint64_t period_ns = 0;
  std::map<BufferId, TriedOutcome> outcomes;

  TriedOutcome sum() const;
};

/// The longest period that may do: the shortest time that a lost packet was in its buffer. nullopt:
/// no period helps all that a size would help.
std::optional<uint64_t> LongestReadPeriod(const GapReport& report);

/// What the gaps of a session call for, not tried yet.
struct GapNeeds {
  std::vector<NeededSize> sizes;           // of the buffers whose gaps a size remedies
  std::optional<uint64_t> read_period_ns;  // see LongestReadPeriod
};
GapNeeds NeedsOf(const GapReport& report);

/// Tries some periods, from `longest_ns` down to the shortest possible: the longest that loses
/// nothing to full buffers, or the one that loses least.
/// @param longest_ns at least the shortest possible
Result<TriedPeriod> TryReadPeriods(const SweepInput& input, const ReplayOptions& config,
                                   uint64_t longest_ns);

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_SWEEP_READ_PERIOD_H_
