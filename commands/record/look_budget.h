#ifndef RINGSCOPE_COMMANDS_RECORD_LOOK_BUDGET_H_
#define RINGSCOPE_COMMANDS_RECORD_LOOK_BUDGET_H_

#include <chrono>

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

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_RECORD_LOOK_BUDGET_H_
