#include "core/smb/memory_trial.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <set>
#include <tuple>
#include <utility>

#include "core/base/write_rate.h"
#include "core/smb/memory_stall.h"

namespace ringscope::smb {
namespace {

constexpr uint64_t kPeakWindowNs = 100'000'000;

/// What becomes of chunks that writers have got. What is free at a time can be taken then.
class ChunksInUse {
 public:
  /// @param as_recorded each chunk is sent when it was
  ChunksInUse(const std::vector<ChunkUse>& uses, HeldChunks held, bool as_recorded)
      : uses_(uses), held_(std::move(held)), as_recorded_(as_recorded) {}

  void Take(size_t use) {
    if (uses_[use].committed_ns != kNotOver && !as_recorded_)
      Plan(uses_[use].returned.to, kReturn, use);
    else if (uses_[use].freed.to != kNotOver)
      Plan(std::max(uses_[use].freed.to, uses_[use].taken.to + 1), kFree, use);
  }
  /// The next chunk that is freed at that time or before. @return when
  std::optional<uint64_t> FreedUntil(uint64_t time_ns) {
    while (!events_.empty() && std::get<0>(events_.top()) <= time_ns) {
      const auto [now, kind, use] = events_.top();
      events_.pop();
      if (kind == kFree) return now;
      if (kind == kSend) {
        if (held_.Send(use)) PlanFree(now, use);
      } else if (held_.Add(use)) {
        for (const size_t sent : held_.SendAll()) PlanFree(now, sent);
      } else if (uses_[use].due.likely_ns != kNotOver) {
        Plan(std::max(now, uses_[use].due.likely_ns), kSend, use);
      }
    }
    return std::nullopt;
  }

 private:
  enum Kind : uint8_t { kFree, kReturn, kSend };
  using Event = std::tuple<uint64_t, Kind, size_t>;

  void Plan(uint64_t time_ns, Kind kind, size_t use) { events_.emplace(time_ns, kind, use); }
  void PlanFree(uint64_t sent_ns, size_t use) {
    const ChunkUse& sent = uses_[use];
    if (sent.freed.to == kNotOver) return;
    Plan(std::max(sent_ns + Between(sent.committed_ns, sent.freed.to), sent.taken.to + 1), kFree,
         use);
  }

