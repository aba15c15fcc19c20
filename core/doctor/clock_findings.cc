// Times: clocks that cannot be converted, and events that come too late to be sorted.

#include <fmt/format.h>

#include <array>
#include <utility>

#include "core/base/text.h"
#include "core/doctor/examiner.h"

namespace ringscope {
namespace {

std::string ClockName(ClockKey clock) {
  static constexpr std::array<std::pair<uint32_t, const char*>, 7> kNames = {{
      {1, "REALTIME"},
      {2, "REALTIME_COARSE"},
      {3, "MONOTONIC"},
      {4, "MONOTONIC_COARSE"},
      {5, "MONOTONIC_RAW"},
      {6, "BOOTTIME"},
      {9, "TSC"},
  }};
  for (const auto& [id, name] : kNames)
    if (clock.id == id) return fmt::format("clock {} ({})", id, name);
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
    const char* const why = problem.failure == ClockFailure::kUnknownSource
                                ? "in no snapshot"
                                : "without a snapshot that relates it to the trace's clock";
    if (clocks.size() < kMost)
      clocks.push_back(fmt::format("{}, {} ({})", ClockName(problem.clock), why,
                                   Count(problem.packets, "packet")));
  }
  if (failed > 0) {
    Finding& finding = examiner.Add(
        "clock.unknown", fmt::format("Trace processor cannot place {} in time, and drops them.",
                                     Count(failed, "packet")));
    finding.where = Joined(clocks, "; ");
    finding.proof = "The packets' timestamp_clock_id, and the clock snapshots of the trace.";
    finding.weight = failed;
  }
  if (facts.undeferrable > 0) {
    Finding& finding = examiner.Add(
        "clock.lost_packets",
        fmt::format("{} came before the clock snapshot that they need, and are dropped.",
                    Count(facts.undeferrable, "packet")));
    finding.weight = facts.undeferrable;
  }
  return failed;
}

void ExamineTimes(Examiner& examiner, const MachineFacts& facts) {
  std::vector<std::string> without;
  uint64_t without_time = 0;
  const auto list = [&](uint64_t count, const char* noun) {
    if (count > 0) without.push_back(Count(count, noun));
    without_time += count;
  };
  list(facts.track_events_without_time, "track event packet");
  list(facts.atoms_without_time, "statsd packet");
  list(facts.gpu_counters_without_time, "GPU counter packet");
  if (without_time > 0)
    examiner.Add("packet.no_time", Joined(without) + " without a timestamp.").weight = without_time;
}

}  // namespace

void ExamineClocks(Examiner& examiner) {
  const TraceFacts& facts = examiner.facts;
  uint64_t failed = 0;
  examiner.OnEachMachine(
      [&](const MachineFacts& machine) { failed += ExamineConversions(examiner, machine); });
  if (facts.invalid_snapshots > 0) {
    Finding& finding = examiner.Add(
        "clock.invalid", fmt::format("{} of {} invalid.", WithCommas(facts.invalid_snapshots),
                                     Count(facts.snapshots, "clock snapshot")));
    finding.weight = facts.invalid_snapshots;
  }
  if (facts.snapshots == 0 && facts.data_packets > 0 && examiner.is_of_log()) {
    examiner.Unknown("How the session's clocks relate: no clock snapshot is in the log.");
  } else if (facts.snapshots == 0 && facts.data_packets > 0) {
    examiner.Add("clock.no_snapshots", "The trace has no clock snapshot.").proof =
        "No clock_snapshot packet.";
  } else if (failed == 0 && facts.invalid_snapshots == 0 && facts.snapshots > 0) {
    examiner.Well(fmt::format("All times can be converted, by {}.",
                              Count(facts.snapshots, "clock snapshot")));
  }
  if (facts.snapshots_left_out > 0)
    examiner.Unknown(
        fmt::format("Times after the first {}: further ones are not kept.",
                    Count(facts.snapshots - facts.snapshots_left_out, "clock snapshot")));
  if (facts.late_events > 0) {
    Finding& finding = examiner.Add(
        "order.late", fmt::format("Trace processor drops {} that come too late for its sorter.",
                                  Count(facts.late_events, "event")));
    finding.cause = fmt::format(
        "The trace was sorted in {} by the service's events on flushes and reads, and these events "
        "are older than a window that was over.",
        Count(facts.sort_windows + 1, "window"));
    finding.proof =
        "The order of packets and of all_data_sources_flushed and "
        "read_tracing_buffers_completed.";
    finding.weight = facts.late_events;
  } else if (facts.sort_windows > 0) {
    examiner.Well("No event comes too late for the sorter of trace processor.");
  }
  if (facts.negative_times > 0)
    examiner
        .Add("order.negative",
             fmt::format("{} before the clock's zero.", Count(facts.negative_times, "event")))
        .weight = facts.negative_times;
  examiner.OnEachMachine([&](const MachineFacts& machine) { ExamineTimes(examiner, machine); });
  if (facts.times_left_out > 0)
    examiner.Unknown(fmt::format("{} of packets with very many events were not looked at.",
                                 Count(facts.times_left_out, "time")));
}

}  // namespace ringscope
