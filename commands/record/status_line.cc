#include "commands/record/status_line.h"

#include <fmt/format.h>

#include "commands/shell/text.h"

namespace ringscope::record {
namespace {

constexpr double kRateSeconds = 1.0;  // the shortest time that a rate is taken over

}  // namespace

std::string FormatStatus(const StatusInfo& info) {
  const auto seconds = static_cast<uint64_t>(info.seconds);
  const std::string gaps = info.queue.gaps == 0
                               ? "no gaps"
                               : fmt::format("{} ({} lost)", Count(info.queue.gaps, "gap"),
                                             HumanSize(info.queue.dropped_bytes));
  return fmt::format("{}:{:02}  {}  {}  {:.1f} MB/s  {}  queue {}  {}", seconds / 60, seconds % 60,
                     Count(info.counts.producers, "producer"),
                     Count(info.counts.sequences, "sequence"), info.bytes_per_second / 1e6,
                     Count(info.counts.chunks, "chunk"), HumanSize(info.queue.queued), gaps);
}

double RateMeter::Update(uint64_t count, double seconds) {
  if (seconds - seconds_ >= kRateSeconds) {
    rate_ = static_cast<double>(count - count_) / (seconds - seconds_);
    count_ = count;
    seconds_ = seconds;
  }
  return rate_;
}

}  // namespace ringscope::record
