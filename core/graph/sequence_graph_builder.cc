#include "core/graph/sequence_graph_builder.h"

#include <algorithm>
#include <vector>

namespace ringscope {
namespace {

/// How many chunks must have settled before folding is worth a walk over all that is there.
constexpr size_t kFoldEvery = 128;

}  // namespace

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

auto SequenceGraphBuilder::Arrive(ChunkId chunk) -> Arrival {
  const uint64_t id = NumberOf(chunk);
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
  return {&node, true};
}

ChunkNode* SequenceGraphBuilder::Find(ChunkId chunk) { return NodeAt(NumberOf(chunk)); }

ChunkNode* SequenceGraphBuilder::NodeAt(uint64_t id) {
  const auto found = items_.find(id);
  return found == items_.end() ? nullptr : std::get_if<ChunkNode>(&found->second.value);
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
  items_.at(node.id).settled = true;
  if (++settled_since_fold_ >= std::max(kFoldEvery, items_.size() / 4)) Fold();
}

void SequenceGraphBuilder::SettleAll() {
  for (auto& [id, item] : items_) item.settled = true;
}

void SequenceGraphBuilder::AddPacket(const PacketAccount& account) {
  const FateCount count{1, account.size};
  packets_[account.fate] += count;
  ChunkSums* sums = NodeAt(account.first_chunk);
  if (sums == nullptr) sums = RunOf(account.first_chunk);
  if (sums == nullptr) return;
  sums->packets[account.fate] += count;
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

bool SequenceGraphBuilder::CanFold(const Item& item) const {
  const auto* node = std::get_if<ChunkNode>(&item.value);
  return IsDone(item) &&
         (node == nullptr || options_.around || folds_special_ || !node->is_special());
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
    const bool can_fold = CanFold(at->second);
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
    if (!at->second.settled) {
      ++at;
      continue;
    }
    if (sum)
      sum->Append(AsRun(at->second));
    else
      sum = AsRun(at->second);
    at = items_.erase(at);
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
