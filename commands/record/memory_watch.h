#ifndef RINGSCOPE_COMMANDS_RECORD_MEMORY_WATCH_H_
#define RINGSCOPE_COMMANDS_RECORD_MEMORY_WATCH_H_

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "commands/record/producer_memory.h"
#include "core/log/op.h"

namespace ringscope {

/// The time that looks at shared memory may take, those at all producers' together: a twentieth of
/// the CPU time of the thread that looks, and a thousandth of all time, so that an idle recorder
/// looks as well. What is not used may be used later, up to kMost.
class LookBudget {
 public:
  using Clock = std::chrono::steady_clock;
  using Duration = std::chrono::nanoseconds;
  /// About a thousand looks.
  static constexpr Duration kMost = std::chrono::milliseconds(5);
  static constexpr int kShareOfCpu = 20;  // one of so many
  static constexpr int kShareOfTime = 1000;

  LookBudget() : cpu_(ThreadCpu()), time_(Clock::now()) {}

  /// Whether there may be a look now.
  bool Allows(Clock::time_point now);
  void Spend(Duration took) { left_ -= took; }

 private:
  static Duration ThreadCpu();

  Duration left_ = kMost;  // below zero: the last look took longer than was left
  Duration cpu_;           // when it was last filled up
  Clock::time_point time_;
};

/// How often the recorder looks at a producer's shared memory.
struct LookLimits {
  std::chrono::nanoseconds interval{0};  // at least between two looks
  /// Looks are left out where they would cost too much: see LookBudget.
  bool is_cheap = true;
};

/// Looks at the page headers of a producer's shared memory, and logs what has changed. It only
/// reads. By its limits it takes at most a share of the recorder's time, whatever the memory holds.
class MemoryWatch {
 public:
  using Clock = std::chrono::steady_clock;
  /// After so many logged looks one is whole: a reader of a part of the log need not wait longer.
  static constexpr uint64_t kWholeEvery = 256;

  /// @param memory, budget must live longer; the budget is that of all watches
  MemoryWatch(const ProducerMemory& memory, ProducerId producer, LookLimits limits,
              LookBudget& budget);

  /// Logs the look at a memory that has just been made: all is free. It is not read, as that would
  /// have the system provide all of its pages, at more cost than many looks.
  void LookAtNew(RecordSink& log) {
    if (!lost_) Add(/*always=*/true, log);
  }
  /// Looks, if it is time for it. Call it before a commit is passed on, and at next().
  void LookIfDue(RecordSink& log);
  /// Looks at once.
  /// @param always log the look even if it sees nothing new: for the last one
  void LookNow(RecordSink& log, bool always = false) { Look(Clock::now(), always, log); }
  /// When to look again although nothing passes: the less changes, the later. nullopt: no chunk is
  /// in use.
  std::optional<Clock::time_point> next() const { return next_; }

 private:
  void Look(Clock::time_point now, bool always, RecordSink& log);
  /// Logs the picture, if there is something new in it. @return whether there is
  bool Add(bool always, RecordSink& log);
  void PlanNext(Clock::time_point now, bool changed);
  /// Leaves a look out.
  void Postpone(Clock::time_point now);

  const ProducerMemory& memory_;
  const ProducerId producer_;
  const LookLimits limits_;
  LookBudget& budget_;
  smb::MemoryPicture last_;  // as the log has it
  smb::MemoryPicture now_;
  std::string changes_;
  uint64_t looks_ = 0;  // logged
  std::optional<uint64_t> same_until_ns_;
  Clock::time_point due_;  // the next look, at the earliest
  std::optional<Clock::time_point> next_;
  Clock::duration took_{};  // the last look
  Clock::duration pause_{};
  bool lost_ = false;  // the memory has shrunk, or is too large
};

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_RECORD_MEMORY_WATCH_H_
