#ifndef RINGSCOPE_CORE_GAPS_STALE_PACKETS_H_
#define RINGSCOPE_CORE_GAPS_STALE_PACKETS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "core/engine/engine.h"
#include "core/ledger/written_commit.h"
#include "core/perfetto/clocks.h"

namespace ringscope {

/// How much later than its timestamp a packet may be committed: the usual time between two flushes.
inline constexpr uint64_t kStaleNs = 5'000'000'000;

/// A packet that waited for its commit.
struct StaleEvent {
  uint64_t time_ns = 0;              // of the packet, or of its oldest event of ftrace
  uint64_t delay_ns = 0;             // from then to its commit
  uint64_t chunk = 0;                // id
  std::optional<uint32_t> cpu = {};  // of that event
};

/// Packets of one sequence that their writer committed long after it wrote them.
struct StaleSequence {
  static constexpr size_t kMostListed = 4096;

  BufferId buffer{};
  SequenceKey sequence;
  uint64_t packets = 0;  // with a time that is known
  uint64_t stale = 0;    // of these, committed later than the limit
  StaleEvent longest;
  std::vector<StaleEvent> events;  // the first kMostListed that are stale
};

/// Compares the packets' own times, or those of their events of ftrace, with those of their
/// commits. Memory: O(sequences).
class StalePackets {
 public:
  void AddClocks(Bytes snapshot) { clocks_.AddSnapshot(snapshot); }
  /// A packet's first fragment: its index in its chunk, what is in it (ReadPacketFacts), its bytes,
  /// and its time, or that of its first event of ftrace, where it is known.
  using Visitor = std::function<void(size_t fragment, const PacketFacts& facts, Bytes content,
                                     Bytes packet, std::optional<uint64_t> time_ns)>;
  /// A chunk as it is committed, in the log's order.
  /// @param start_ns of the session: what is older was not held back in it
  /// @param visit called with each packet that begins in it and was not seen before
  void AddChunk(BufferId buffer, WrittenCommit& written, uint64_t start_ns,
                std::optional<uint64_t> now_ns, const Visitor& visit = {});
  /// Sequences that have stale packets.
  std::vector<StaleSequence> Result() const;

 private:
  struct Sequence {
    StaleSequence result;
    SequenceClocks clocks;
    std::optional<ChunkId> chunk;  // the last one
    size_t fragments = 0;          // of it, that were seen
  };

  Clocks clocks_;
  std::map<std::pair<BufferId, SequenceKey>, Sequence> sequences_;
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_GAPS_STALE_PACKETS_H_
