#ifndef RINGSCOPE_CORE_GRAPH_CHUNK_GRAPH_BUILDER_H_
#define RINGSCOPE_CORE_GRAPH_CHUNK_GRAPH_BUILDER_H_

#include <cstdint>
#include <map>
#include <optional>
#include <variant>
#include <vector>

#include "core/base/interval_set.h"
#include "core/graph/chunk_graph.h"
#include "core/session/replay_listener.h"
#include "core/session/session.h"

namespace ringscope {

/// Which chunks of a graph are shown one by one.
struct FoldOptions {
  bool full = false;  // all of them: memory for each chunk
  /// Only those near this chunk; everything else is folded as far as can be.
  std::optional<ChunkId> around;
};

/// The chunks of one sequence during a replay. What is settled and like its neighbours is
/// folded, but for a few chunks at each end of a run. Memory: O(chunks held + kMaxItems).
class SequenceGraphBuilder {
 public:
  /// Chunks that stay unfolded at each end of a run of like ones.
  static constexpr size_t kContext = 2;
  /// The fewest chunks worth folding.
  static constexpr size_t kMinFold = 3;
  /// Chunks shown on each side of the chosen one.
  static constexpr uint64_t kAround = 8;
  /// Special chunks that are shown one by one; if there are more, they fold like any.
  static constexpr size_t kMaxSpecial = 64;
  /// Settled chunks and runs kept, unless all are to be shown; beyond, the oldest half is folded
  /// into one run.
  static constexpr size_t kMaxItems = 512;
  /// Chunks by which a writer must have continued before one that was only scraped can be folded.
  static constexpr uint64_t kMayBeRecommitted = 8;

  explicit SequenceGraphBuilder(FoldOptions options) : options_(options) {}

  /// A chunk is committed, for the first time or again.
  struct Arrival {
    ChunkNode* node = nullptr;  // nullptr if it was folded, and the re-commit is counted
    bool is_new = false;
  };
  Arrival Arrive(ChunkId chunk);
  /// Returns the chunk, or nullptr if it is folded or unknown.
  ChunkNode* Find(ChunkId chunk);
  /// Calls visit(ChunkNode&) for the unfolded chunks from `first` to `last`, in order.
  template <typename Visit>
  void VisitSpan(ChunkId first, ChunkId last, Visit visit) {
    const uint64_t begin = NumberOf(first);
    const uint64_t end = begin + Distance(first, last);
    for (auto at = items_.lower_bound(begin); at != items_.end() && at->first <= end; ++at)
      if (auto* node = std::get_if<ChunkNode>(&at->second.value)) visit(*node);
  }
  template <typename Visit>
  void VisitUnsettled(Visit visit) {
    for (auto& [id, item] : items_)
      if (!item.settled) visit(std::get<ChunkNode>(item.value));
  }

  /// The chunk's fate is final unless it is re-committed.
  void Settle(ChunkNode& node);
  /// The log is at its end: all fates are final.
  void SettleAll();
  void AddPacket(const PacketAccount& account);
  /// Adds patches for a chunk that is not among the unfolded ones.
  void AddStrayPatches(ChunkId chunk, uint64_t patches);

  /// Moves everything into the graph in order, with the gaps. Once.
  void MoveInto(SequenceGraph& graph);

 private:
  struct Item {
    std::variant<ChunkNode, ChunkRun> value;
    bool settled = false;  // runs are
  };
  using Items = std::map<uint64_t, Item>;

  static ChunkRun AsRun(const Item& item);
  uint64_t NumberOf(ChunkId chunk) const;
  ChunkNode* NodeAt(uint64_t id);
  ChunkRun* RunOf(uint64_t id);
  bool IsNearChosen(uint64_t id) const;
  bool IsDone(const Item& item) const;
  bool CanFold(const Item& item) const;
  bool CanJoin(const ChunkRun& run, const ChunkRun& next) const;
  void Fold();
  void FoldStretch(Items::iterator begin, Items::iterator end);
  void FoldOldestHalf();

  const FoldOptions options_;
  Items items_;  // by first id; nodes that come late may be inside of a run until they are folded
  IntervalSet seen_;
  ChunkIdUnwrapper ids_;
  size_t settled_since_fold_ = 0;
  bool folds_special_ = false;
  bool at_end_ = false;
  FateTally packets_;
  uint64_t orphan_patches_ = 0;
};

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
  void OnChunkEvent(Sequence& sequence, ChunkNode* node, const BufferEvent& event);
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
