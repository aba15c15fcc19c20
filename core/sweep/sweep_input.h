#ifndef RINGSCOPE_CORE_SWEEP_SWEEP_INPUT_H_
#define RINGSCOPE_CORE_SWEEP_SWEEP_INPUT_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "core/log/op.h"
#include "core/session/replay.h"

namespace ringscope {

/// Splits are judged by the newest release, whatever the engines of the configurations are.
inline uint32_t SweepRelease(const BufferSetUp&) { return kNewestRelease; }

/// Calls task(0) .. task(count - 1), perhaps on several threads, and returns after the last one.
/// Tasks with low numbers begin first.
using TaskRunner = std::function<void(size_t count, const std::function<void(size_t)>& task)>;

inline void RunInTurn(size_t count, const std::function<void(size_t)>& task) {
  for (size_t i = 0; i < count; ++i) task(i);
}

/// One session of a log, and what its sweeps need.
struct SweepInput {
  /// Opens the session's records, from the first one. Called once for each pass.
  std::function<Result<std::unique_ptr<OpSource>>()> open;
  /// The clone that is replayed; absent: the session itself. `open` then ends with the clone.
  std::optional<CloneView> clone;
  /// Resolves the engines that configurations name.
  EngineLookup find_engine = FindEngine;
  TaskRunner run_tasks = RunInTurn;
  LookAhead ahead = {};
  /// Whether recorded reads may have stopped at a limit, so that `ahead` is asked for their ends.
  bool has_limited_reads = true;
  /// The log's buffers, and their sizes in bytes.
  std::map<BufferId, uint64_t> buffers;
  /// Bytes of all commit requests: no buffer holds more.
  uint64_t commit_bytes = UINT64_MAX;
  /// Whether data sources have programs (ProtoVM).
  bool has_programs = false;
  /// Bytes that the buffers of one pass may hold.
  uint64_t memory_limit = uint64_t{128} << 20;
  /// Gets warnings for the user: the end of a sentence that begins with the log's name.
  std::function<void(const std::string&)> warn = [](const std::string&) {};
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_SWEEP_SWEEP_INPUT_H_
