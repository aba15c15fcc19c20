#include "commands/record/level_choice.h"

#include <algorithm>
#include <array>

namespace ringscope::record {
namespace {

/// Each about twice as fast as the one before. Beyond the last the frames only get larger.
constexpr std::array kFasterLevels = {-10, -50, -200};

// Shares of the queue's capacity.
constexpr size_t kFull = 4;    // a quarter: a faster level
constexpr size_t kEmpty = 16;  // a sixteenth: back to the level asked for, step by step

}  // namespace

int LevelChoice::level() const {
  return steps_ == 0 ? level_ : std::min(level_, kFasterLevels[steps_ - 1]);
}

void LevelChoice::OnWritten(std::chrono::nanoseconds compressing, std::chrono::nanoseconds writing,
                            size_t queued, size_t capacity) {
  const bool compressing_is_slow = compressing > writing;
  if (steps_ > 0 && (queued < capacity / kEmpty || !compressing_is_slow)) {
    --steps_;
  } else if (steps_ < kFasterLevels.size() && queued > capacity / kFull && compressing_is_slow) {
    ++steps_;
  }
}

}  // namespace ringscope::record
