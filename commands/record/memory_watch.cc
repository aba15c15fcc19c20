#include "commands/record/memory_watch.h"

#include <time.h>

#include <algorithm>
#include <utility>

#include "commands/record/boot_time.h"
#include "core/gaps/memory_picture.h"

namespace ringscope {
namespace {

/// Pauses between looks while nothing passes and chunks are in use.
constexpr std::chrono::milliseconds kFirstPause{1};
constexpr std::chrono::milliseconds kLongestPause{64};

/// What a look may count as. One that takes longer was interrupted: the time is another thread's.
constexpr std::chrono::nanoseconds LongestLook(size_t pages) {
  return std::chrono::microseconds(10) + pages * std::chrono::nanoseconds(250);
}

size_t PagesToLookAt(const ProducerMemory& memory) {
  const uint64_t pages = memory.page_count();
  return pages <= smb::kMaxPagesOfPicture ? static_cast<size_t>(pages) : 0;
}

}  // namespace

LookBudget::Duration LookBudget::ThreadCpu() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return std::chrono::seconds(now.tv_sec) + Duration(now.tv_nsec);
}

bool LookBudget::Allows(Clock::time_point now) {
  if (left_ > Duration::zero()) return true;
  const Duration cpu = ThreadCpu();
  left_ += (cpu - cpu_) / kShareOfCpu + Duration(now - time_) / kShareOfTime;
  left_ = std::min(left_, kMost);
  cpu_ = cpu;
  time_ = now;
  return left_ > Duration::zero();
}

MemoryWatch::MemoryWatch(const ProducerMemory& memory, ProducerId producer, LookLimits limits,
                         LookBudget& budget)
    : memory_(memory),
      producer_(producer),
      limits_(limits),
      budget_(budget),
      last_(PagesToLookAt(memory)),
      now_(PagesToLookAt(memory)),
      lost_(now_.pages().empty()) {}

void MemoryWatch::LookIfDue(RecordSink& log) {
  const Clock::time_point now = Clock::now();
  if (now < due_) return;
  if (limits_.is_cheap && !budget_.Allows(now)) return Postpone(now);
  Look(now, /*always=*/false, log);
}

void MemoryWatch::Postpone(Clock::time_point now) {
  // By then the budget may have grown by a look; asking it costs as much as a small one.
  due_ = now + took_ * LookBudget::kShareOfCpu;
  if (next_) next_ = std::max(due_, now + kFirstPause);
}

void MemoryWatch::Look(Clock::time_point now, bool always, RecordSink& log) {
  next_.reset();
  if (lost_) return;
  if (!memory_.Look(now_)) {
    lost_ = true;
    return;
  }
  PlanNext(now, Add(always, log));
}

bool MemoryWatch::Add(bool always, RecordSink& log) {
  changes_.clear();
  smb::AppendChanges(last_, now_, changes_);
  const bool changed = !changes_.empty() || looks_ == 0;
  if (changed || always) {
    SharedMemoryLook look{.producer = producer_,
                          .number = looks_,
                          .whole = looks_ % kWholeEvery == 0,
                          .same_until_ns = std::exchange(same_until_ns_, std::nullopt)};
    if (look.whole)
      smb::AppendChanges(smb::MemoryPicture(now_.pages().size()), now_, look.pages);
    else
      look.pages = changes_;
    ++looks_;
    log.Append(std::move(look));
    std::swap(last_, now_);
  } else {
    same_until_ns_ = BootTimeNs();
  }
  return changed;
}

void MemoryWatch::PlanNext(Clock::time_point now, bool changed) {
  const Clock::time_point done = Clock::now();
  took_ = std::min<Clock::duration>(done - now, LongestLook(last_.pages().size()));
  budget_.Spend(took_);
  due_ = now + std::max<Clock::duration>(limits_.interval, limits_.is_cheap
                                                               ? took_ * LookBudget::kShareOfCpu
                                                               : Clock::duration::zero());
  if (last_.Count().used() == 0) {
    pause_ = {};
    return;
  }
  pause_ = changed ? Clock::duration(kFirstPause)
                   : std::min<Clock::duration>(std::max<Clock::duration>(pause_, kFirstPause) * 2,
                                               kLongestPause);
  next_ = std::max(done + pause_, due_);
}

}  // namespace ringscope
