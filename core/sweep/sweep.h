#ifndef RINGSCOPE_CORE_SWEEP_SWEEP_H_
#define RINGSCOPE_CORE_SWEEP_SWEEP_H_

#include <map>
#include <memory>
#include <vector>

#include "core/sweep/sweep_input.h"
#include "core/sweep/sweep_replay.h"
#include "core/sweep/sweep_result.h"

namespace ringscope {

/// A configuration of a sweep.
struct SweepConfig {
  /// Configurations of the same setting differ in the sizes of buffers alone.
  size_t setting = 0;
  ReplayOptions options;
};

/// Replays one session in many configurations. A pass over the records is decoded once, in
/// sections, and each section goes through all replays of the pass.
class Sweep {
 public:
  explicit Sweep(SweepInput input) : input_(std::move(input)) {}

  /// Runs configurations, in as many passes as memory calls for. The largest one of each new
  /// setting keeps the accounts by which the losses of the others are found.
  /// @return rows by buffer id, of each configuration
  Result<std::vector<std::vector<SweepRow>>> Run(const std::vector<SweepConfig>& configs);
  /// After a Run: what all configurations have in common, of one of them.
  const ReplayOutcome& outcome() const { return outcome_; }
  const SweepInput& input() const { return input_; }

 private:
  uint64_t BytesOf(const ReplayOptions& config) const;
  Status RunPass(std::vector<std::unique_ptr<SweepReplay>>& replays);
  std::unique_ptr<SweepReplay> MakeReplay(const SweepConfig& config, bool with_ledger) const;

  const SweepInput input_;
  std::map<size_t, std::shared_ptr<const SessionAccounts>> accounts_;  // by setting
  ReplayOutcome outcome_;
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_SWEEP_SWEEP_H_
