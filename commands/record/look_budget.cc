#include "commands/record/look_budget.h"

#include <time.h>

#include <algorithm>

namespace ringscope {

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

}  // namespace ringscope
