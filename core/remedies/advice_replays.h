#ifndef RINGSCOPE_CORE_REMEDIES_ADVICE_REPLAYS_H_
#define RINGSCOPE_CORE_REMEDIES_ADVICE_REPLAYS_H_

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "core/remedies/advice_facts.h"
#include "core/sweep/needed_sizes.h"
#include "core/sweep/sweep_input.h"

namespace ringscope {

/// The replays of a session by which advice finds out what other buffers and reads would have done.
/// What was replayed once is not replayed again.
class AdviceReplays {
 public:
  /// The rows of one buffer, by size.
  using Ladder = std::map<BufferId, std::vector<SweepRow>>;

  /// @param own the accounts of the session as it was. All must outlive this.
  AdviceReplays(const SweepInput& input, const AdviceFacts& facts, const AdviceReads& reads,
                const OwnAccounts& own);

  const SweepInput& input() const { return input_; }
  /// The session as it was, to be changed.
  const ReplayOptions& as_is() const { return as_is_; }
  /// A buffer that is read periodically must not discard: once full, it accepts nothing more.
  FillPolicy PolicyFor(const AdviceBuffer& buffer) const;

  /// The session as it was.
  /// @param needed sizes that its gaps call for, which are tried in the same pass
  Result<std::vector<SweepRow>> RowsAsItWas(std::vector<NeededSize>& needed);
  /// The session as configured, with what was lost for other reasons than its buffers' sizes.
  /// @param splits sequences in buffers of their own
  Result<std::vector<SweepRow>> Rows(const ReplayOptions& config,
                                     const std::vector<PlannedSplit>& splits);
  /// The session with many sizes of all buffers.
  Result<Ladder> SweepSizes(const std::vector<PlannedSplit>& splits);

 private:
  SweepInput Split(const std::vector<PlannedSplit>& splits) const;
  bool SameConfiguration(const ReplayOptions& a, const ReplayOptions& b) const;
  Status Replay(const std::vector<ReplayOptions>& configs);

  const SweepInput& input_;
  const AdviceFacts& facts_;
  const OwnAccounts& own_;
  const bool is_periodic_;
  ReplayOptions as_is_;
  uint64_t bytes_ = 0;  // of space that all chunks take
  std::vector<std::pair<ReplayOptions, std::vector<SweepRow>>> replayed_;
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_REMEDIES_ADVICE_REPLAYS_H_
