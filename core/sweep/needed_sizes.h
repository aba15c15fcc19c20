#ifndef RINGSCOPE_CORE_SWEEP_NEEDED_SIZES_H_
#define RINGSCOPE_CORE_SWEEP_NEEDED_SIZES_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "core/gaps/gap_report.h"
#include "core/ledger/ledger.h"
#include "core/session/replay.h"
#include "core/sweep/sweep_input.h"
#include "core/sweep/sweep_result.h"

namespace ringscope {

// The size that a buffer needs: with which it would have lost nothing. All commands that name one
// have it from here.

/// What a replay with other sizes showed of a buffer.
struct TriedOutcome {
  uint64_t lost = 0;     // packets, to whatever
  uint64_t full = 0;     // of these, overwritten or discarded, so that a size can matter
  uint64_t waiting = 0;  // packets that wait in the buffer for a patch or another chunk

  TriedOutcome& operator+=(const TriedOutcome& other) {
    lost += other.lost, full += other.full, waiting += other.waiting;
    return *this;
  }
  friend bool operator==(const TriedOutcome&, const TriedOutcome&) = default;
};

/// What became of the packets in the session's own configuration.
struct OwnAccounts {
  std::map<BufferId, LedgerTotals> totals;
  ReadsChoice reads;
  std::map<BufferId, uint64_t> sizes = {};  // bytes; empty: not known
};

/// Replays the session in full, with a configuration.
Result<std::map<BufferId, TriedOutcome>> ReplayForOutcomes(const SweepInput& input,
                                                           const ReplayOptions& config);
/// What a sweep's rows show of a configuration. Where packets are missing that no buffer lost, rows
/// alone do not tell why: these packets are those of `own`, or a replay in full tells; so it does
/// with other reads, and of clones.
Result<std::map<BufferId, TriedOutcome>> OutcomesOf(const SweepInput& input,
                                                    const ReplayOptions& config,
                                                    const std::vector<SweepRow>& rows,
                                                    const OwnAccounts& own);

/// Completes the rows of configurations with all that is lost, whether a size would keep it or not:
/// by replays in full, where the rows do not tell.
/// @param own of the session with other sizes; nullptr: not known
Status FindLosses(const SweepInput& input, const std::vector<ReplayOptions>& configs,
                  const OwnAccounts* own, std::vector<std::vector<SweepRow>>& rows);

/// The size that a buffer needs.
struct NeededSize {
  BufferId buffer{};
  uint64_t size = 0;                    // bytes, in whole pages
  bool grown = false;                   // the size that was computed was tried, and too small
  std::optional<TriedOutcome> outcome;  // of a replay with it; absent: not tried
};

/// Of the buffers that lost packets because they were full: the bytes that were written from the
/// oldest of these packets to the read that should have returned it. Not tried yet.
std::vector<NeededSize> NeededSizes(const GapReport& report);

/// Replays the session with these sizes of some buffers.
using SizesReplay = std::function<Result<std::map<BufferId, TriedOutcome>>(
    const std::map<BufferId, uint64_t>& sizes)>;
/// The configuration with these sizes.
ReplayOptions WithSizes(ReplayOptions config, const std::map<BufferId, uint64_t>& sizes);
/// Tries the sizes. Where one is too small, since what waits in a buffer takes space from what is
/// written later, larger ones, as long as that helps.
Status TryNeededSizes(const SizesReplay& replay, std::vector<NeededSize>& sizes);

/// What the buffers of a configuration need.
struct BufferNeeds {
  std::vector<NeededSize> sizes;  // of those that lose something that a size would keep
  OwnAccounts own;                // of the configuration itself
  std::vector<SweepRow> rows;     // of the configuration with these sizes, if it was tried
};

/// Whether a replay of this configuration in full can make the batches of a sweep on its way, which
/// `input.kept` lacks: its engines report each patch, and all that the log has goes to buffers.
bool MakesBatches(const SweepInput& input, const ReplayOptions& config);
/// Computes the sizes for a configuration, and tries them.
Result<BufferNeeds> FindNeededSizes(const SweepInput& input, const ReplayOptions& config);
/// Only computes them, by a replay in full. If it MakesBatches, these go to `input.kept`.
/// @param forward also gets the batches, as KeptBatches::ForwardTo; may be empty
Result<BufferNeeds> ComputeNeededSizes(
    const SweepInput& input, const ReplayOptions& config,
    const std::function<void(std::shared_ptr<const SweepBatch>)>& forward = {});
/// Tries those that were computed.
Status TryNeededSizes(const SweepInput& input, const ReplayOptions& config, BufferNeeds& needs);

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_SWEEP_NEEDED_SIZES_H_
