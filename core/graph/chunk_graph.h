#ifndef RINGSCOPE_CORE_GRAPH_CHUNK_GRAPH_H_
#define RINGSCOPE_CORE_GRAPH_CHUNK_GRAPH_H_

#include "core/base/interval_set.h"
#include "core/ledger/ledger.h"

namespace ringscope {

// The chunk graph of a sequence: its chunks in order, what became of each, how packets continue
// from one to the next, who evicted them. Runs of like chunks are folded.

/// The fate of a chunk, as far as its packets go.
enum class ChunkFate : uint8_t {
  kRead,         // every fragment of it was read, or a read had nothing to take
  kPartlyRead,   // some was read; the rest was evicted, refused or abandoned
  kOverwritten,  // evicted, nothing of it read
  kDiscarded,    // the buffer refused it
  kRefused,      // the service refused it
  kAbandoned,    // a read consumed it, and returned nothing of it
  kReadable,     // still in the buffer: one more read would return the rest of it
  kStalled,      // still in the buffer: some of it waits, or would be abandoned
  kUnknown,      // the engine does not report it
  kMoved,        // a clone took the buffer over, this chunk with it
  kCleared,      // the buffer was cleared for a clone
};
/// A class of fates, with a colour or a sign in each output; the worst last.
enum class Tone : uint8_t { kGood, kFolded, kUnread, kWaiting, kPartly, kLost, kUnknown };
struct ToneRow {
  Tone value;
  const char* name;  // for style classes
  const char* sign;
  const char* text;  // of a legend
};
template <>
inline constexpr auto kEnumRows<Tone> = EnumTable<ToneRow>({
    {Tone::kGood, "good", "●", "read"},
    {Tone::kFolded, "folded", "◇", "folded into a state (ProtoVM)"},
    {Tone::kUnread, "unread", "○", "still readable"},
    {Tone::kWaiting, "waiting", "◌", "stalled"},
    {Tone::kPartly, "partly", "◐", "partly read, or abandoned"},
    {Tone::kLost, "lost", "✗", "overwritten, discarded or refused"},
    {Tone::kUnknown, "unknown", "?", "not reported"},
});
struct ChunkFateRow {
  ChunkFate value;
  const char* name;
  Tone tone;
  const char* text;
};
template <>
inline constexpr auto kEnumRows<ChunkFate> = EnumTable<ChunkFateRow>({
    {ChunkFate::kRead, "read", Tone::kGood, "read"},
    {ChunkFate::kPartlyRead, "partly_read", Tone::kPartly, "partly read"},
    {ChunkFate::kOverwritten, "overwritten", Tone::kLost, "overwritten"},
    {ChunkFate::kDiscarded, "discarded", Tone::kLost, "discarded"},
    {ChunkFate::kRefused, "refused", Tone::kLost, "refused by the service"},
    {ChunkFate::kAbandoned, "abandoned", Tone::kPartly, "abandoned"},
    {ChunkFate::kReadable, "readable", Tone::kUnread, "still readable"},
    {ChunkFate::kStalled, "stalled", Tone::kWaiting, "stalled"},
    {ChunkFate::kUnknown, "unknown", Tone::kUnknown, "not reported by the engine"},
    {ChunkFate::kMoved, "moved", Tone::kUnread, "moved into a clone"},
    {ChunkFate::kCleared, "cleared", Tone::kLost, "cleared for a clone"},
});
inline constexpr size_t kChunkFates = kEnumRows<ChunkFate>.size();

/// Packets that were overwritten, by the sequences whose commits needed the space.
struct EvictorTally {
  static constexpr size_t kMost = 16;  // sequences

  std::map<SequenceKey, uint64_t> packets;  // of those that came first
  uint64_t others = 0;                      // packets, for all other sequences

  void Add(SequenceKey evictor, uint64_t count) {
    const bool is_listed = packets.size() < kMost || packets.contains(evictor);
    (is_listed ? packets[evictor] : others) += count;
  }
};

/// Effects of patches on a chunk. Each counts as many as a request had for the chunk.
struct PatchTally {
  uint64_t applied = 0;
  uint64_t late = 0;     // the chunk had already left the buffer
  uint64_t missed = 0;   // the chunk was never in the buffer
  uint64_t refused = 0;  // outside of the chunk

