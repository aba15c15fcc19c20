#ifndef RINGSCOPE_CORE_SWEEP_RESULT_H_
#define RINGSCOPE_CORE_SWEEP_RESULT_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/ids.h"
#include "core/ledger.h"
#include "core/loss_analysis.h"
#include "core/replay.h"
#include "core/session.h"
#include "core/stats.h"

namespace ringscope {

/// One configuration of a sweep: what is chosen for the buffers, and when they are read.
struct SweepConfig {
  BufferChoice all;
  std::map<BufferId, BufferChoice> buffers;  // for one, stronger than `all`
  ReadsMode reads = ReadsMode::kAuto;
  uint64_t every_ns = 0;               // for ReadsMode::kEvery
  std::optional<uint64_t> pass_bytes;  // bytes per read pass
};

/// How one sequence came out of a configuration.
struct SweepSequence {
  SequenceKey sequence;
  FateCount written;
  FateCount read;
  FateCount overwritten;
  /// How far back it reaches, see SweepRow::history_ns.
  uint64_t history_ns = 0;
};

/// How one buffer came out of a configuration. Each number is what a replay of the configuration
/// gives.
struct SweepRow {
  BufferId buffer{};
  std::string engine;
  uint64_t size = 0;  // bytes, as asked for
  FillPolicy policy = FillPolicy::kRingBuffer;

  FateCount written;  // packets that writers wrote to this buffer; bytes: of their payload
  FateCount read;     // returned by the read passes, clones apart, however valid
  FateCount unread;   // what one more read would have returned
  // Why packets are missing. (Their bytes can lack pieces that came after newer chunks of the
  // sequence were lost.) What is left of `written` is what no buffer could have given:
  // unfinished, aborted, refused by the service, broken.
  FateCount overwritten;
  FateCount discarded;  // by the buffer: fill policy, or a chunk that came too late
  BufferStats stats;
  BufferLosses losses;  // what the read packets say of losses

  /// From the commit of the oldest packet that the last read returned to the end of the log; 0: it
  /// returned nothing. The last read: all passes at the end, or the last recorded pass.
  uint64_t history_ns = 0;
  /// The shortest history of any of its sequences that wrote packets: what the whole buffer can be
  /// relied on for. A sequence that lost nothing to overwriting or discarding has the log's
  /// duration.
  uint64_t shortest_history_ns = 0;
  std::optional<SequenceKey> shortest_sequence;
  uint64_t used_bytes = 0;               // of the buffer that were ever written: its memory
  std::vector<SweepSequence> sequences;  // in order of first commit
};

/// What a sweep of one session found.
struct SweepResult {
  std::string path;
  uint64_t session = 0;  // number in the input, from 1
  uint64_t records = 0;
  uint64_t recorder_gaps = 0;
  std::optional<uint64_t> first_time_ns;
  std::optional<uint64_t> last_time_ns;
  /// By configuration; in each a row per buffer, by id.
  std::vector<std::vector<SweepRow>> rows;

  uint64_t duration_ns() const {
    return first_time_ns && last_time_ns ? *last_time_ns - *first_time_ns : 0;
  }
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_SWEEP_RESULT_H_
