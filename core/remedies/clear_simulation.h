#ifndef RINGSCOPE_CORE_REMEDIES_CLEAR_SIMULATION_H_
#define RINGSCOPE_CORE_REMEDIES_CLEAR_SIMULATION_H_

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "core/base/sequence_map.h"
#include "core/log/op.h"
#include "core/perfetto/commit_request.h"

namespace ringscope {

/// Outcome of a clear_period_ms for a ring that is read once, at the session's end.
struct ClearedOutcome {
  uint64_t period_ns = 0;
  uint64_t packets = 0;     // that the ring holds at the end
  uint64_t usable = 0;      // of these, those whose incremental state is in it
  uint64_t more_bytes = 0;  // that producers write, in the whole session
};

/// Simulates that the service clears the producers' incremental state periodically. After each
/// clear a sequence writes the state again that it had by then, in front of its next chunk: what it
/// interned, its defaults and its tracks. Counts packets in the chunks in which they begin.
/// Memory: O(chunks of the ring).
class ClearSimulation {
 public:
  /// @param size of the ring, bytes
  /// @param periods to try, ns, none of them 0
  ClearSimulation(BufferId buffer, uint64_t size, std::vector<uint64_t> periods);

  /// Takes the session's records, in order.
  void Add(const Op& op);
  /// Returns the outcome for each period, after the last record.
  std::vector<ClearedOutcome> Outcomes() const;

 private:
  struct Chunk {
    SequenceKey sequence;
    uint64_t time_ns = 0;
    std::optional<uint64_t> before_ns;  // the sequence's chunk before
    uint64_t bytes = 0;                 // that it takes in the ring
    uint64_t state_bytes = 0;           // of the sequence's state before it
    uint64_t packets = 0;
    uint64_t needing = 0;  // packets that need state
    bool clears = false;   // its writer clears the state in it
  };
  struct Sequence {
    std::optional<uint64_t> last_ns;
    uint64_t state_bytes = 0;
  };

  void AddChunk(SequenceKey key, uint64_t time_ns, Bytes payload, const ChunkHeader& header);
  /// Returns true if a clear comes before the chunk, and after the sequence's chunk before.
  bool FollowsClear(const Chunk& chunk, uint64_t period_ns) const;
  ClearedOutcome OutcomeOf(size_t period) const;

  const BufferId buffer_;
  const uint64_t size_;
  const std::vector<uint64_t> periods_;
  std::vector<uint64_t> more_bytes_;  // by period
  std::optional<uint64_t> start_ns_;
  std::deque<Chunk> chunks_;  // the newest, as many as the ring may hold
  uint64_t bytes_ = 0;        // of these
  SequenceMap<Sequence> sequences_;
  CommitRequestParser parser_;
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_REMEDIES_CLEAR_SIMULATION_H_
