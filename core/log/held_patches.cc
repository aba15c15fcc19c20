#include "core/log/held_patches.h"

#include <utility>

#include "core/base/wire.h"

namespace ringscope {

bool HeldPatches::DropUnfinished(const Commit& commit) {
  const auto held = held_.find(commit.producer);
  if (held == held_.end() || held->second.number == commit.number) return false;
  held_.erase(held);
  return true;
}

bool HeldPatches::Hold(const Commit& commit, std::span<const ChunkToPatch> patches) {
  if (patches.empty()) return true;
  Request& request = held_[commit.producer];
  request.number = commit.number;
  CommitRequestBuilder builder(request.patches);
  for (const ChunkToPatch& patch : patches) builder.AddPatch(patch);
  if (request.patches.size() <= kMaxBytes) return true;
  held_.erase(commit.producer);
  return false;
}

std::span<const ChunkToPatch> HeldPatches::Take(ProducerId producer) {
  auto held = held_.extract(producer);
  if (held.empty()) return {};
  taken_ = std::move(held.mapped().patches);
  parser_.Parse(wire::AsBytes(taken_));
  return parser_.patches();
}

}  // namespace ringscope
