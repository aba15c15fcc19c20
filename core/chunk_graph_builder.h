#ifndef RINGSCOPE_CORE_CHUNK_GRAPH_BUILDER_H_
#define RINGSCOPE_CORE_CHUNK_GRAPH_BUILDER_H_

#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "core/chunk_lane.h"
#include "core/journal.h"
#include "core/session.h"

namespace ringscope {

/// Follows a replay and draws the chunk graphs of its sequences. It is a sink of the session, a
/// sink of the ledger and a listener of the journal (OnEvent); of the session's sinks the ledger
/// comes first. Memory: as ChunkLane's, for each sequence.
class ChunkGraphBuilder : public SessionSink, public LedgerSink {
 public:
  struct Options {
    std::optional<BufferId> buffer;      // absent: all
    std::vector<SequenceKey> sequences;  // empty: all
    FoldOptions fold;
  };

  explicit ChunkGraphBuilder(Options options) : options_(std::move(options)) {}

  void OnEvent(const JournalEvent& event);

  void OnRecord(const Op& op, uint64_t number) override;
  void OnBufferReplaced(SessionBuffer& buffer) override;
  void OnChunk(BufferId buffer, const ChunkCommit& commit, std::optional<Refusal> refusal) override;
  void OnChunkDone(BufferId buffer, const ChunkCommit& commit) override;
  void OnReadBegun(BufferId) override { phase_ = Phase::kReading; }
  void OnReadDone(BufferId, uint64_t) override { phase_ = Phase::kIdle; }
  Status OnPacket(const SessionPacket& packet) override;
  void OnPacketFate(const PacketAccount& account) override;

  /// The graphs, by buffer and sequence, once the ledger has finished. The builder is of no further
  /// use.
  std::vector<SequenceGraph> Take();

 private:
  /// What the engine is being asked. What it does while idle is the ledger's doing, which reads the
  /// buffers out at their end: such packets are readable, and nothing else counts.
  enum class Phase : uint8_t { kIdle, kCommitting, kReading };

  struct Key {
    BufferId buffer;
    uint32_t generation;
    SequenceKey sequence;
    friend auto operator<=>(const Key&, const Key&) = default;
  };
  struct Lane {
    explicit Lane(FoldOptions options) : chunks(options) {}
    ChunkLane chunks;
    // Where the reading out at the end got stuck.
    std::optional<ChunkId> stalled_at;
    StallReason stall{};
  };

  Lane* LaneOf(BufferId buffer, SequenceKey sequence);
  void Describe(const ChunkCommit& commit, ChunkNode& node);
  void OnReturned(Lane& lane, const JournalEvent& event);
  void OnGivenUp(Lane& lane, const JournalEvent& event);
  void OnErased(Lane& lane, const JournalEvent& event);
  void OnDiscarded(Lane& lane, const JournalEvent& event);
  void OnStalled(Lane& lane, const JournalEvent& event);
  void OnPatches(Lane& lane, const JournalEvent& event);
  void Settle(Lane& lane, ChunkNode& node);
  void Close(Lane& lane);

  const Options options_;
  std::map<Key, Lane> lanes_;
  std::map<BufferId, uint32_t> generations_;
  LogMoment now_;
  Origin origin_ = Origin::kImported;
  Phase phase_ = Phase::kIdle;
  // The commit under way.
  ChunkNode* arriving_ = nullptr;  // nullptr: its sequence is not drawn, or it is folded
  bool arriving_is_new_ = false;
  bool relocating_ = false;
  std::optional<ChunkName> evicting_for_;
  WrittenChunk written_;  // scratch
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_CHUNK_GRAPH_BUILDER_H_
