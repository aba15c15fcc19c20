#ifndef RINGSCOPE_COMMANDS_RECORD_STATUS_LINE_H_
#define RINGSCOPE_COMMANDS_RECORD_STATUS_LINE_H_

#include <cstdint>
#include <string>

#include "commands/record/log_queue.h"
#include "commands/record/recording.h"

namespace ringscope::record {

/// What the status line shows of a moment.
struct StatusInfo {
  RecordCounts counts;
  LogQueue::State queue;
  double bytes_per_second = 0;  // of chunks, lately
  double seconds = 0;           // since the start
};

/// "0:12  3 producers  41 sequences  12.3 MB/s  4,211 chunks  queue 1.2 MiB  no gaps"
std::string FormatStatus(const StatusInfo& info);

/// The rate of a counter over about a second.
class RateMeter {
 public:
  /// @param count so far; @param seconds at which time
  double Update(uint64_t count, double seconds);

 private:
  uint64_t count_ = 0;
  double seconds_ = 0;
  double rate_ = 0;
};

}  // namespace ringscope::record

#endif  // RINGSCOPE_COMMANDS_RECORD_STATUS_LINE_H_