  friend bool operator==(const PatchTally&, const PatchTally&) = default;
};

/// Sums over the chunks of a run, or over the commits of one chunk.
struct ChunkSums {
  uint64_t bytes = 0;  // of fragments, size varints included
  uint64_t fragments = 0;
  uint64_t abandoned = 0;  // fragments
  uint64_t invalid = 0;    // packets returned, and then rejected by the service
  uint64_t recommits = 0;
  uint64_t relocations = 0;  // how often a chunk moved to the write cursor
  PatchTally patches;
  uint32_t loss_bits = 0;    // that packets which begin here carried into the trace
  uint32_t writer_bits = 0;  // loss bits that their writer itself had set on them
  FateCounts packets;        // that begin here
  EvictorTally evictors;     // of these
  // Ties of the first and the last chunk to their neighbours.
  bool continues_previous = false;
  bool continues_on_next = false;
  bool next_read = false;  // a packet that continues in the next chunk was read
};

/// A chunk and its life.
struct ChunkNode : ChunkSums {
  uint64_t id = 0;  // unwrapped: the lower 32 bits are the chunk's id
  LogMoment committed;
  std::optional<LogMoment> read;  // all of it; V1 keeps it until its space is needed
  std::optional<LogMoment> left;  // evicted, consumed or refused
  bool out_of_order = false;      // committed after a chunk of its sequence with a higher id
  uint32_t outer_size = 0;        // bytes it occupied in the buffer; 0: it was never in it
  uint8_t flags = 0;              // as committed, of the shared-memory ABI
  Origin origin = Origin::kImported;
  bool complete = false;  // committed by its writer, not only scraped
  ChunkEnd end = ChunkEnd::kClean;

  ChunkFate fate = ChunkFate::kUnknown;
  std::optional<DiscardReason> discarded;
  std::optional<Refusal> refused;
  std::optional<ChunkName> culprit;  // evicted: the commit that needed the space
  std::optional<Erasure> for_clone;  // kTransferred, kDropped: it left with all others, for a clone
  std::optional<StallReason> stall;  // what the sequence waited for here, last
  std::optional<LogMoment> stalled;  // the first read that it stalled
  uint32_t stalls = 0;               // how many reads it stalled
  std::optional<DiscardReason> recommit_refused;
  bool unpatched = false;           // still waited for patches when it left, or at the end
  uint32_t packet_fragments = 0;    // fragments that are packets or parts of packets
  uint32_t read_fragments = 0;      // of these
  uint32_t readable_fragments = 0;  // at the end

  bool is_in_buffer() const { return outer_size > 0 && !left; }
  /// Returns true if a run of like chunks would hide something.
  bool is_special() const {
    return fate == ChunkFate::kPartlyRead || fate == ChunkFate::kAbandoned ||
           fate == ChunkFate::kStalled || end != ChunkEnd::kClean || invalid > 0 ||
           relocations > 0 || patches.refused > 0 || out_of_order;
  }
};

/// Consecutive chunks with the same fate; with different ones where memory is limited.
struct ChunkRun : ChunkSums {
  uint64_t first = 0;  // unwrapped ids, both ends included
  uint64_t last = 0;
  uint64_t chunks = 1;
  LogMoment from;  // commits
  LogMoment to;
  std::array<uint64_t, kChunkFates> by_fate{};  // chunks
  std::optional<DiscardReason> discarded;       // of all that were, if the same
  std::optional<Refusal> refused;
  uint64_t unpatched = 0;  // chunks
  uint64_t aborted = 0;    // chunks that end with an aborted packet
  uint64_t broken = 0;     // chunks that end in a broken size

  explicit ChunkRun(const ChunkNode& node);
  void Append(const ChunkRun& next);
  /// Ids between first and last that no chunk has.
  uint64_t missing() const { return last - first + 1 - chunks; }
  /// The fate of all of them; nullopt if they differ.
  std::optional<ChunkFate> fate() const {
    const auto all = std::ranges::find(by_fate, chunks);
    if (all == by_fate.end()) return std::nullopt;
    return static_cast<ChunkFate>(all - by_fate.begin());
  }
};

/// Ids that no chunk in the log has.
struct ChunkGap {
  uint64_t first = 0;
  uint64_t last = 0;
};

using GraphItem = std::variant<ChunkNode, ChunkRun, ChunkGap>;

/// The tie between a chunk and its successor.
enum class Link : uint8_t { kNone, kRead, kNotRead, kTorn };
template <>
inline constexpr auto kEnumRows<Link> = EnumTable<EnumRow<Link>>({
    {Link::kNone, "none", "no packet continues"},
    {Link::kRead, "read", "packet continues: read"},
    {Link::kNotRead, "not_read", "packet continues: not read"},
    {Link::kTorn, "torn", "packet broken: the next chunk does not continue it"},
});

/// All chunks that a sequence committed to a buffer.
struct SequenceGraph {
  BufferId buffer{};
  uint32_t generation = 0;  // counts buffers of this id: 0 for the first
  SequenceKey sequence;
  std::vector<GraphItem> items;  // in order of ids, with what is between them
  uint64_t chunks = 0;
  uint64_t bytes = 0;
  FateCounts packets;
  uint64_t orphan_patches = 0;  // for chunks that are not in the log

