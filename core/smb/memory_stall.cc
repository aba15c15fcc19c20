#include "core/smb/memory_stall.h"

#include <algorithm>
#include <functional>
#include <map>
#include <queue>
#include <tuple>
#include <utility>

#include "core/smb/memory_trial.h"

namespace ringscope::smb {
namespace {

constexpr uint64_t kStallUs = 1000;
constexpr size_t kNoUse = SIZE_MAX;

class StallRun {
 public:
  StallRun(const std::vector<ChunkUse>& uses, uint64_t chunks, EventTimes times, HeldChunks held)
      : uses_(uses),
        chunks_(chunks),
        times_(times),
        held_(std::move(held)),
        next_(uses.size(), kNoUse) {
    std::map<WriterId, size_t> last;
    for (size_t i = 0; i < uses.size(); ++i) {
      const auto [at, is_first] = last.try_emplace(uses[i].holder.writer, i);
      if (is_first) {
        Plan(Taken(i), kRequest, i);
      } else {
        next_[at->second] = i;
        at->second = i;
      }
    }
  }

  StallTotals Run() {
    while (!events_.empty()) {
      const auto [time, kind, use] = events_.top();
      events_.pop();
      switch (kind) {
        case kFree:
          --used_;
          break;
        case kReturn:
          if (!held_.Add(use)) break;
          for (const size_t sent : held_.SendAll()) Send(time, sent);
          break;
        case kSend:
          if (held_.Send(use)) Send(time, use);
          break;
        case kRequest:
          Request(time, use);
          break;
      }
    }
    return totals_;
  }

 private:
  enum Kind : uint8_t {
    kFree,
    kReturn,
    kSend,
    kRequest
  };  // what is free at a time can be taken then
  using Event = std::tuple<uint64_t, Kind, size_t>;
  struct Writer {
    uint64_t delay_ns = 0;  // how much later it is than recorded
    uint64_t since_ns = 0;  // it waits since then
    uint64_t searches = 0;  // in vain
    bool drops = false;
    size_t unreturned = kNoUse;  // a chunk that it returns with the next
  };

  uint64_t Taken(size_t use) const {
    return times_ == EventTimes::kLateFree ? uses_[use].taken.from : uses_[use].taken.to;
  }
  uint64_t Freed(size_t use) const {
    return times_ == EventTimes::kEarlyFree ? uses_[use].freed.from : uses_[use].freed.to;
  }
  void Plan(uint64_t time_ns, Kind kind, size_t use) { events_.emplace(time_ns, kind, use); }
  /// The writer has done with the chunk, or will have.
  void PlanReturn(uint64_t now_ns, const Writer& writer, size_t use) {
    const ChunkUse& chunk = uses_[use];
    if (chunk.committed_ns == kNotOver) {  // no commit shows how it was freed
      if (Freed(use) != kNotOver) Plan(std::max(now_ns, Freed(use) + writer.delay_ns), kFree, use);
      return;
    }
    const uint64_t returned = std::max(now_ns, chunk.returned.to + writer.delay_ns);
    Plan(returned, kReturn, use);
    const uint64_t due =
        times_ == EventTimes::kLateFree ? chunk.due.latest_ns : chunk.due.likely_ns;
    if (due != kNotOver) Plan(std::max(returned, due + writer.delay_ns), kSend, use);
  }
  /// The service frees it as long afterwards as it did.
  void Send(uint64_t now_ns, size_t use) {
    if (Freed(use) != kNotOver)
      Plan(now_ns + Between(uses_[use].committed_ns, Freed(use)), kFree, use);
  }

  void Request(uint64_t now_ns, size_t use) {
    Writer& writer = writers_[uses_[use].holder.writer];
    if (used_ < chunks_) {
      Get(now_ns, use, writer);
      return;
    }
    if (writer.drops) {
      Pass(now_ns, use, writer);
      return;
    }
    if (writer.searches == 0) {
      writer.since_ns = now_ns;
      ++totals_.waits;
    }
    if (++writer.searches < kMostSearches) {
      Plan(now_ns + SleepAfter(writer.searches), kRequest, use);
      return;
    }
    ++totals_.gave_up;
    writer.drops = true;
    Pass(now_ns, use, writer);
  }

  void Get(uint64_t now_ns, size_t use, Writer& writer) {
    ++used_;
    writer.drops = false;
    EndWait(now_ns, writer);
    // A chunk that is full is returned when there is another.
    const size_t next = next_[use];
    if (next != kNoUse && Taken(next) <= uses_[use].returned.to) {
      writer.unreturned = use;
    } else {
      PlanReturn(now_ns, writer, use);
    }
    Next(now_ns, use, writer);
  }
  /// The writer does without a chunk.
  void Pass(uint64_t now_ns, size_t use, Writer& writer) {
    EndWait(now_ns, writer);
    Next(now_ns, use, writer);
  }
  void EndWait(uint64_t now_ns, Writer& writer) {
    if (writer.searches > 0) {
      const uint64_t waited = now_ns - writer.since_ns;
      totals_.waited_ns += waited;
      totals_.longest_ns = std::max(totals_.longest_ns, waited);
      writer.delay_ns += waited;
      writer.searches = 0;
    }
    if (writer.unreturned == kNoUse) return;
    PlanReturn(now_ns, writer, writer.unreturned);
    writer.unreturned = kNoUse;
  }
  void Next(uint64_t now_ns, size_t use, const Writer& writer) {
    const size_t next = next_[use];
    if (next != kNoUse) Plan(std::max(now_ns, Taken(next) + writer.delay_ns), kRequest, next);
  }

  const std::vector<ChunkUse>& uses_;
  const uint64_t chunks_;
  const EventTimes times_;
  HeldChunks held_;
  std::vector<size_t> next_;  // of the same writer
  std::map<WriterId, Writer> writers_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  uint64_t used_ = 0;
  StallTotals totals_;
};

}  // namespace

uint64_t SleepAfter(uint64_t searches) {
  constexpr uint64_t kSleepsUs[] = {0, 8, 72, 584, 4680, 37'448};
  constexpr uint64_t kLongestUs = 100'000;
  return kStallUs * (searches <= std::size(kSleepsUs) ? kSleepsUs[searches - 1] : kLongestUs);
}

StallTotals SimulateStall(const std::vector<ChunkUse>& uses, uint64_t chunks, EventTimes times,
                          HeldChunks held) {
  return StallRun(uses, chunks, times, std::move(held)).Run();
}

}  // namespace ringscope::smb
