#ifndef RINGSCOPE_CORE_SWEEP_SWEEP_H_
#define RINGSCOPE_CORE_SWEEP_SWEEP_H_

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/log/configured_ops.h"
#include "core/perfetto/fill_policy.h"
#include "core/sweep/sweep_replay.h"

namespace ringscope {

/// Calls task(0) .. task(count - 1), perhaps on several threads, and returns after the last one.
/// Tasks with low numbers begin first.
using TaskRunner = std::function<void(size_t count, const std::function<void(size_t)>& task)>;

inline void RunInTurn(size_t count, const std::function<void(size_t)>& task) {
  for (size_t i = 0; i < count; ++i) task(i);
}

/// Facts about a session that a sweep needs; by default those of one that was not scanned.
struct SessionFacts {
  struct Buffer {
    uint64_t size = 0;  // bytes
    FillPolicy policy = FillPolicy::kRingBuffer;
  };
  std::map<BufferId, Buffer> buffers;  // as the log sets them up
  bool has_reads = false;              // that touch the buffers, see ServiceReads
  bool has_limited_reads = true;       // some may stop at so many bytes: SweepInput::ahead is asked
  bool streams = false;                // into a file
  bool has_programs = false;           // ProtoVM
  /// Bytes of all commit requests: no buffer holds more.
  uint64_t commit_bytes = UINT64_MAX;
};

/// One session of a log, and what its sweeps need.
struct SweepInput {
  /// Opens the session's records, from the first one. Called once for each pass.
  std::function<Result<std::unique_ptr<OpSource>>()> open;
  /// The clone that is replayed; absent: the session itself. `open` then ends with the clone.
  std::optional<CloneFacts> clone;
  /// Resolves the engines that configurations name.
  EngineLookup find_engine = FindEngine;
  TaskRunner run_tasks = RunInTurn;
  LookAhead ahead = {};
  bool is_reconfigured = false;  // see ReplayOptions
  SessionFacts facts;
  /// Bytes that the buffers of one pass may hold.
  uint64_t memory_limit = uint64_t{128} << 20;
  /// Gets warnings for the user: the end of a sentence that begins with the log's name.
  std::function<void(const std::string&)> warn = [](const std::string&) {};
};

/// A configuration of a sweep.
struct SweepConfig {
  /// Configurations of the same setting differ in the sizes of buffers alone.
  size_t setting = 0;
  ReplayOptions options;
  /// The session is replayed as if it had had this config; empty: its own.
  SessionConfig session = {};
};

/// Replays one session in many configurations. A pass over the records is decoded once, in
/// sections, and each section goes through all replays of the pass.
class Sweep {
 public:
  explicit Sweep(SweepInput input) : input_(std::move(input)) {}

  /// Replays configurations with all accounts. The largest one of each new setting has a ledger, by
  /// which the losses of the others are found; where that is not exact, they have their own.
  /// @return rows by buffer id, of each configuration
  Result<std::vector<std::vector<SweepRow>>> Run(const std::vector<SweepConfig>& configs);
  /// After a Run: what all configurations have in common, of one of them.
  const ReplayOutcome& outcome() const { return outcome_; }
  const SweepInput& input() const { return input_; }
  /// Bytes that the buffers of a configuration take.
  uint64_t BytesOf(const ReplayOptions& config) const;

 private:
  using HasLedger = std::function<bool(const SweepConfig&)>;
  using Visit = std::function<void(size_t, SweepReplay&)>;

  Status RunPasses(const std::vector<SweepConfig>& configs, std::vector<size_t> which,
                   const HasLedger& has_ledger, const Visit& visit);
  Status RunPass(std::vector<std::unique_ptr<SweepReplay>>& replays);

  const SweepInput input_;
  /// The accounts of the largest configuration of a setting.
  struct Largest {
    uint64_t bytes = 0;
    std::shared_ptr<const SessionAccounts> accounts;
  };
  std::map<size_t, Largest> largest_;  // by setting
  ReplayOutcome outcome_;
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_SWEEP_SWEEP_H_
