#ifndef RINGSCOPE_COMMANDS_LOSSES_TRIED_REMEDIES_H_
#define RINGSCOPE_COMMANDS_LOSSES_TRIED_REMEDIES_H_

#include <optional>
#include <vector>

#include "commands/common/replay_run.h"
#include "core/gaps/gap_report.h"

namespace ringscope {

/// What file_write_period_ms can be at least.
inline constexpr uint64_t kShortestReadPeriodNs = 100'000'000;

/// What a replay with a remedy showed of some buffers.
struct TriedOutcome {
  uint64_t lost = 0;     // packets
  uint64_t waiting = 0;  // packets that wait in the buffer for a patch or another chunk
};

/// A size with which a buffer should keep all that it lost.
struct TriedSize {
  BufferId buffer{};
  uint64_t size = 0;                    // bytes
  bool grown = false;                   // the size that was computed was tried, and too small
  std::optional<TriedOutcome> outcome;  // absent: not tried
};

/// Remedies for all gaps of a session together.
struct TriedRemedies {
  std::vector<TriedSize> sizes;       // of buffers whose gaps a size remedies
  std::optional<uint64_t> period_ns;  // of reads, of all buffers; absent: none helps
  std::optional<TriedOutcome> with_period;
};

/// The remedies that a session's gaps call for, not tried yet.
TriedRemedies RemediesFor(const GapReport& report);
/// Replays the session again, with each remedy.
/// @param selection the session, in inputs that can be read again
Status TryRemedies(Context& context, const SessionSelection& selection,
                   const ReplayChoices& choices, TriedRemedies& remedies);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_LOSSES_TRIED_REMEDIES_H_
