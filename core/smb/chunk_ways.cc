#include "core/smb/chunk_ways.h"

#include <algorithm>

namespace ringscope::smb {
namespace {

/// Something began between two moments and ended between two others.
void AddStep(std::pair<uint64_t, uint64_t> start, std::pair<uint64_t, uint64_t> end,
             StepTimes& step) {
  step.least.Add(end.first > start.second ? end.first - start.second : 0);
  step.most.Add(end.second > start.first ? end.second - start.first : 0);
}

}  // namespace

void ChunkWays::Look(uint64_t time_ns, const MemoryPicture& picture) {
  left_.clear();
  for (size_t page = 0; page < picture.pages().size(); ++page) {
    const MemoryPicture::Page& seen = picture.pages()[page];
    const PageBitmap bitmap = seen.bitmap();
    for (size_t chunk = 0; chunk < kMaxChunksPerPage; ++chunk) {
      const ChunkSlot slot{page, chunk};
      if (chunk < bitmap.chunks() && bitmap.HasHeader(chunk))
        See(time_ns, slot, bitmap.StateOf(chunk) == ChunkState::kComplete, seen.holders[chunk]);
      else if (!ways_.empty())
        Leave(time_ns, slot);
    }
  }
  last_ns_ = time_ns;
}

void ChunkWays::See(uint64_t time_ns, ChunkSlot slot, bool complete, ChunkHolder holder) {
  auto found = ways_.find(slot);
  if (found != ways_.end() && found->second.holder != holder) {
    // A chunk whose header was not written yet is the one that it names afterwards.
    if (found->second.holder == ChunkHolder{} && !found->second.returned) {
      found->second.holder = holder;
    } else {
      Leave(time_ns, slot);
      found = ways_.end();
    }
  }
  if (found == ways_.end()) {
    const ChunkWay taken{.holder = holder, .free_until_ns = last_ns_, .seen_ns = time_ns};
    found = ways_.emplace(slot, taken).first;
  }
  ChunkWay& way = found->second;
  if (!complete || way.returned || way.committed_ns) return;
  way.returned = true;
  if (!last_ns_) return;  // it may have been complete for any time
  way.returned_ns = {*last_ns_, time_ns};
  if (!way.free_until_ns) return;  // it was taken before the first look
  if (*way.seen_ns < time_ns)
    AddStep({*way.free_until_ns, *way.seen_ns}, *way.returned_ns, written_);
  else  // taken and returned between the same two looks
    AddStep({*way.free_until_ns, time_ns}, {*way.free_until_ns, time_ns}, written_);
}

void ChunkWays::Commit(uint64_t time_ns, ChunkSlot slot, ChunkHolder holder) {
  const auto found = ways_.find(slot);
  if (found != ways_.end() && found->second.holder == holder) {
    ChunkWay& way = found->second;
    if (way.committed_ns) return;  // the service ignores it, too
    if (way.returned_ns) AddStep(*way.returned_ns, {time_ns, time_ns}, held_back_);
    way.committed_ns = time_ns;
    return;
  }
  ways_.insert_or_assign(slot, ChunkWay{.holder = holder, .committed_ns = time_ns});
}

void ChunkWays::Leave(uint64_t time_ns, ChunkSlot slot) {
  const auto found = ways_.find(slot);
  if (found == ways_.end()) return;
  const std::optional<uint64_t> committed = found->second.committed_ns;
  if (committed && last_ns_)
    AddStep({*committed, *committed}, {std::max(*committed, *last_ns_), time_ns}, served_);
  left_.emplace_back(slot, found->second).second.left_ns = time_ns;
  ways_.erase(found);
}

void ChunkWays::Interrupt() {
  ways_.clear();
  left_.clear();
  last_ns_.reset();
}

}  // namespace ringscope::smb