  const std::vector<ChunkUse>& uses_;
  HeldChunks held_;
  const bool as_recorded_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
};

/// The fewest uses without which at most `chunks` are in use at a time, if all uses are as short as
/// looks allow. Whatever is refused, at least so many are. (Where there are too many, the one that
/// ends last is left out.)
/// @param over when each is over
uint64_t FewestRefused(const std::vector<ChunkUse>& uses, const std::vector<uint64_t>& over,
                       uint64_t chunks) {
  std::multiset<uint64_t> ends;
  uint64_t refused = 0;
  for (size_t i = 0; i < uses.size(); ++i) {
    const ChunkUse& use = uses[i];
    if (over[i] <= use.taken.to) continue;
    ends.erase(ends.begin(), ends.upper_bound(use.taken.to));
    ends.insert(over[i]);
    if (ends.size() <= chunks) continue;
    ends.erase(std::prev(ends.end()));
    ++refused;
  }
  return refused;
}

/// Uses that may find so many chunks in use when they begin, if none is refused. No others can be
/// refused: without what is refused, fewer chunks are in use. (It may take longer to fill half of
/// the memory with them then: so all are sent as late as that allows.)
uint64_t MostRefused(const std::vector<ChunkUse>& uses, uint64_t chunks) {
  const auto [starts, ends] = WidestTimesOf(uses, /*sent_when_due=*/true);
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
    : demand_(demand), page_size_(page_size), shown_(&demand.uses), likely_(&demand.uses) {
  if (!demand.assumed.empty()) {
    made_likely_ = demand.uses;
    made_likely_.insert(made_likely_.end(), demand.assumed.begin(), demand.assumed.end());
    std::stable_sort(made_likely_.begin(), made_likely_.end(),
                     [](const ChunkUse& a, const ChunkUse& b) { return a.taken.to < b.taken.to; });
    likely_ = &made_likely_;
  }
  if (page_size == demand.page_size) return;
  const size_t old_capacity = demand.Capacity(demand.page_size);
  const size_t capacity = demand.Capacity(page_size);
  made_likely_ = Repack(*likely_, old_capacity, capacity);
  likely_ = &made_likely_;
  if (!demand.assumed.empty()) {
    made_shown_ = Repack(*shown_, old_capacity, capacity);
    shown_ = &made_shown_;
  } else {
    shown_ = likely_;
  }
}

MemoryTrial MemoryTrials::Try(uint64_t size, bool drop, bool stall) const {
  MemoryTrial trial{.size = size,
                    .page_size = page_size_,
                    .chunks = demand_.Chunks(size, page_size_),
                    .is_recorded = size == demand_.size && page_size_ == demand_.page_size};
  if (drop) trial.drop = Drop(trial.chunks, size, trial.is_recorded);
  if (stall) trial.stall = Stall(trial.chunks, size);
  trial.quiet = Quiet(trial.chunks, size);
  return trial;
}

DropOutcome MemoryTrials::Drop(uint64_t chunks, uint64_t size, bool as_recorded) const {
  const std::vector<ChunkUse>& uses = as_recorded ? *shown_ : *likely_;
  ChunksInUse in_use(uses, Held(size), as_recorded);
  DropOutcome outcome;
  uint64_t used = 0, packets = 0;
  std::optional<uint64_t> full_since;
  const auto free_until = [&](uint64_t time_ns) {
    while (const auto freed = in_use.FreedUntil(time_ns))
      if (used-- == chunks) outcome.full_ns += *freed - *full_since;
  };
  for (size_t i = 0; i < uses.size(); ++i) {
    free_until(uses[i].taken.to);
    if (used == chunks) {
      ++outcome.refused;
      packets += uses[i].content.packets;
      continue;
    }
    in_use.Take(i);
    outcome.peak = std::max(outcome.peak, ++used);
    if (used == chunks) full_since = uses[i].taken.to;
  }
  free_until(kNotOver);
  if (used == chunks && full_since) outcome.full_ns += Between(*full_since, demand_.last_ns);
  if (as_recorded) {
    // What found no chunk then is not among the uses that there were: the log shows it otherwise.
    outcome.refused = outcome.least = demand_.losses;
    if (demand_.losses == 0) outcome.packets = 0;
    if (demand_.is_known()) outcome.most = 0;
    return outcome;
  }
  outcome.packets = packets;
  if (page_size_ == demand_.page_size) AddLimits(chunks, size, outcome);
  return outcome;
}

void MemoryTrials::AddLimits(uint64_t chunks, uint64_t size, DropOutcome& outcome) const {
  const bool is_larger = chunks >= demand_.RecordedChunks();
  if (!is_larger) {
    const uint64_t chunk_bytes = demand_.ChunkSize(page_size_);
    outcome.least = FewestRefused(*shown_, EarliestEnds(*shown_, chunk_bytes, size), chunks);
  }
  outcome.refused = std::max(outcome.refused, outcome.least);
  if (!demand_.is_known()) return;
  // A larger memory may hold chunks for longer, if the recorded one was half full of them.
  const bool is_none = is_larger && demand_.early.requests == 0;
  outcome.most = is_none ? 0 : MostRefused(*shown_, chunks);
  outcome.refused = std::min(outcome.refused, *outcome.most);
}

StallOutcome MemoryTrials::Stall(uint64_t chunks, uint64_t size) const {
  const auto waited = [&](const std::vector<ChunkUse>& uses, EventTimes times) {
    return SimulateStall(uses, chunks, times, Held(size));
  };
  const StallTotals likely = waited(*likely_, EventTimes::kLikely);
  const uint64_t early = waited(*shown_, EventTimes::kEarlyFree).waited_ns;
  const uint64_t late = waited(*likely_, EventTimes::kLateFree).waited_ns;
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
  for (const ChunkUse& use : *likely_) {
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
  const uint64_t span = taken.empty() ? 0 : taken.back() - taken.front();
  quiet.mean_ns = TimeOf(size, bytes, span);
  // Who wrote for less than the window did not write more slowly at the peak.
  const uint64_t window = span == 0 ? kPeakWindowNs : std::min(span, kPeakWindowNs);
  quiet.peak_ns = TimeOf(size, rate.PeakIn(window), window);
  return quiet;
}

std::optional<uint64_t> MemoryTrials::Enough() const {
  for (uint64_t size = demand_.size; size <= kMaxMemoryBytes; size *= 2) {
    const bool is_recorded = size == demand_.size && page_size_ == demand_.page_size;
    if (size == 0) break;
    if (Drop(demand_.Chunks(size, page_size_), size, is_recorded).refused == 0) return size;
  }
  return std::nullopt;
}

std::vector<MemoryNeed> NeedsOf(const MemoryStory& story, WhichMemories which) {
  std::vector<MemoryNeed> needs;
  for (const MemoryFollower* const memory : story.Memories()) {
    if (which == WhichMemories::kWithLosses && !memory->ShowsLoss()) continue;
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
    need.quiet_then_ns = need.quiet_ns;
    if (need.enough && *need.enough != demand->size)
      need.quiet_then_ns = std::min(trials.Try(*need.enough, /*drop=*/false, /*stall=*/false)
                                        .quiet.simulated_ns.value_or(all),
                                    all);
  }
  return needs;
}

}  // namespace ringscope::smb
