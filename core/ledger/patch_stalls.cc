#include "core/ledger/patch_stalls.h"

#include <algorithm>

namespace ringscope::ledger {
namespace {

template <typename List>
auto FirstFrom(List& list, uint64_t chunk) {
  return std::lower_bound(
      list.begin(), list.end(), chunk,
      [](const PatchStalls::Blocking& entry, uint64_t value) { return entry.id < value; });
}

}  // namespace

void PatchStalls::Add(SequenceKey sequence, uint64_t chunk, const LogMoment& since) {
  std::vector<Blocking>& list = chunks_[sequence];
  const auto at = FirstFrom(list, chunk);
  if (at != list.end() && at->id == chunk)
    *at = {chunk, since, true};
  else
    list.insert(at, {chunk, since, true});
}

void PatchStalls::Remove(SequenceKey sequence, uint64_t chunk) {
  if (chunks_.empty()) return;
  const auto found = chunks_.find(sequence);
  if (found == chunks_.end()) return;
  std::vector<Blocking>& list = found->second;
  const auto at = FirstFrom(list, chunk);
  if (at == list.end() || at->id != chunk) return;
  list.erase(at);
  if (list.empty()) chunks_.erase(found);
}

void PatchStalls::Evict(SequenceKey sequence, uint64_t chunk) {
  const auto found = chunks_.find(sequence);
  if (found == chunks_.end()) return;
  std::vector<Blocking>& list = found->second;
  const auto at = FirstFrom(list, chunk);
  if (at == list.end() || at->id != chunk) return;
  at->held = false;
  // What was reported long ago does not need the oldest ones.
  const auto evicted = static_cast<size_t>(
      std::count_if(list.begin(), list.end(), [](const Blocking& entry) { return !entry.held; }));
  if (evicted > kMaxEvicted)
    list.erase(
        std::find_if(list.begin(), list.end(), [](const Blocking& entry) { return !entry.held; }));
}

std::optional<uint64_t> PatchStalls::FirstBefore(SequenceKey sequence, uint64_t chunk) const {
  if (chunks_.empty()) return std::nullopt;
  const auto found = chunks_.find(sequence);
  if (found == chunks_.end()) return std::nullopt;
  for (const Blocking& entry : found->second) {
    if (entry.id >= chunk) break;
    if (entry.held) return entry.id;
  }
  return std::nullopt;
}

auto PatchStalls::FindIn(SequenceKey sequence, uint64_t first, uint64_t last) const
    -> const Blocking* {
  const auto found = chunks_.find(sequence);
  if (found == chunks_.end()) return nullptr;
  const auto at = FirstFrom(found->second, first);
  return at == found->second.end() || at->id > last ? nullptr : &*at;
}

}  // namespace ringscope::ledger