  FateCount lost() const {
    FateCount sum = packets.lost();
    return sum += packets.Of(FateGroup::kDropped);
  }
  /// The tie between items[i] and items[i + 1].
  Link LinkAfter(size_t i) const;
};

/// Worst first: by packets lost, then by bytes lost, then by size.
void SortByLoss(std::vector<SequenceGraph>& graphs);

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
  /// @return nullptr if it was folded, and the re-commit is counted; and whether it is new
  std::pair<ChunkNode*, bool> Arrive(ChunkId chunk);
  /// Returns the chunk, or nullptr if it is folded or unknown.
  ChunkNode* Find(ChunkId chunk) { return NodeAt(NumberOf(chunk)); }
  /// Calls visit(ChunkNode&) for the unfolded chunks from `first` to `last`, in order.
  template <typename Visit>
  void VisitSpan(ChunkId first, ChunkId last, Visit visit) {
    const uint64_t begin = NumberOf(first);
    const uint64_t end = begin + Distance(first, last);
    for (auto at = items_.lower_bound(begin); at != items_.end() && at->first <= end; ++at)
      if (auto* node = std::get_if<ChunkNode>(&at->second.value)) visit(*node);
  }

  /// Decides the chunk's fate, which is final unless it is re-committed.
  void Settle(ChunkNode& node);
  /// The read at the buffer's end stalled at this chunk.
  void StallAtEnd(ChunkId chunk, StallReason reason) { stalled_at_ = chunk, stall_ = reason; }
  /// The buffer is at its end: what is still in it gets the fate of what stays.
  void Close();
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
  ChunkNode* NodeAt(uint64_t id) {
    Item* const item = FindIn(items_, id);
    return item == nullptr ? nullptr : std::get_if<ChunkNode>(&item->value);
  }
  ChunkRun* RunOf(uint64_t id);
  bool IsNearChosen(uint64_t id) const;
  bool IsDone(const Item& item) const;
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
  std::optional<ChunkId> stalled_at_;  // by the read at the end
  StallReason stall_{};
  FateCounts packets_;
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
  void OnRecord(const Op& op, const LogMoment& moment) override {
    now_ = moment;
    if (const auto* commit = std::get_if<Commit>(&op.body)) origin_ = commit->origin;
  }
  void OnBufferSetUp(SessionBuffer& buffer) override {
    if (options_.buffer && options_.buffer->Names(buffer.id, buffer.index))
      options_.buffer = buffer.id;
  }
  void OnBufferReplaced(SessionBuffer& buffer) override;
  void OnChunk(BufferId buffer, const ChunkCommit& commit, std::optional<Refusal> refusal) override;
  void OnChunkDone(BufferId buffer, const ChunkCommit& commit) override {
    // An engine that does not report it, or a chunk that had left and was re-committed in vain.
    if (arriving_ != nullptr && !arriving_->is_in_buffer())
      SequenceOf(buffer, commit.sequence)->Settle(*arriving_);
    arriving_ = nullptr;
  }
  Status OnPacket(const SessionPacket& packet) override;
  void OnBufferEvent(const BufferEvent& event) override;
  void OnDrainEvent(const BufferEvent& event) override;
  void OnPacketFate(const PacketAccount& account) override {
    if (auto* sequence = SequenceOf(account.buffer, account.sequence)) sequence->AddPacket(account);
  }

  /// Returns the graphs, by buffer and sequence, once the ledger has finished. Once.
  std::vector<SequenceGraph> Take();

 private:
  struct Key {
    BufferId buffer;
    uint32_t generation;
    SequenceKey sequence;
    friend auto operator<=>(const Key&, const Key&) = default;
  };

  /// Returns nullptr for a sequence that is not drawn.
  SequenceGraphBuilder* SequenceOf(BufferId buffer, SequenceKey sequence);

  Options options_;
  std::map<Key, SequenceGraphBuilder> sequences_;
  std::map<BufferId, uint32_t> generations_;
  LogMoment now_;
  Origin origin_ = Origin::kImported;
  ChunkNode* arriving_ = nullptr;  // by the commit under way, unless it is not drawn, or folded
  WrittenChunk written_;           // scratch
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_GRAPH_CHUNK_GRAPH_H_
