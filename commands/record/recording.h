#ifndef RINGSCOPE_COMMANDS_RECORD_RECORDING_H_
#define RINGSCOPE_COMMANDS_RECORD_RECORDING_H_

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>

#include "commands/record/clone_watch.h"
#include "commands/record/file_watch.h"
#include "commands/record/flush_watch.h"
#include "commands/record/memory_watch.h"
#include "commands/record/session_buffers.h"
#include "core/log/op.h"

namespace ringscope {

/// Counters for the status line and the summary.
struct RecordCounts {
  uint64_t producers = 0;  // connected now
  uint64_t producers_seen = 0;
  uint64_t sequences = 0;
  uint64_t chunks = 0;  // committed or scraped
  uint64_t chunk_bytes = 0;
  uint64_t patches = 0;
  uint64_t checks = 0;  // times that the service has listed the producers which take part
};

/// What the taps of one recording share. All of it belongs to the loop's thread.
struct Recording {
  RecordSink& log;
  SessionBuffers& buffers;
  Instances& instances;
  FlushWatch& flushes;
  CloneWatch& clones;
  FileWatch& files;
  RecordCounts& counts;
  /// Has the producers scraped that are not asked to flush, as the service does now or soon.
  /// @return whether that waits for their turns
  std::function<bool()> scrape_unasked = [] { return false; };
  std::optional<LookLimits> looks = {};  // at producers' shared memory; absent: there are none
  LookBudget look_budget = {};           // of all of them
  /// A producer's memory is to be looked at again, by Tap::LookAgain.
  std::function<void()> on_waiting_memory = [] {};
  /// A session is written into a file that is watched.
  std::function<void()> on_file = [] {};
  /// What MayPass or HoldsServiceFrames of any tap returns may have changed.
  std::function<void()> on_released = [] {};
  uint64_t last_flush = 0;     // id of the last flush that a producer was asked for
  uint16_t last_producer = 0;  // producers are numbered in the order of their connecting
  std::multiset<std::string> connected = {};  // names of the producers that are
  uint32_t identifying = 0;  // requests under way for the service's number of a session
};

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_RECORD_RECORDING_H_
