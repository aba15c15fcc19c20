// Losses of each machine: by the kernel before the probes read its events, and by the clocks and
// the sorter of trace processor.

#include <bit>

#include "core/findings/examiner.h"
#include "core/perfetto/packet_facts.h"

namespace ringscope {
namespace {

/// "2 CPUs (0, 3)"
Sentence CpusOf(const IndexSum& sum) {
  return Say("{} ({})", Number("cpus", sum.indexes.size(), "CPU"), FirstOf(sum.indexes));
}

/// Adds the kernel's buffers as the config has them, and a size with what the CPU that lost most
/// overwrote each time that its buffer was full; twice their size where that is not known.
void AddKernelBuffer(const Examiner& examiner, const FtraceCounters& ftrace, Finding& finding) {
  constexpr uint64_t kLeastKb = 8192, kNsPerSecond = 1'000'000'000, kShortestDrainMs = 100;
  const auto* const source =
      FindBy(examiner.config.sources, kFtraceSource, &ConfiguredSource::name);
  if (source == nullptr) return;
  const uint64_t kb = source->ftrace_buffer_kb.value_or(0);
  const uint64_t period_ms = source->ftrace_drain_period_ms.value_or(0);
  finding.cause = Say(
      "The kernel's buffer of a CPU ({}) was full before it was drained ({}).",
      kb > 0 ? Size("kernel_buffer_bytes", kb * kKiB) : "default size",
      period_ms > 0 ? Say("every {} ms", Number("drain_period_ms", period_ms)) : "default period");
  uint64_t size_kb = std::max({kLeastKb, kb * 2, KernelBufferKb(period_ms)}), most = 0;
  Sentence rate;
  for (const auto& [cpu, counters] : ftrace.cpus()) {
    const uint64_t overrun = counters[FtraceCounter::kOverrun].delta().value_or(0);
    const uint64_t held = counters[FtraceCounter::kEntries].end.value_or(0);
    const uint64_t lost = overrun / std::max<uint64_t>(counters.bundles_after_loss, 1);
    if (lost <= most || held == 0 || kb == 0 || !examiner.session) continue;
    most = lost;
    const uint64_t bytes = lost * counters[FtraceCounter::kBytes].end.value_or(0) / held;
    const uint64_t need = (kb * kKiB + bytes) / 5 * 6;  // with a fifth as a reserve
    const uint64_t read = counters[FtraceCounter::kReadEvents].delta().value_or(0);
    const auto seconds = static_cast<uint64_t>(examiner.session->length_ns()) / kNsPerSecond;
    size_kb = std::max(std::bit_ceil(need / kKiB + 1), KernelBufferKb(period_ms));
    const uint64_t shorter_ms = TypedPeriod(period_ms * kb * kKiB / need);
    rate = Say(" CPU {} wrote {} events/s, and {} ({}) were overwritten each time{}.", cpu,
               Number("events_per_s", (overrun + read) / std::max<uint64_t>(seconds, 1)),
               Number("events_overwritten", lost), Size("bytes_overwritten", bytes),
               shorter_ms < kShortestDrainMs ? Sentence()
                                             : Say("; drain_period_ms: {} would do for this size",
                                                   Number("drain_period_ms_for_size", shorter_ms)));
  }
  finding.cause += rate;
  finding.changes.push_back({fmt::format("data_sources[{}].config.ftrace_config.buffer_size_kb",
                                         source - examiner.config.sources.data()),
                             std::to_string(size_kb),
                             "the kernel's buffer of a CPU was full before it was read", true});
}

void ExamineOverrun(Examiner& examiner, const FtraceCounters& ftrace, const IndexSum& bundles,
                    const IndexSum& overrun) {
  // The counter alone counts events, too, that were overwritten before the session read any.
  const bool is_counter = bundles.sum == 0;
  AddKernelBuffer(
      examiner, ftrace,
      examiner.Add(
          "ftrace.overrun",
          overrun.sum > 0
              ? Say("The kernel overwrote {} before {} read.",
                    Number("events", overrun.sum, "event"),
                    overrun.sum == 1 ? "it was" : "they were")
              : Say("The kernel overwrote events before they were read, at {}: how many "
                    "is not known.",
                    Number("places", bundles.sum, "place")),
          {.harm = InfoIf(is_counter),
           .where = CpusOf(is_counter ? overrun : bundles),
           .proof = is_counter ? "The overrun counters at the session's start and end; no "
                                 "bundle reports that events before it were lost."
                               : Say("lost_events in {}.", Number("places", bundles.sum, "bundle")),
           .weight = std::max(bundles.sum, overrun.sum)}));
}

void ExamineKernel(Examiner& examiner, const MachineFacts& facts) {
  const FtraceCounters& ftrace = facts.ftrace;
  IndexSum bundles, overrun;
  for (const auto& [cpu, counters] : ftrace.cpus()) bundles.Add(cpu, counters.bundles_after_loss);
  for (const auto& [cpu, counters] : ftrace.cpus())
    // Nobody would have read what CPUs without a mark overwrote.
    if (bundles.sum == 0 || counters.bundles_after_loss > 0)
      overrun.Add(cpu, counters[FtraceCounter::kOverrun].delta().value_or(0));
  if (bundles.sum > 0 || overrun.sum > 0)
    ExamineOverrun(examiner, ftrace, bundles, overrun);
  else if (!ftrace.cpus().empty())
    examiner.Well("The kernel overwrote no ftrace event before it was read.");
  for (const auto& [rule, counter] :
       {std::pair{"ftrace.commit_overrun", FtraceCounter::kCommitOverrun},
        {"ftrace.dropped", FtraceCounter::kDroppedEvents}}) {
    IndexSum lost;
    for (const auto& [cpu, counters] : ftrace.cpus())
      lost.Add(cpu, counters[counter].delta().value_or(0));
    if (lost.sum > 0)
      examiner.Add(rule, Say("The kernel lost {}.", Number("events", lost.sum, "event")),
                   {.where = CpusOf(lost),
                    .proof = fmt::format("{} of ftrace_stats, end less start.", Name(counter)),
                    .weight = lost.sum});
  }
  if (const uint64_t misses = ftrace.kprobe_misses.delta().value_or(0); misses > 0)
    examiner.Add("ftrace.kprobe_misses",
                 Say("{} of kprobes missed.", Number("misses", misses, "hit")),
                 {.proof = "kprobe_stats of ftrace_stats, end less start.", .weight = misses});
}

std::string ClockName(ClockKey clock) {
  constexpr auto kNames =
      std::to_array<const char*>({"", "REALTIME", "REALTIME_COARSE", "MONOTONIC",
                                  "MONOTONIC_COARSE", "MONOTONIC_RAW", "BOOTTIME", "", "", "TSC"});
  const std::string text = fmt::format("clock {}", clock.id);
  if (clock.id < kNames.size() && *kNames[clock.id] != '\0')
    return fmt::format("{} ({})", text, kNames[clock.id]);
  return clock.sequence_id == 0 ? text : fmt::format("{} of sequence {}", text, clock.sequence_id);
}

/// @return packets whose times cannot be converted
uint64_t ExamineConversions(Examiner& examiner, const MachineFacts& facts) {
  uint64_t failed = 0;
  Sentence clocks;  // the first few
  for (size_t i = 0; i < facts.clock_problems.size(); ++i) {
    const ClockProblem& problem = facts.clock_problems[i];
    failed += problem.packets;
    if (i < 6)
      clocks += Say("{}{}, {} ({})", i == 0 ? "" : "; ", ClockName(problem.clock),
                    problem.failure == ClockFailure::kUnknownSource
                        ? "in no snapshot"
                        : "without a snapshot that relates it to the trace's clock",
                    Number(ClockName(problem.clock), problem.packets, "packet"));
  }
  if (failed > 0)
    examiner.Add("clock.unknown",
                 Say("Trace processor cannot place {} in time, and drops {}.",
                     Number("packets", failed, "packet"), failed == 1 ? "it" : "them"),
                 {.where = std::move(clocks),
                  .proof = "The packets' timestamp_clock_id, and the clock snapshots of the trace.",
                  .remedy = examiner.facts.IsOfTool()
                                ? "The tool has to leave out timestamp_clock_id, or to write a "
                                  "clock_snapshot with this clock and BOOTTIME before these "
                                  "packets: for clocks 64 to 127 on their sequence."
                                : "",
                  .weight = failed});
  if (facts.undeferrable > 0)
    examiner.Add("clock.lost_packets",
                 Say("{} came before the clock snapshot that {}, and {} dropped.",
                     Number("packets", facts.undeferrable, "packet"),
                     facts.undeferrable == 1 ? "it needs" : "they need", Is(facts.undeferrable)),
                 {.weight = facts.undeferrable});
  return failed;
}

void ExamineSnapshots(Examiner& examiner, uint64_t failed) {
  const TraceFacts& facts = examiner.facts;
  if (facts.snapshots > 0 && failed == 0 && facts.invalid_snapshots == 0)
    examiner.Well(Say("All times can be converted, by {}.",
                      Number("clock_snapshots", facts.snapshots, "clock snapshot")));
  // A tool's packets have the trace's own time.
  if (facts.snapshots == 0 && facts.data_packets > 0 && (failed > 0 || !facts.IsOfTool())) {
    if (examiner.is_of_log())
      examiner.Unknown("How the session's clocks relate: no clock snapshot is in the log.");
    else
      examiner.Add("clock.no_snapshots", "The trace has no clock snapshot.",
                   {.proof = "No clock_snapshot packet."});
  }
  if (facts.snapshots_left_out > 0)
    examiner.Unknown(Say(
        "Times after the first {}: further ones are not kept.",
        Number("clock_snapshots", facts.snapshots - facts.snapshots_left_out, "clock snapshot")));
}

/// A long time without an event: after a few that are older than all others, or between groups.
void ExamineHole(Examiner& examiner) {
  const TraceFacts& facts = examiner.facts;
  const std::optional<TimeHole>& hole = facts.hole;
  if (!hole || examiner.is_of_log()) return;  // a log shows when they were committed
  std::vector<std::string> names;
  constexpr size_t kMost = 3;
  bool has_both_sides = false, may_be_stale = false, is_remote = false, is_of_log = true;
  for (const TraceSequence& sequence : facts.sequences) {
    if (!sequence.all.span || sequence.all.span->first_ns > hole->span.first_ns) continue;
    is_remote |= sequence.machine != 0;
    is_of_log &= Contains(sequence.contents, uint32_t{proto::TracePacket::kAndroidLog},
                          &ContentAmount::content);
    has_both_sides |= sequence.all.span->last_ns >= hole->span.last_ns;
    // Only what was overwritten around them can make events stale.
    if (facts.IsOfTool()) continue;  // there were no buffers
    may_be_stale |= !sequence.buffer || *sequence.buffer >= facts.buffers.size() ||
                    facts.buffers[*sequence.buffer].stats.chunks_overwritten > 0;
    if (names.size() < kMost) names.push_back(SequenceName(examiner, sequence));
  }
  const bool is_before = facts.lifetime && hole->span.first_ns < facts.lifetime->first_ns &&
                         hole->span.last_ns >= facts.lifetime->first_ns;
  if (!hole->has_few_before() && (!is_before || is_remote)) {
    const int64_t slept_ns = facts.snapshot_span && facts.awake_span
                                 ? facts.snapshot_span->length_ns() - facts.awake_span->length_ns()
                                 : 0;
    const bool has_slept = slept_ns >= hole->span.length_ns() / 2;
    examiner.Add(
        "order.gap",
        Say("There is no event {}: {} before it, {} after.", SpanText(examiner, hole->span),
            Number("packets_before", hole->packets, "packet"),
            Number("packets_after", hole->after)),
        {.harm = InfoIf(has_both_sides || has_slept),
         .where = Joined(names),
         .cause = has_slept ? Say("The device slept for {} of the session, by its clocks.",
                                  Time("slept_ns", slept_ns))
                            : "",
         .proof = "The times of the events.",
         .remedy = has_slept ? "None is needed." : ""});
    return;
  }
  Finding& finding = examiner.Add(
      "order.hole",
      is_before ? Say("{} {} {} older than the session's start.",
                      Number("packets", hole->packets, "event"), Is(hole->packets),
                      Time("older_ns", facts.lifetime->first_ns - hole->span.first_ns))
                : Say("{} {} {} or more older than all others: the UI shows a huge gap.",
                      Number("packets", hole->packets, "packet"), Is(hole->packets),
                      Time("gap_ns", hole->span.length_ns())),
      {.where = Joined(names),
       .proof = Say("No event has a time {}.", SpanText(examiner, hole->span)),
       .weight = hole->packets});
  if (!may_be_stale) {
    const char* const it = hole->packets == 1 ? "it" : "them";
    if (facts.IsOfTool()) {
      finding.cause = Say("The tool wrote {} with this time.", it);
      finding.remedy = "Write all events with times of one clock.";
    } else if (is_of_log) {
      finding.harm = Harm::kInfo;
      finding.cause = "A log keeps messages from before, and its data source read them.";
      finding.remedy = "None is needed.";
    } else {
      finding.cause = Say("{} buffer overwrote nothing: the data source wrote {} with this time.",
                          hole->packets == 1 ? "Its" : "Their", it);
      finding.remedy = "No line of the config helps: look at the data source.";
    }
    return;
  }
  if (examiner.FlushesByItself()) {
    finding.remedy =
        "A shorter file_write_period_ms, as this service flushes before each write and ignores "
        "flush_period_ms; or write_flush_mode: WRITE_FLUSH_DISABLED with flush_period_ms.";
    finding.changes.push_back(
        {"write_flush_mode", "WRITE_FLUSH_DISABLED", "lets flush_period_ms take effect"});
  }
  if (!examiner.has_config() || examiner.config.flush_period_ms) return;
  const uint64_t write_ms = examiner.config.PeriodNs() / kMsInNs;
  finding.changes.push_back(
      {"flush_period_ms",
       std::to_string(finding.changes.empty() ? 10'000 : TypedPeriod(write_ms / 2)),
       "writers commit what they hold at least so often", true});
}

/// Machines whose times are not related to those of the service's.
void ExamineMachines(Examiner& examiner) {
  for (const auto& [machine, remote] : examiner.facts.remotes) {
    if (remote.has_clock_sync || remote.packets == 0) continue;
    examiner.Add(
        "clock.no_sync",
        Say("The clocks of machine {} are not related to those of the service's machine: "
            "its times assume that both booted together.",
            machine),
        {.where = Say("{} of machine {}", Number("packets", remote.packets, "packet"), machine),
         .proof = "No remote_clock_sync packet of this machine.",
         .weight = remote.packets});
  }
}

/// Events before all CPUs have data.
void ExamineLateCpu(Examiner& examiner) {
  const FtraceCounters& ftrace = examiner.facts.ftrace;
  const auto from = ftrace.DataFrom();
  if (!from || examiner.is_of_log()) return;
  const uint64_t before = ftrace.EventsBefore(from->first);
  if (before == 0) return;
  constexpr uint64_t kFew = 10;
  examiner.Add(
      "ftrace.late_cpu",
      Say("{} of {} of the kernel are before CPU {} has data, at {}: trace processor makes no "
          "slices of them.",
          Number("events_before", before), Number("events", ftrace.events(), "event"), from->second,
          TimeOf(examiner, "data_from_ns", from->first)),
      {.harm = InfoIf(before * kFew < ftrace.events()),
       .where = fmt::format("CPU {}", from->second),
       .proof = "previous_bundle_end_timestamp of the first bundle of each CPU.",
       .weight = before});
}

void ExamineOrder(Examiner& examiner) {
  ExamineHole(examiner);
  if (const uint64_t before = examiner.facts.before_boot; before > 0)
    examiner.Add(
        "order.hole",
        Say("{} {} written before the device booted, which is time 0 of the trace: trace "
            "processor drops {}.",
            Number("before_boot", before, "event"), Was(before), before == 1 ? "it" : "them"),
        {.harm = Harm::kInfo,
         .cause = "A log keeps messages over a boot, and its data source read them.",
         .proof = "trace_sorter_negative_timestamp_dropped counts them; their time of day "
                  "is before that of the boot, by the clock snapshots.",
         .remedy = "None is needed.",
         .weight = before});
  ExamineMachines(examiner);
  ExamineLateCpu(examiner);
  const TraceFacts& facts = examiner.facts;
  const uint64_t appended = facts.appended_packets();
  if (facts.late_events > 0 && facts.late_events <= appended)
    examiner.Add("order.late",
                 Say("{} of {} that the session did not write are too late for the importer's "
                     "sorter, and dropped.",
                     Number("events", facts.late_events), Number("appended", appended, "packet")),
                 {.cause = "They follow the last statistics, on sequences that these do not name: "
                           "they were appended to the file.",
                  .proof = "writer_stats of the service's statistics, and the order of packets.",
                  .remedy = "Sort them in by their time, or import with 'trace_processor "
                            "--full-sort'.",
                  .weight = facts.late_events});
  else if (facts.late_events > 0)
    examiner.Add("order.late",
                 Say("Trace processor drops {}, too late for its sorter.",
                     Number("events", facts.late_events, "event")),
                 {.cause = Say("The trace was sorted in {} by the service's events on flushes and "
                               "reads, and {} older than a window that was over.",
                               Number("windows", facts.sort_windows + 1, "window"),
                               facts.late_events == 1 ? "this event is" : "these events are"),
                  .proof = "The order of packets and of all_data_sources_flushed and "
                           "read_tracing_buffers_completed.",
                  .weight = facts.late_events});
  else if (facts.sort_windows > 0)
    examiner.Well("No event comes too late for the sorter of trace processor.");
}

}  // namespace

void ExamineFtrace(Examiner& examiner) {
  examiner.OnEachMachine([&](const MachineFacts& machine) { ExamineKernel(examiner, machine); });
}

void ExamineClocks(Examiner& examiner) {
  uint64_t failed = 0;
  examiner.OnEachMachine(
      [&](const MachineFacts& machine) { failed += ExamineConversions(examiner, machine); });
  ExamineSnapshots(examiner, failed);
  ExamineOrder(examiner);
  if (examiner.facts.times_left_out > 0)
    examiner.Unknown(Say("{} of packets with very many events were not looked at.",
                         Number("times_left_out", examiner.facts.times_left_out, "time")));
}

}  // namespace ringscope
