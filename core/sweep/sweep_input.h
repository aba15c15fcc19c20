#ifndef RINGSCOPE_CORE_SWEEP_SWEEP_INPUT_H_
#define RINGSCOPE_CORE_SWEEP_SWEEP_INPUT_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/log/op.h"
#include "core/session/session.h"
#include "core/sweep/sweep_batch.h"
#include "core/sweep/sweep_replay.h"
#include "core/tape/tape_recorder.h"

namespace ringscope {

class KeptBatches;

/// Takes the replays of a sweep through batches: each replay through all of them, in order;
/// different replays perhaps on different threads.
class ReplayRunner {
 public:
  virtual ~ReplayRunner() = default;
  virtual void Put(std::shared_ptr<const SweepBatch> batch) = 0;
  /// Calls `last` for each replay once it is through all batches, and returns when all were. Call
  /// it before the replays are used again.
  virtual void Finish(const std::function<void(SweepReplay&)>& last) = 0;
};

/// What the configurations of a sweep share is judged by the newest release, whatever their own.
inline uint32_t SweepRelease(const BufferSetUp&) { return kNewestRelease; }

/// One session of a log, and what else sweeps of it need.
struct SweepInput {
  /// Opens the session's records, from the first one; called again where they are needed again.
  std::function<Result<std::unique_ptr<OpSource>>()> open;
  /// Whose reads count; absent: the session's own. `open` then ends with the clone.
  std::optional<CloneView> clone;
  /// Resolves the engines that configurations name.
  EngineLookup find_engine;
  /// @param replays not owned
  std::function<std::unique_ptr<ReplayRunner>(const std::vector<SweepReplay*>& replays)>
      run_replays;
  /// Makes what plays to the listeners of a replay, perhaps in another thread; may be empty: they
  /// listen to it themselves.
  std::function<std::unique_ptr<TapeRunner>(TapePlayer&)> run_tape;
  LookAhead ahead = {};
  /// What a replay of the same records kept, so that sweeps by shapes need not read them; if that
  /// is nothing, the first sweep fills it. Not owned; nullptr: each sweep reads the records.
  KeptBatches* kept = nullptr;
  /// Gets what the user should know, as a sentence of which the log's name is the beginning.
  std::function<void(const std::string&)> warn;
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_SWEEP_SWEEP_INPUT_H_
