#include "core/graph/chunk_graph.h"

#include <tuple>

namespace ringscope {

ChunkRun::ChunkRun(const ChunkNode& node)
    : ChunkSums(node),
      first(node.id),
      last(node.id),
      from(node.committed),
      to(node.committed),
      discarded(node.discarded),
      refused(node.refused),
      unpatched(node.unpatched ? 1 : 0),
      aborted(node.end == ChunkEnd::kAborted ? 1 : 0),
      broken(node.end == ChunkEnd::kBroken ? 1 : 0) {
  by_fate[static_cast<size_t>(node.fate)] = 1;
}

void ChunkRun::Append(const ChunkRun& next) {
  bytes += next.bytes;
  fragments += next.fragments;
  abandoned += next.abandoned;
  invalid += next.invalid;
  recommits += next.recommits;
  relocations += next.relocations;
  patches.applied += next.patches.applied;
  patches.late += next.patches.late;
  patches.missed += next.patches.missed;
  patches.refused += next.patches.refused;
  loss_bits |= next.loss_bits;
  writer_bits |= next.writer_bits;
  packets += next.packets;
  for (const auto& [evictor, count] : next.evictors.packets) evictors.Add(evictor, count);
  evictors.others += next.evictors.others;
  if (next.first < first) first = next.first, continues_previous = next.continues_previous;
  if (next.last > last) {
    last = next.last;
    continues_on_next = next.continues_on_next;
    next_read = next.next_read;
  }
  chunks += next.chunks;
  if (next.from.record < from.record) from = next.from;
  if (next.to.record > to.record) to = next.to;
  for (size_t i = 0; i < kChunkFates; ++i) by_fate[i] += next.by_fate[i];
  if (discarded != next.discarded) discarded.reset();
  if (refused != next.refused) refused.reset();
  unpatched += next.unpatched;
  aborted += next.aborted;
  broken += next.broken;
}

Link SequenceGraph::LinkAfter(size_t i) const {
  const auto sums_of = [](const GraphItem& item) {
    return std::visit(Overloaded{[](const ChunkSums& sums) { return &sums; },
                                 [](const ChunkGap&) {
                                   static const ChunkSums kNone;
                                   return &kNone;
                                 }},
                      item);
  };
  const ChunkSums& front = *sums_of(items[i]);
  // After the last chunk nothing is broken yet.
  if (i + 1 == items.size()) return front.continues_on_next ? Link::kNotRead : Link::kNone;
  if (front.continues_on_next != sums_of(items[i + 1])->continues_previous) return Link::kTorn;
  if (!front.continues_on_next) return Link::kNone;
  return front.next_read ? Link::kRead : Link::kNotRead;
}

void SortByLoss(std::vector<SequenceGraph>& graphs) {
  std::ranges::stable_sort(graphs, std::ranges::greater(), [](const SequenceGraph& graph) {
    return std::tuple(graph.lost().packets, graph.lost().bytes, graph.bytes);
  });
}

namespace {

/// Chunks that must have settled before folding is worth a walk over all that is there.
constexpr size_t kFoldEvery = 128;

/// Fragments that are packets or parts of packets; empty packets are none.
uint32_t PacketFragmentsOf(const WrittenChunk& chunk) {
  const auto count = std::count_if(
      chunk.fragments.begin(), chunk.fragments.end(),
      [](const WrittenFragment& f) { return f.kind != FragmentKind::kWhole || f.size > 0; });
  return static_cast<uint32_t>(count);
}

/// The fate of a chunk that is settled.
ChunkFate FateOf(const ChunkNode& node) {
  if (node.refused) return ChunkFate::kRefused;
  if (node.read_fragments >= node.packet_fragments && node.outer_size > 0) return ChunkFate::kRead;
  if (node.discarded) return ChunkFate::kDiscarded;
  if (node.outer_size == 0) return ChunkFate::kUnknown;
  if (node.for_clone)
    return *node.for_clone == Erasure::kDropped ? ChunkFate::kCleared : ChunkFate::kMoved;
  if (node.read_fragments > 0) return ChunkFate::kPartlyRead;
  return node.culprit || node.recommit_refused ? ChunkFate::kOverwritten : ChunkFate::kAbandoned;
}

/// The fate of a chunk that is in the buffer at the end, after that was read out.
ChunkFate FateAtEnd(const ChunkNode& node) {
  if (node.read_fragments >= node.packet_fragments) return ChunkFate::kRead;
  if (node.read_fragments + node.abandoned + node.readable_fragments < node.packet_fragments)
    return ChunkFate::kStalled;
  if (node.readable_fragments > 0) return ChunkFate::kReadable;
  return node.read_fragments > 0 ? ChunkFate::kPartlyRead : ChunkFate::kAbandoned;
}

}  // namespace

SequenceGraphBuilder* ChunkGraphBuilder::SequenceOf(BufferId buffer, SequenceKey sequence) {
  if (options_.buffer && *options_.buffer != BufferKey(buffer)) return nullptr;
  if (!options_.sequences.empty() && !Contains(options_.sequences, sequence)) return nullptr;
  const Key key{buffer, generations_[buffer], sequence};
  return &sequences_.try_emplace(key, options_.fold).first->second;
}

void ChunkGraphBuilder::OnBufferReplaced(SessionBuffer& buffer) {
  ++generations_[buffer.id];
  for (auto& [key, sequence] : sequences_)
    if (key.buffer == buffer.id) sequence.Close();
}

void ChunkGraphBuilder::OnChunk(BufferId buffer, const ChunkCommit& commit,
                                std::optional<Refusal> refusal) {
  arriving_ = nullptr;
  SequenceGraphBuilder* const sequence = SequenceOf(buffer, commit.sequence);
  if (sequence == nullptr) return;
  const auto [node, is_new] = sequence->Arrive(commit.chunk);
  if (node == nullptr) return;
  ReadWrittenChunk(commit, written_);
  if (is_new) {
    node->committed = now_;
    node->origin = origin_;
    node->refused = refusal;
  }
  node->complete |= commit.complete;
  node->bytes = std::max<uint64_t>(node->bytes, written_.bytes);
  node->fragments = std::max<uint64_t>(node->fragments, written_.fragments.size());
  node->packet_fragments = std::max(node->packet_fragments, PacketFragmentsOf(written_));
  node->flags |= written_.flags;
  if (node->end == ChunkEnd::kClean) node->end = written_.end;
  node->continues_previous = (node->flags & kFirstContinues) != 0;
  node->continues_on_next = (node->flags & kLastContinues) != 0 && node->end == ChunkEnd::kClean;
  if (!refusal)
    arriving_ = node;
  else if (!node->is_in_buffer())
    sequence->Settle(*node);
}

void ChunkGraphBuilder::OnBufferEvent(const BufferEvent& event) {
  if (event.As<BufferEvent::Wrapped>() != nullptr) return;
  SequenceGraphBuilder* const sequence = SequenceOf(event.buffer, event.chunk.sequence);
  if (sequence == nullptr) return;
  const ChunkId first = event.chunk.chunk;
  ChunkNode* const node = sequence->Find(first);
  const auto* const patched = event.As<BufferEvent::Patched>();
  const auto* const missed = event.As<BufferEvent::PatchMissed>();
  if (const ObservedChunk* state = event.arrived()) {
    if (arriving_ == nullptr) return;
    arriving_->outer_size = state->outer_size;
    arriving_->left.reset();
    arriving_->culprit.reset();
    arriving_->for_clone.reset();
    arriving_->refused.reset();
    arriving_->discarded.reset();
    arriving_->unpatched = state->needs_patch();
  } else if (event.As<BufferEvent::Relocated>() != nullptr) {
    if (arriving_ != nullptr) ++arriving_->relocations;
  } else if (const auto* returned = event.As<BufferEvent::Returned>()) {
    const ChunkId last = returned->packet.place.last_chunk;
    sequence->VisitSpan(first, last, [&](ChunkNode& part) {
      if (++part.read_fragments == part.packet_fragments) part.read = now_;
      if (IdOf(part.id) != last) part.next_read = true;
      if (IdOf(part.id) == first) part.loss_bits |= returned->packet.dropped;
      // A chunk can stay in the buffer after all of it was read.
      part.stall.reset();
    });
  } else if (const auto* abandoned = event.As<BufferEvent::Abandoned>()) {
    sequence->VisitSpan(first, abandoned->place.last_chunk,
                        [](ChunkNode& part) { ++part.abandoned; });
  } else if (patched != nullptr || missed != nullptr) {
    // One without bytes says that the chunk needs no more.
    const size_t patches =
        std::max<size_t>((patched != nullptr ? patched->sent : missed->sent).patches.size(), 1);
    if (node == nullptr) return sequence->AddStrayPatches(first, patches);
    PatchTally& tally = node->patches;
    if (patched != nullptr) node->unpatched = patched->state.needs_patch();
    (patched != nullptr                          ? tally.applied
     : missed->reason == PatchMiss::kOutOfBounds ? tally.refused
     : node->outer_size > 0                      ? tally.late
                                                 : tally.missed) += patches;
  } else if (node == nullptr) {
    return;  // not known, or in a run
  } else if (const auto* discarded = event.As<BufferEvent::Discarded>()) {
    if (node->outer_size == 0)
      node->discarded = discarded->reason, node->left = now_;
    else
      node->recommit_refused = discarded->reason;
  } else if (const auto* erased = event.As<BufferEvent::Erased>()) {
    if (erased->why == Erasure::kMoved && node == arriving_) return;
    node->left = now_;
    if (erased->by) node->culprit = erased->by;
    if (erased->is_for_clone()) node->for_clone = erased->why;
    // The chunk under way can evict its own older copy; it settles when it is done.
    if (node != arriving_) sequence->Settle(*node);
  } else if (const auto* stalled = event.As<BufferEvent::Stalled>()) {
    node->stall = stalled->reason;
    if (!node->stalled) node->stalled = now_;
    ++node->stalls;
  }
}

/// Packets that a buffer returns at its end were readable; sequences stall where they stopped.
void ChunkGraphBuilder::OnDrainEvent(const BufferEvent& event) {
  const auto* const returned = event.As<BufferEvent::Returned>();
  const auto* const stalled = event.As<BufferEvent::Stalled>();
  if (returned == nullptr && stalled == nullptr) return;
  SequenceGraphBuilder* const sequence = SequenceOf(event.buffer, event.chunk.sequence);
  if (sequence == nullptr) return;
  if (stalled != nullptr) return sequence->StallAtEnd(event.chunk.chunk, stalled->reason);
  sequence->VisitSpan(event.chunk.chunk, returned->packet.place.last_chunk,
                      [](ChunkNode& node) { ++node.readable_fragments; });
}

Status ChunkGraphBuilder::OnPacket(const SessionPacket& packet) {
  if (packet.valid) return {};
  SequenceGraphBuilder* const sequence = SequenceOf(packet.buffer, packet.packet->sequence);
  if (sequence == nullptr) return {};
  if (ChunkNode* node = sequence->Find(packet.packet->place.first_chunk)) ++node->invalid;
  return {};
}

std::vector<SequenceGraph> ChunkGraphBuilder::Take() {
  std::vector<SequenceGraph> graphs;
  for (auto& [key, sequence] : sequences_) {
    sequence.Close();
    SequenceGraph& graph = graphs.emplace_back();
    graph.buffer = key.buffer;
    graph.generation = key.generation;
    graph.sequence = key.sequence;
    sequence.MoveInto(graph);
  }
  sequences_.clear();
  return graphs;
}

/// Returns the number of the known chunk with this id, else the number nearest to the newest one's.
/// (No log is so long that a sequence uses an id twice; but ids can jump further than halfway
/// round.)
uint64_t SequenceGraphBuilder::NumberOf(ChunkId chunk) const {
  constexpr uint64_t kRound = uint64_t{1} << 32;
  const uint64_t nearest = ids_.Of(chunk);
  for (const uint64_t id : {nearest, nearest - kRound, nearest + kRound})
    if (seen_.Contains(id)) return id;
  return nearest;
}

std::pair<ChunkNode*, bool> SequenceGraphBuilder::Arrive(ChunkId chunk) {
  const uint64_t id = NumberOf(chunk);
  const bool out_of_order = id < ids_.newest();
  ids_.AddNumber(id);
  if (ChunkNode* node = NodeAt(id)) {
    items_.at(id).settled = false;
    ++node->recommits;
    return {node, false};
  }
  if (ChunkRun* run = seen_.Contains(id) ? RunOf(id) : nullptr) {
    ++run->recommits;
    return {};
  }
  seen_.Insert(id);
  auto& node = std::get<ChunkNode>(items_[id].value);
  node.id = id;
  node.out_of_order = out_of_order;
  return {&node, true};
}

/// Returns the run that has this id, or nullptr.
ChunkRun* SequenceGraphBuilder::RunOf(uint64_t id) {
  for (auto at = items_.upper_bound(id); at != items_.begin();) {
    auto* run = std::get_if<ChunkRun>(&(--at)->second.value);
    if (run != nullptr) return id <= run->last ? run : nullptr;
  }
  return nullptr;
}

ChunkRun SequenceGraphBuilder::AsRun(const Item& item) {
  const auto* run = std::get_if<ChunkRun>(&item.value);
  return run != nullptr ? *run : ChunkRun(std::get<ChunkNode>(item.value));
}

void SequenceGraphBuilder::Settle(ChunkNode& node) {
  node.fate = FateOf(node);
  items_.at(node.id).settled = true;
  if (++settled_since_fold_ >= std::max(kFoldEvery, items_.size() / 4)) Fold();
}

void SequenceGraphBuilder::Close() {
  for (auto& [id, item] : items_) {
    if (std::exchange(item.settled, true)) continue;
    auto& node = std::get<ChunkNode>(item.value);
    node.fate = FateAtEnd(node);
    if (stalled_at_ == IdOf(id)) node.stall = stall_;
  }
}

void SequenceGraphBuilder::AddPacket(const PacketAccount& account) {
  const FateCount count{1, account.size};
  packets_[account.fate] += count;
  ChunkSums* sums = NodeAt(account.first_chunk);
  if (sums == nullptr) sums = RunOf(account.first_chunk);
  if (sums == nullptr) return;
  sums->packets[account.fate] += count;
  if (account.fate == Fate::kRead) sums->writer_bits |= account.facts.dropped;
  if (account.fate == Fate::kOverwritten && account.culprit)
    sums->evictors.Add(account.culprit->sequence, 1);
}

void SequenceGraphBuilder::AddStrayPatches(ChunkId chunk, uint64_t patches) {
  if (ChunkRun* run = RunOf(NumberOf(chunk)))
    run->patches.late += patches;
  else
    orphan_patches_ += patches;
}

bool SequenceGraphBuilder::IsNearChosen(uint64_t id) const {
  if (!options_.around) return false;
  const ChunkId first{Raw(*options_.around) - static_cast<uint32_t>(kAround)};
  return Distance(first, IdOf(id)) <= 2 * kAround;
}

/// Returns true for a run, and for a settled chunk that need not be shown by itself.
bool SequenceGraphBuilder::IsDone(const Item& item) const {
  const auto* node = std::get_if<ChunkNode>(&item.value);
  if (node == nullptr) return true;
  if (!item.settled || options_.full || IsNearChosen(node->id)) return false;
  return at_end_ || node->complete || ids_.newest() >= node->id + kMayBeRecommitted;
}

bool SequenceGraphBuilder::CanJoin(const ChunkRun& run, const ChunkRun& next) const {
  if (run.last + 1 != next.first) return false;
  return options_.around || (run.fate() && run.fate() == next.fate() &&
                             run.discarded == next.discarded && run.refused == next.refused);
}

/// Folds what can be folded by now.
void SequenceGraphBuilder::Fold() {
  settled_since_fold_ = 0;
  if (options_.full) return;
  size_t special = 0;
  for (auto at = items_.begin(); at != items_.end();) {
    const auto* node = std::get_if<ChunkNode>(&at->second.value);
    // A chunk that came late belongs to the run that it is inside of.
    ChunkRun* run = node != nullptr && IsDone(at->second) ? RunOf(at->first) : nullptr;
    if (run != nullptr) run->Append(ChunkRun(*node));
    special +=
        run == nullptr && node != nullptr && at->second.settled && node->is_special() ? 1 : 0;
    at = run != nullptr ? items_.erase(at) : std::next(at);
  }
  if (special > kMaxSpecial) folds_special_ = true;
  auto begin = items_.end();  // of the neighbours that are alike
  for (auto at = items_.begin(); at != items_.end(); ++at) {
    const auto* node = std::get_if<ChunkNode>(&at->second.value);
    const bool can_fold = IsDone(at->second) && (node == nullptr || options_.around ||
                                                 folds_special_ || !node->is_special());
    if (begin != items_.end() &&
        !(can_fold && CanJoin(AsRun(std::prev(at)->second), AsRun(at->second)))) {
      FoldStretch(begin, at);
      begin = items_.end();
    }
    if (can_fold && begin == items_.end()) begin = at;
  }
  if (begin != items_.end()) FoldStretch(begin, items_.end());
  FoldOldestHalf();
}

/// Folds neighbours that are alike, but for the chunks at both ends.
void SequenceGraphBuilder::FoldStretch(Items::iterator begin, Items::iterator end) {
  const auto is_node = [](Items::iterator at) { return at->second.value.index() == 0; };
  const size_t context = options_.around ? 0 : kContext;
  for (size_t i = 0; i < context && begin != end && is_node(begin); ++i) ++begin;
  for (size_t i = 0; i < context && begin != end && is_node(std::prev(end)); ++i) --end;
  if (begin == end || std::next(begin) == end) return;
  ChunkRun sum = AsRun(begin->second);
  for (auto at = std::next(begin); at != end; ++at) sum.Append(AsRun(at->second));
  if (sum.chunks < kMinFold && !options_.around) return;
  items_.erase(std::next(begin), end);
  begin->second = {std::move(sum), true};
}

/// If there are too many items, makes the oldest half of them one run.
void SequenceGraphBuilder::FoldOldestHalf() {
  std::vector<uint64_t> starts;
  uint64_t limit = UINT64_MAX;
  for (const auto& [id, item] : items_) {
    if (item.value.index() == 0 && IsNearChosen(id)) limit = std::min(limit, id);
    if (item.settled) starts.push_back(id);
  }
  if (starts.size() <= kMaxItems) return;
  limit = std::min(limit, starts[kMaxItems / 2]);
  std::optional<ChunkRun> sum;
  for (auto at = items_.begin(); at != items_.end() && at->first < limit;) {
    const bool folds = at->second.settled;
    if (folds && sum)
      sum->Append(AsRun(at->second));
    else if (folds)
      sum = AsRun(at->second);
    at = folds ? items_.erase(at) : std::next(at);
  }
  if (sum) items_.insert_or_assign(sum->first, Item{*sum, true});
}

void SequenceGraphBuilder::MoveInto(SequenceGraph& graph) {
  at_end_ = true;
  Fold();
  uint64_t last = 0;  // id of the chunk before
  for (auto& [id, item] : items_) {
    const auto* run = std::get_if<ChunkRun>(&item.value);
    if (!graph.items.empty() && last + 1 < id) graph.items.emplace_back(ChunkGap{last + 1, id - 1});
    last = std::max(last, run != nullptr ? run->last : id);
    graph.chunks += run != nullptr ? run->chunks : 1;
    std::visit(
        [&](auto& value) {
          graph.bytes += value.bytes;
          graph.items.emplace_back(std::move(value));
        },
        item.value);
  }
  graph.packets = std::move(packets_);
  graph.orphan_patches = orphan_patches_;
}

}  // namespace ringscope
