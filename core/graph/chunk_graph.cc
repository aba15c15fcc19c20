#include "core/graph/chunk_graph.h"

#include <algorithm>
#include <tuple>

#include "core/perfetto/fragment.h"

namespace ringscope {
PatchTally& PatchTally::operator+=(const PatchTally& other) {
  applied += other.applied;
  late += other.late;
  missed += other.missed;
  refused += other.refused;
  return *this;
}

void EvictorTally::Add(SequenceKey evictor, uint64_t count) {
  if (packets.size() < kMost || packets.contains(evictor))
    packets[evictor] += count;
  else
    others += count;
}

EvictorTally& EvictorTally::operator+=(const EvictorTally& more) {
  for (const auto& [evictor, count] : more.packets) Add(evictor, count);
  others += more.others;
  return *this;
}

bool ChunkNode::is_special() const {
  return fate == ChunkFate::kPartlyRead || fate == ChunkFate::kAbandoned ||
         fate == ChunkFate::kStalled || end != ChunkEnd::kClean || invalid > 0 || relocations > 0 ||
         patches.refused > 0 || out_of_order;
}

ChunkSums& ChunkSums::operator+=(const ChunkSums& more) {
  bytes += more.bytes;
  fragments += more.fragments;
  abandoned += more.abandoned;
  invalid += more.invalid;
  recommits += more.recommits;
  relocations += more.relocations;
  patches += more.patches;
  loss_bits |= more.loss_bits;
  writer_bits |= more.writer_bits;
  for (const auto& [fate, count] : more.packets) packets[fate] += count;
  evictors += more.evictors;
  return *this;
}

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
  ChunkSums::operator+=(next);
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

std::optional<ChunkFate> ChunkRun::fate() const {
  for (size_t i = 0; i < kChunkFates; ++i)
    if (by_fate[i] == chunks) return static_cast<ChunkFate>(i);
  return std::nullopt;
}

FateCount SequenceGraph::lost() const {
  FateCount sum;
  for (const auto& [fate, count] : packets)
    if (IsLoss(fate)) sum += count;
  return sum;
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

}  // namespace ringscope
