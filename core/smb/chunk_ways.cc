#include "core/smb/chunk_ways.h"

#include <algorithm>
#include <utility>

namespace ringscope::smb {

void ChunkWays::AddStep(WriterId writer, StepTimes ChunkSteps::*step, Span start, Span end) {
  const auto add = [&](ChunkSteps& steps) {
    (steps.*step).least.Add(end.first > start.second ? end.first - start.second : 0);
    (steps.*step).most.Add(end.second > start.first ? end.second - start.first : 0);
  };
  add(steps_);
  if (is_split_ && (by_writer_.size() < kMaxSplit || by_writer_.contains(writer)))
    add(by_writer_[writer]);
}

void ChunkWays::Look(uint64_t time_ns, const MemoryPicture& picture,
                     std::optional<uint64_t> same_until_ns) {
  if (last_ns_ && same_until_ns)
    last_ns_ = std::clamp(*same_until_ns, *last_ns_, std::max(*last_ns_, time_ns));
  left_.clear();
  // The ways in other pages continue as they are.
  for (const size_t page : changed_)
    if (page < picture.pages().size()) LookAtPage(time_ns, page, picture.pages()[page]);
  changed_.clear();
  last_ns_ = time_ns;
}

void ChunkWays::LookAtPage(uint64_t time_ns, size_t page, const MemoryPicture::Page& seen) {
  const PageBitmap bitmap = seen.bitmap();
  for (size_t chunk = 0; chunk < bitmap.chunks(); ++chunk)
    if (bitmap.HasHeader(chunk))
      See(time_ns, {page, chunk}, bitmap.StateOf(chunk) == ChunkState::kComplete,
          seen.holders[chunk]);
  for (auto way = ways_.lower_bound({page, 0}); way != ways_.end() && way->first.first == page;) {
    const ChunkSlot slot = way++->first;
    if (slot.second >= bitmap.chunks() || !bitmap.HasHeader(slot.second))
      LeaveByLook(time_ns, slot);
  }
}

void ChunkWays::See(uint64_t time_ns, ChunkSlot slot, bool complete, ChunkHolder holder) {
  auto found = ways_.find(slot);
  if (found != ways_.end() && found->second.holder != holder) {
    // A chunk whose header was not written yet is the one that it names afterwards.
    if (found->second.holder == ChunkHolder{} && !found->second.returned) {
      found->second.holder = holder;
    } else {
      LeaveByLook(time_ns, slot);
      found = ways_.end();
    }
  }
  if (found == ways_.end()) {
    const ChunkWay taken{.holder = holder,
                         .since_ns = last_ns_.value_or(interrupted_ns_),
                         .free_until_ns = last_ns_,
                         .seen_ns = time_ns};
    found = ways_.emplace(slot, taken).first;
  }
  ChunkWay& way = found->second;
  if (!complete || way.returned || way.committed_ns) return;
  way.returned = true;
  if (!last_ns_) return;  // it may have been complete for any time
  way.returned_ns = {*last_ns_, time_ns};
  if (!way.free_until_ns) return;  // it was taken before the first look
  if (*way.seen_ns < time_ns)
    AddStep(holder.writer, &ChunkSteps::written, {*way.free_until_ns, *way.seen_ns},
            *way.returned_ns);
  else  // taken and returned between the same two looks
    AddStep(holder.writer, &ChunkSteps::written, {*way.free_until_ns, time_ns},
            {*way.free_until_ns, time_ns});
}

void ChunkWays::Commit(uint64_t time_ns, ChunkSlot slot, ChunkHolder holder,
                       const ChunkContent& content) {
  const auto found = ways_.find(slot);
  if (found != ways_.end() && found->second.holder == holder) {
    ChunkWay& way = found->second;
    if (way.committed_ns) return;  // the service ignores it, too
    if (way.returned_ns)
      AddStep(holder.writer, &ChunkSteps::held_back, *way.returned_ns, {time_ns, time_ns});
    way.committed_ns = time_ns;
    way.content = content;
    return;
  }
  // It was taken and returned since the last look, and so was what was there before freed.
  changed_.insert(slot.first);
  Leave(time_ns, slot);
  ways_.insert_or_assign(slot, ChunkWay{.holder = holder,
                                        .since_ns = last_ns_.value_or(interrupted_ns_),
                                        .returned = true,
                                        .committed_ns = time_ns,
                                        .content = content});
}

ChunkUse ChunkWays::UseOf(const ChunkWay& way, Moment freed) {
  // What no look before it shows was taken at any time since.
  const Moment taken{way.since_ns,
                     way.seen_ns ? *way.seen_ns : way.committed_ns.value_or(freed.to)};
  // Of one that no look showed complete: at the latest when it was committed.
  const Moment returned =
      way.returned_ns ? Moment{way.returned_ns->first, way.returned_ns->second}
      : way.returned  ? taken
                      : Moment{taken.from, std::max(taken.to, way.committed_ns.value_or(freed.to))};
  return {way.holder, taken, returned, freed, way.committed_ns.value_or(kNotOver), {}, way.content};
}

uint64_t ChunkWays::UsedUntil(const ChunkWay& way) const {
  return std::max({way.committed_ns.value_or(0), way.since_ns, last_ns_.value_or(0)});
}

void ChunkWays::ForEachOpen(const UseSink& sink) const {
  for (const auto& [slot, way] : ways_) sink(UseOf(way, {UsedUntil(way), kNotOver}));
}

std::optional<ChunkWay> ChunkWays::Leave(uint64_t time_ns, ChunkSlot slot) {
  const auto found = ways_.find(slot);
  if (found == ways_.end()) return std::nullopt;
  const std::optional<uint64_t> committed = found->second.committed_ns;
  if (committed && last_ns_)
    AddStep(found->second.holder.writer, &ChunkSteps::served, {*committed, *committed},
            {std::max(*committed, *last_ns_), time_ns});
  if (sink_) sink_(UseOf(found->second, {std::min(UsedUntil(found->second), time_ns), time_ns}));
  return std::move(ways_.extract(found).mapped());
}

void ChunkWays::LeaveByLook(uint64_t time_ns, ChunkSlot slot) {
  std::optional<ChunkWay> way = Leave(time_ns, slot);
  if (!way) return;
  way->left_ns = time_ns;
  left_.emplace_back(slot, *std::move(way));
}

void ChunkWays::Interrupt() {
  // When they end is not known. What continues after it counts as another use.
  if (sink_)
    for (const auto& [slot, way] : ways_) {
      const uint64_t end = UsedUntil(way);
      sink_(UseOf(way, {end, end}));
    }
  ways_.clear();
  left_.clear();
  changed_.clear();
  interrupted_ns_ = last_ns_.value_or(interrupted_ns_);
  last_ns_.reset();
}

void ChunkWays::End() {
  if (sink_) ForEachOpen(sink_);
  ways_.clear();
  left_.clear();
  changed_.clear();
  last_ns_.reset();
}

}  // namespace ringscope::smb
