#include "core/gap_report.h"

#include <algorithm>

namespace ringscope {

void MomentSpan::Add(const LogMoment& moment) {
  if (first.record == 0 || moment.record < first.record) first = moment;
  if (moment.record >= last.record) last = moment;
}

void UnusablePackets::Add(uint64_t bytes, std::optional<uint64_t> time_ns) {
  count += {1, bytes};
  if (!time_ns) return;
  from_ns = std::min(from_ns.value_or(*time_ns), *time_ns);
  to_ns = std::max(to_ns.value_or(*time_ns), *time_ns);
}

const char* Name(GapSign sign) {
  switch (sign) {
    case GapSign::kFlagged:
      return "flagged";
    case GapSign::kFlaggedFirst:
      return "flagged_first";
    case GapSign::kV1First:
      return "v1_first";
    case GapSign::kNotFlagged:
      return "not_flagged";
    case GapSign::kFlagInvalid:
      return "flag_invalid";
    case GapSign::kNothingFollows:
      return "nothing_follows";
  }
  return "";
}

const char* Name(FlagRule rule) {
  switch (rule) {
    case FlagRule::kV1First:
      return "v1_first";
    case FlagRule::kV1Again:
      return "v1_again";
    case FlagRule::kReadmitted:
      return "readmitted";
    case FlagRule::kCameAgain:
      return "came_again";
    case FlagRule::kNoPackets:
      return "no_packets";
    case FlagRule::kNotInLog:
      return "not_in_log";
    case FlagRule::kAbortAhead:
      return "abort_ahead";
    case FlagRule::kRememberedGap:
      return "remembered_gap";
    case FlagRule::kLeftIncomplete:
      return "left_incomplete";
  }
  return "";
}

uint64_t Gap::pushed_bytes() const {
  uint64_t bytes = other_bytes;
  for (const SequenceShare& share : culprits) bytes += share.bytes;
  return bytes;
}

FateCount SequenceGaps::written() const {
  FateCount sum;
  for (const FateCount& count : by_fate) sum += count;
  return sum;
}

FateCount SequenceGaps::lost() const {
  FateCount sum;
  for (size_t i = 0; i < kFates; ++i)
    if (IsLoss(static_cast<Fate>(i))) sum += by_fate[i];
  return sum;
}

FateCount GapReport::lost() const {
  FateCount sum;
  for (const BufferGaps& buffer : buffers) sum += buffer.totals.lost();
  return sum;
}

}  // namespace ringscope
