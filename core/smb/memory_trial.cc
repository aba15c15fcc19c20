#include "core/smb/memory_trial.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <set>

#include "core/log/write_rate.h"
#include "core/smb/memory_stall.h"

namespace ringscope::smb {
namespace {

constexpr uint64_t kPeakWindowNs = 100'000'000;

/// Takes and frees in order. What is freed at a time can be taken then.
struct TrialEvent {
  uint64_t time_ns = 0;
  bool is_take = false;
  size_t use = 0;
  friend bool operator<(const TrialEvent& a, const TrialEvent& b) {
    if (a.time_ns != b.time_ns) return a.time_ns < b.time_ns;
    if (a.is_take != b.is_take) return b.is_take;
    return a.use < b.use;
  }
};

/// The fewest uses without which at most `chunks` are in use at a time, if all uses are as short as
/// looks allow. Whatever is refused, at least so many are. (Where there are too many, the one that
/// ends last is left out.)
uint64_t FewestRefused(const std::vector<ChunkUse>& uses, uint64_t chunks) {
  std::multiset<uint64_t> ends;
  uint64_t refused = 0;
  for (const ChunkUse& use : uses) {
    if (use.freed.from <= use.taken.to) continue;
    ends.erase(ends.begin(), ends.upper_bound(use.taken.to));
    ends.insert(use.freed.from);
    if (ends.size() <= chunks) continue;
    ends.erase(std::prev(ends.end()));
    ++refused;
  }
  return refused;
}

/// Uses that may find so many chunks in use when they begin, if none is refused. No others can be
/// refused: without what is refused, fewer chunks are in use.
uint64_t MostRefused(const std::vector<ChunkUse>& uses, uint64_t chunks) {
  const auto [starts, ends] = WidestTimesOf(uses);
  uint64_t refused = 0;
  for (const ChunkUse& use : uses) {
    const auto begun = std::lower_bound(starts.begin(), starts.end(), use.taken.to);
    const auto over = std::upper_bound(ends.begin(), ends.end(), use.taken.from);
    const auto open = (begun - starts.begin()) - (over - ends.begin());
    // It is one of those that have begun, unless its start is known exactly.
    const int64_t own = use.taken.from < use.taken.to ? 1 : 0;
    if (open - own >= static_cast<int64_t>(chunks)) ++refused;
  }
  return refused;
}

std::optional<uint64_t> TimeOf(uint64_t bytes, uint64_t written, uint64_t in_ns) {
  if (written == 0 || in_ns == 0) return std::nullopt;
  const double time =
      static_cast<double>(bytes) / static_cast<double>(written) * static_cast<double>(in_ns);
  return static_cast<uint64_t>(std::min(time, 0x1p62));
}

}  // namespace

MemoryTrials::MemoryTrials(const MemoryDemand& demand, uint64_t page_size)
    : demand_(demand), page_size_(page_size), shown_(demand.uses) {
  likely_ = demand.uses;
  likely_.insert(likely_.end(), demand.assumed.begin(), demand.assumed.end());
  std::stable_sort(likely_.begin(), likely_.end(),
                   [](const ChunkUse& a, const ChunkUse& b) { return a.taken.to < b.taken.to; });
  if (page_size == demand.page_size) return;
  const size_t old_capacity = demand.Capacity(demand.page_size);
  const size_t capacity = demand.Capacity(page_size);
  shown_ = Repack(shown_, old_capacity, capacity);
  likely_ = Repack(likely_, old_capacity, capacity);
}

MemoryTrial MemoryTrials::Try(uint64_t size, bool drop, bool stall) const {
  MemoryTrial trial{.size = size,
                    .page_size = page_size_,
                    .chunks = demand_.Chunks(size, page_size_),
                    .is_recorded = size == demand_.size && page_size_ == demand_.page_size};
  if (drop) trial.drop = Drop(trial.chunks, trial.is_recorded);
  if (stall) trial.stall = Stall(trial.chunks);
  trial.quiet = Quiet(trial.chunks, size);
  return trial;
}

DropOutcome MemoryTrials::Drop(uint64_t chunks, bool as_recorded) const {
  const std::vector<ChunkUse>& uses = as_recorded ? shown_ : likely_;
  std::vector<TrialEvent> events;
  events.reserve(2 * uses.size());
  for (size_t i = 0; i < uses.size(); ++i) {
    events.push_back({uses[i].taken.to, true, i});
    if (uses[i].freed.to != kNotOver)
      events.push_back({std::max(uses[i].freed.to, uses[i].taken.to + 1), false, i});
  }
  std::sort(events.begin(), events.end());
  DropOutcome outcome;
  std::vector<bool> has(uses.size());
  uint64_t used = 0, packets = 0;
  std::optional<uint64_t> full_since;
  for (const TrialEvent& event : events) {
    if (event.is_take) {
      if (used == chunks) {
        ++outcome.refused;
        packets += uses[event.use].content.packets;
        continue;
      }
      has[event.use] = true;
      outcome.peak = std::max(outcome.peak, ++used);
      if (used == chunks) full_since = event.time_ns;
    } else if (has[event.use]) {
      if (used-- == chunks) outcome.full_ns += event.time_ns - *full_since;
    }
  }
  if (used == chunks && full_since && demand_.last_ns > *full_since)
    outcome.full_ns += demand_.last_ns - *full_since;
  const bool is_known = demand_.is_known();
  if (as_recorded) {
    // What found no chunk then is not among the uses that there were: the log shows it otherwise.
    outcome.refused = outcome.least = demand_.losses;
    if (demand_.losses == 0) outcome.packets = 0;
    if (is_known) outcome.most = 0;
    return outcome;
  }
  outcome.packets = packets;
  if (page_size_ != demand_.page_size) return outcome;
  const bool is_larger = chunks >= demand_.RecordedChunks();
  outcome.least = is_larger ? 0 : FewestRefused(shown_, chunks);
  outcome.refused = std::max(outcome.refused, outcome.least);
  if (!is_known) return outcome;
  outcome.most = is_larger ? 0 : MostRefused(shown_, chunks);
  outcome.refused = std::min(outcome.refused, *outcome.most);
  return outcome;
}

StallOutcome MemoryTrials::Stall(uint64_t chunks) const {
  const StallTotals likely = SimulateStall(likely_, chunks, EventTimes::kLikely);
  const uint64_t early = SimulateStall(shown_, chunks, EventTimes::kEarlyFree).waited_ns;
  const uint64_t late = SimulateStall(likely_, chunks, EventTimes::kLateFree).waited_ns;
  return {.waits = likely.waits,
          .waited_ns = likely.waited_ns,
          .longest_ns = likely.longest_ns,
          .gave_up = likely.gave_up,
          .early_ns = std::min(early, likely.waited_ns),
          .late_ns = std::max(late, likely.waited_ns)};
}

QuietOutcome MemoryTrials::Quiet(uint64_t chunks, uint64_t size) const {
  QuietOutcome quiet;
  std::vector<uint64_t> taken, freed;
  WriteRate rate;
  uint64_t bytes = 0;
  for (const ChunkUse& use : likely_) {
    taken.push_back(use.taken.to);
    if (use.freed.to != kNotOver) freed.push_back(use.freed.to);
    const uint64_t written =
        use.content.is_known ? use.content.bytes : demand_.Capacity(page_size_);
    rate.Add(use.taken.to, written);
    bytes += written;
  }
  std::sort(freed.begin(), freed.end());
  // The worst moments are just before a chunk is freed. From the i-th on as many are taken as there
  // are; that the next one finds none.
  for (size_t i = 0; i <= freed.size(); ++i) {
    if (i + chunks >= taken.size()) break;
    const uint64_t start = i < freed.size() ? freed[i] : demand_.last_ns;
    const uint64_t end = taken[i + chunks];
    const uint64_t time = end > start ? end - start : 0;
    quiet.simulated_ns = std::min(quiet.simulated_ns.value_or(time), time);
  }
  if (!likely_.empty()) quiet.mean_ns = TimeOf(size, bytes, taken.back() - taken.front());
  quiet.peak_ns = TimeOf(size, rate.PeakIn(kPeakWindowNs), kPeakWindowNs);
  return quiet;
}

std::optional<uint64_t> MemoryTrials::Enough() const {
  for (uint64_t size = demand_.size; size <= kMaxMemoryBytes; size *= 2) {
    const bool is_recorded = size == demand_.size && page_size_ == demand_.page_size;
    if (size == 0) break;
    if (Drop(demand_.Chunks(size, page_size_), is_recorded).refused == 0) return size;
  }
  return std::nullopt;
}

std::vector<MemoryNeed> NeedsOf(const MemoryStory& story) {
  std::vector<MemoryNeed> needs;
  for (const MemoryFollower* const memory : story.Memories()) {
    const std::optional<MemoryDemand> demand = memory->Demand();
    if (!demand) continue;
    const MemoryTrials trials(*demand, demand->page_size);
    const MemoryTrial now = trials.Try(demand->size, /*drop=*/true, /*stall=*/false);
    const uint64_t all = demand->last_ns - std::min(demand->first_ns, demand->last_ns);
    MemoryNeed& need = needs.emplace_back(
        MemoryNeed{.producer = demand->producer,
                   .size = demand->size,
                   .losses = demand->losses,
                   .chunks = now.chunks,
                   .most_used = now.drop->peak,
                   .enough = demand->losses == 0 ? demand->size : trials.Enough(),
                   .quiet_ns = std::min(now.quiet.simulated_ns.value_or(all), all)});
    if (need.enough)
      need.quiet_then_ns = std::min(trials.Try(*need.enough, /*drop=*/false, /*stall=*/false)
                                        .quiet.simulated_ns.value_or(all),
                                    all);
  }
  return needs;
}

}  // namespace ringscope::smb
