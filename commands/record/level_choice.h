#ifndef RINGSCOPE_COMMANDS_RECORD_LEVEL_CHOICE_H_
#define RINGSCOPE_COMMANDS_RECORD_LEVEL_CHOICE_H_

#include <chrono>
#include <cstddef>

namespace ringscope::record {

/// Chooses zstd's level for each frame of a recording: the one that was asked for, as long as the
/// queue keeps up. While the queue fills, and compressing takes longer than writing, a faster one:
/// a larger log is better than one with gaps. Where the disk is what is slow, larger frames would
/// make it worse.
class LevelChoice {
 public:
  /// @param level asked for
  explicit LevelChoice(int level) : level_(level) {}

  /// Of the next frame.
  int level() const;
  /// @param compressing, writing what the frame before took
  /// @param queued, capacity of the queue, bytes
  void OnWritten(std::chrono::nanoseconds compressing, std::chrono::nanoseconds writing,
                 size_t queued, size_t capacity);

 private:
  const int level_;
  size_t steps_ = 0;  // towards the fastest
};

}  // namespace ringscope::record

#endif  // RINGSCOPE_COMMANDS_RECORD_LEVEL_CHOICE_H_
