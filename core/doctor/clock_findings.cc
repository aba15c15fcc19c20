// Times: clocks that cannot be converted, and events that come too late to be sorted.

#include <fmt/format.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "core/base/text.h"
#include "core/doctor/examiner.h"

namespace ringscope {
namespace {

std::string ClockName(ClockKey clock) {
  static constexpr std::array kNames = {"",
                                        "REALTIME",
                                        "REALTIME_COARSE",
                                        "MONOTONIC",
                                        "MONOTONIC_COARSE",
                                        "MONOTONIC_RAW",
                                        "BOOTTIME",
                                        "",
                                        "",
                                        "TSC"};
  if (clock.id < kNames.size() && *kNames[clock.id] != '\0')
    return fmt::format("clock {} ({})", clock.id, kNames[clock.id]);
  if (clock.sequence_id != 0)
    return fmt::format("clock {} of sequence {}", clock.id, clock.sequence_id);
  return fmt::format("clock {}", clock.id);
}

/// @return packets whose times cannot be converted
uint64_t ExamineConversions(Examiner& examiner, const MachineFacts& facts) {
  uint64_t failed = 0;
  std::vector<std::string> clocks;
  for (const ClockProblem& problem : facts.clock_problems) {
    failed += problem.packets;
    constexpr size_t kMost = 6;
    if (clocks.size() < kMost)
      clocks.push_back(fmt::format("{}, {} ({})", ClockName(problem.clock),
                                   problem.failure == ClockFailure::kUnknownSource
                                       ? "in no snapshot"
                                       : "without a snapshot that relates it to the trace's clock",
                                   Count(problem.packets, "packet")));
  }
  if (failed > 0)
    examiner.Add("clock.unknown",
                 fmt::format("Trace processor cannot place {} in time, and drops them.",
                             Count(failed, "packet")),
                 {.where = Joined(clocks, "; "),
                  .proof = "The packets' timestamp_clock_id, and the clock snapshots of the trace.",
                  .weight = failed});
  if (facts.undeferrable > 0)
    examiner.Add("clock.lost_packets",
                 fmt::format("{} came before the clock snapshot that they need, and are dropped.",
                             Count(facts.undeferrable, "packet")),
                 {.weight = facts.undeferrable});
  return failed;
}

void ExamineSnapshots(Examiner& examiner, uint64_t failed) {
  const TraceFacts& facts = examiner.facts;
  if (facts.snapshots > 0 && failed == 0 && facts.invalid_snapshots == 0)
    examiner.Well(fmt::format("All times can be converted, by {}.",
                              Count(facts.snapshots, "clock snapshot")));
  if (facts.snapshots == 0 && facts.data_packets > 0) {
    if (examiner.is_of_log())
      examiner.Unknown("How the session's clocks relate: no clock snapshot is in the log.");
    else
      examiner.Add("clock.no_snapshots", "The trace has no clock snapshot.",
                   {.proof = "No clock_snapshot packet."});
  }
  if (facts.snapshots_left_out > 0)
    examiner.Unknown(
        fmt::format("Times after the first {}: further ones are not kept.",
                    Count(facts.snapshots - facts.snapshots_left_out, "clock snapshot")));
}

void ExamineOrder(Examiner& examiner) {
  const TraceFacts& facts = examiner.facts;
  if (facts.late_events > 0)
    examiner.Add("order.late",
                 fmt::format("Trace processor drops {} that come too late for its sorter.",
                             Count(facts.late_events, "event")),
                 {.cause = fmt::format("The trace was sorted in {} by the service's events on "
                                       "flushes and reads, and these events are older than a "
                                       "window that was over.",
                                       Count(facts.sort_windows + 1, "window")),
                  .proof = "The order of packets and of all_data_sources_flushed and "
                           "read_tracing_buffers_completed.",
                  .weight = facts.late_events});
  else if (facts.sort_windows > 0)
    examiner.Well("No event comes too late for the sorter of trace processor.");
}

}  // namespace

void ExamineClocks(Examiner& examiner) {
  uint64_t failed = 0;
  examiner.OnEachMachine(
      [&](const MachineFacts& machine) { failed += ExamineConversions(examiner, machine); });
  ExamineSnapshots(examiner, failed);
  ExamineOrder(examiner);
  if (examiner.facts.times_left_out > 0)
    examiner.Unknown(fmt::format("{} of packets with very many events were not looked at.",
                                 Count(examiner.facts.times_left_out, "time")));
}

}  // namespace ringscope
