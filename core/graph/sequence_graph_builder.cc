#include "core/graph/sequence_graph_builder.h"

#include <algorithm>

namespace ringscope {
namespace {

/// How many chunks must have settled before folding is worth a walk over all that is there.
constexpr size_t kFoldEvery = 128;

}  // namespace

/// The chunk with this id that is known, else the number nearest to the newest one's. (No log is so
/// long that a sequence uses an id twice; but ids can jump further than halfway round.)
uint64_t SequenceGraphBuilder::NumberOf(ChunkId chunk) const {
  constexpr uint64_t kRound = uint64_t{1} << 32;
  const uint64_t nearest = ids_.Of(chunk);
  for (const uint64_t id : {nearest, nearest - kRound, nearest + kRound})
    if (seen_.Contains(id)) return id;
  return nearest;
}

auto SequenceGraphBuilder::Arrive(ChunkId chunk) -> Arrival {
  const uint64_t id = NumberOf(chunk);
  ids_.AddNumber(id);
  if (const auto found = nodes_.find(id); found != nodes_.end()) {
    found->second.settled = false;
    ++found->second.node.recommits;
    return {&found->second.node, false};
  }
  if (ChunkRun* run = seen_.Contains(id) ? RunOf(id) : nullptr; run != nullptr) {
    ++run->recommits;
    return {};
  }
  seen_.Insert(id);
  ChunkNode& node = nodes_[id].node;
  node.id = id;
  return {&node, true};
}

ChunkNode* SequenceGraphBuilder::Find(ChunkId chunk) {
  const auto found = nodes_.find(NumberOf(chunk));
  return found == nodes_.end() ? nullptr : &found->second.node;
}

void SequenceGraphBuilder::Settle(ChunkNode& node) {
  nodes_.at(node.id).settled = true;
  ++settled_since_fold_;
  if (settled_since_fold_ >= std::max(kFoldEvery, nodes_.size() / 4)) Fold();
}

void SequenceGraphBuilder::SettleAll() {
  for (auto& [id, entry] : nodes_) entry.settled = true;
}

void SequenceGraphBuilder::AddPacket(const PacketAccount& account) {
  const FateCount count{1, account.size};
  packets_[account.fate] += count;
  const auto add = [&](auto& item) {  // a chunk or a run
    item.packets[account.fate] += count;
    if (account.fate == Fate::kOverwritten && account.culprit)
      item.evictors.Add(account.culprit->sequence, 1);
  };
  if (const auto node = nodes_.find(account.first_chunk); node != nodes_.end())
    add(node->second.node);
  else if (ChunkRun* run = RunOf(account.first_chunk))
    add(*run);
}

void SequenceGraphBuilder::AddStrayPatches(ChunkId chunk, uint64_t patches) {
  if (ChunkRun* run = RunOf(NumberOf(chunk)))
    run->patches.late += patches;
  else
    orphan_patches_ += patches;
}

/// The run that has this id, or nullptr.
ChunkRun* SequenceGraphBuilder::RunOf(uint64_t id) {
  const auto after = runs_.upper_bound(id);
  if (after == runs_.begin()) return nullptr;
  ChunkRun& run = std::prev(after)->second;
  return id <= run.last ? &run : nullptr;
}

bool SequenceGraphBuilder::IsNearChosen(uint64_t id) const {
  if (!options_.around) return false;
  const ChunkId first{Raw(*options_.around) - static_cast<uint32_t>(kAround)};
  return Distance(first, IdOf(id)) <= 2 * kAround;
}

/// Whether the chunk is settled, and need not be shown by itself.
bool SequenceGraphBuilder::IsDone(const Entry& entry) const {
  if (!entry.settled || options_.full || IsNearChosen(entry.node.id)) return false;
  return at_end_ || entry.node.complete || ids_.newest() >= entry.node.id + kMayBeRecommitted;
}

bool SequenceGraphBuilder::CanFold(const Entry& entry) const {
  return IsDone(entry) && (options_.around || folds_special_ || !entry.node.is_special());
}

bool SequenceGraphBuilder::CanJoin(const ChunkRun& run, const ChunkRun& next) const {
  if (run.last + 1 != next.first) return false;
  if (options_.around) return true;
  return run.fate() && run.fate() == next.fate() && run.discarded == next.discarded &&
         run.refused == next.refused;
}

/// Folds what can be folded by now.
void SequenceGraphBuilder::Fold() {
  settled_since_fold_ = 0;
  if (options_.full) return;
  FoldLateComers();
  const auto special = std::count_if(nodes_.begin(), nodes_.end(), [](const auto& entry) {
    return entry.second.settled && entry.second.node.is_special();
  });
  if (static_cast<size_t>(special) > kMaxSpecial) folds_special_ = true;
  std::vector<std::vector<Foldable>> stretches;
  bool open = false;  // the last stretch can continue
  const auto add = [&](const ChunkRun& run, bool is_node) {
    if (!open || !CanJoin(stretches.back().back().run, run)) stretches.emplace_back();
    stretches.back().push_back({run, is_node});
    open = true;
  };
  auto run = runs_.begin();
  for (const auto& [id, entry] : nodes_) {
    for (; run != runs_.end() && run->first < id; ++run) add(run->second, false);
    if (CanFold(entry))
      add(ChunkRun(entry.node), true);
    else
      open = false;
  }
  for (; run != runs_.end(); ++run) add(run->second, false);
  for (const std::vector<Foldable>& stretch : stretches) FoldStretch(stretch);
  FoldOldestHalf();
}

/// A chunk inside a run belongs to it once it is settled.
void SequenceGraphBuilder::FoldLateComers() {
  for (auto at = nodes_.begin(); at != nodes_.end();) {
    ChunkRun* run = IsDone(at->second) ? RunOf(at->first) : nullptr;
    if (run == nullptr) {
      ++at;
      continue;
    }
    run->Append(ChunkRun(at->second.node));
    at = nodes_.erase(at);
  }
}

/// Folds neighbours that are alike, but for the chunks at both ends.
void SequenceGraphBuilder::FoldStretch(const std::vector<Foldable>& stretch) {
  const size_t context = options_.around ? 0 : kContext;
  size_t begin = 0, end = stretch.size();
  while (begin < end && begin < context && stretch[begin].is_node) ++begin;
  while (begin < end && stretch.size() - end < context && stretch[end - 1].is_node) --end;
  if (end - begin < 2) return;
  ChunkRun sum = stretch[begin].run;
  for (size_t i = begin + 1; i < end; ++i) sum.Append(stretch[i].run);
  if (sum.chunks < kMinFold && !options_.around) return;
  for (size_t i = begin; i < end; ++i) {
    const uint64_t first = stretch[i].run.first;
    if (stretch[i].is_node)
      nodes_.erase(first);
    else
      runs_.erase(first);
  }
  runs_.emplace(sum.first, std::move(sum));
}

/// If there are too many items, the oldest half of them becomes one run.
void SequenceGraphBuilder::FoldOldestHalf() {
  std::vector<uint64_t> starts;
  uint64_t limit = UINT64_MAX;
  for (const auto& [id, entry] : nodes_) {
    if (IsNearChosen(id)) limit = std::min(limit, id);
    if (entry.settled) starts.push_back(id);
  }
  for (const auto& [first, run] : runs_) starts.push_back(first);
  if (starts.size() <= kMaxItems) return;
  std::nth_element(starts.begin(), starts.begin() + kMaxItems / 2, starts.end());
  limit = std::min(limit, starts[kMaxItems / 2]);

  std::optional<ChunkRun> sum;
  const auto add = [&](const ChunkRun& run) {
    if (sum)
      sum->Append(run);
    else
      sum = run;
  };
  for (auto at = runs_.begin(); at != runs_.end() && at->first < limit; at = runs_.erase(at))
    add(at->second);
  for (auto at = nodes_.begin(); at != nodes_.end() && at->first < limit;) {
    if (at->second.settled) {
      add(ChunkRun(at->second.node));
      at = nodes_.erase(at);
    } else {
      ++at;
    }
  }
  if (sum) runs_.emplace(sum->first, *sum);
}

void SequenceGraphBuilder::MoveInto(SequenceGraph& graph) {
  at_end_ = true;
  Fold();
  uint64_t last = 0;  // id of the chunk before
  const auto add = [&](auto item, uint64_t item_first, uint64_t item_last) {
    if (!graph.items.empty() && last + 1 < item_first)
      graph.items.emplace_back(ChunkGap{last + 1, item_first - 1});
    last = std::max(last, item_last);
    graph.bytes += item.bytes;
    graph.items.emplace_back(std::move(item));
  };
  auto run = runs_.begin();
  const auto add_runs_before = [&](uint64_t id) {
    for (; run != runs_.end() && run->first < id; ++run) {
      graph.chunks += run->second.chunks;
      add(run->second, run->first, run->second.last);
    }
  };
  for (auto& [id, entry] : nodes_) {
    add_runs_before(id);
    ++graph.chunks;
    add(std::move(entry.node), id, id);
  }
  add_runs_before(UINT64_MAX);
  graph.packets = std::move(packets_);
  graph.orphan_patches = orphan_patches_;
}

}  // namespace ringscope
