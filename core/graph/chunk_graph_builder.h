#ifndef RINGSCOPE_CORE_GRAPH_CHUNK_GRAPH_BUILDER_H_
#define RINGSCOPE_CORE_GRAPH_CHUNK_GRAPH_BUILDER_H_

#include <map>
#include <optional>
#include <vector>

#include "core/graph/sequence_graph_builder.h"
#include "core/session/replay_listener.h"
#include "core/session/session.h"

namespace ringscope {

/// Makes the chunk graphs of a replay. Memory: as SequenceGraphBuilder's, for each sequence.
class ChunkGraphBuilder : public ReplayListener, public LedgerSink {
 public:
  struct Options {
    std::optional<BufferKey> buffer;     // absent: all
    std::vector<SequenceKey> sequences;  // empty: all
    FoldOptions fold;
  };

  explicit ChunkGraphBuilder(Options options) : options_(std::move(options)) {}

  bool WantsBufferEvents() const override { return true; }
  void OnRecord(const Op& op, const LogMoment& moment) override;
  void OnBufferSetUp(SessionBuffer& buffer) override {
    if (options_.buffer && options_.buffer->Names(buffer.id, buffer.index))
      options_.buffer = buffer.id;
  }
  void OnBufferReplaced(SessionBuffer& buffer) override;
  void OnChunk(BufferId buffer, const ChunkCommit& commit, std::optional<Refusal> refusal) override;
  void OnChunkDone(BufferId buffer, const ChunkCommit& commit) override;
  Status OnPacket(const SessionPacket& packet) override;
  void OnBufferEvent(const BufferEvent& event) override;
  void OnDrainEvent(const BufferEvent& event) override;
  void OnPacketFate(const PacketAccount& account) override;

  /// Returns the graphs, by buffer and sequence, once the ledger has finished. Once.
  std::vector<SequenceGraph> Take();

 private:
  struct Key {
    BufferId buffer;
    uint32_t generation;
    SequenceKey sequence;
    friend auto operator<=>(const Key&, const Key&) = default;
  };
  struct Sequence {
    explicit Sequence(FoldOptions options) : chunks(options) {}
    SequenceGraphBuilder chunks;
    // Where the read at the end stalled.
    std::optional<ChunkId> stalled_at;
    StallReason stall{};
    uint64_t newest = 0;  // the highest id so far, unwrapped
  };

  Sequence* SequenceOf(BufferId buffer, SequenceKey sequence);
  void Describe(const ChunkCommit& commit, ChunkNode& node);
  void OnChunkEvent(Sequence& sequence, ChunkNode& node, const BufferEvent& event);
  void Settle(Sequence& sequence, ChunkNode& node);
  void Close(Sequence& sequence);

  Options options_;
  std::map<Key, Sequence> sequences_;
  std::map<BufferId, uint32_t> generations_;
  LogMoment now_;
  Origin origin_ = Origin::kImported;
  // The commit under way.
  ChunkNode* arriving_ = nullptr;  // nullptr if its sequence is not drawn, or it is folded
  bool arriving_is_new_ = false;
  WrittenChunk written_;  // scratch
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_GRAPH_CHUNK_GRAPH_BUILDER_H_
