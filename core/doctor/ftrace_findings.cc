// What the kernel lost before the probes read it.

#include <fmt/format.h>

#include <algorithm>

#include "core/base/text.h"
#include "core/doctor/examiner.h"

namespace ringscope {
namespace {

struct Sum {
  uint64_t events = 0;
  std::vector<std::string> cpus;  // the first few that are concerned
  uint64_t cpu_count = 0;

  void Add(uint64_t cpu, uint64_t count) {
    if (count == 0) return;
    events += count;
    ++cpu_count;
    constexpr size_t kMost = 8;
    if (cpus.size() < kMost) cpus.push_back(std::to_string(cpu));
  }
  std::string Where() const {
    return fmt::format("{} ({}{})", Count(cpu_count, "CPU"), Joined(cpus),
                       cpu_count > cpus.size() ? ", ..." : "");
  }
};

const ConfiguredSource* FtraceSource(const Examiner& examiner) {
  const auto& sources = examiner.config.sources;
  const auto found = std::ranges::find(sources, "linux.ftrace", &ConfiguredSource::name);
  return found == sources.end() ? nullptr : &*found;
}

/// The kernel's buffer, twice as large.
std::optional<ConfigChange> LargerKernelBuffer(const Examiner& examiner) {
  const ConfiguredSource* const source = FtraceSource(examiner);
  if (source == nullptr) return std::nullopt;
  constexpr uint64_t kLeastKb = 8192;
  const uint64_t kb = std::max(kLeastKb, source->ftrace_buffer_kb.value_or(0) * 2);
  const auto index = static_cast<size_t>(source - examiner.config.sources.data());
  return ConfigChange{fmt::format("data_sources[{}].config.ftrace_config.buffer_size_kb", index),
                      std::to_string(kb),
                      "the kernel's buffer of a CPU was full before it was read", true};
}

void ExamineKernel(Examiner& examiner, const MachineFacts& facts) {
  const FtraceCounters& ftrace = facts.ftrace;
  Sum bundles, overrun, commit_overrun, dropped;
  for (const auto& [cpu, counters] : ftrace.cpus()) {
    bundles.Add(cpu, counters.bundles_after_loss);
    overrun.Add(cpu, counters[FtraceCounter::kOverrun].delta().value_or(0));
    commit_overrun.Add(cpu, counters[FtraceCounter::kCommitOverrun].delta().value_or(0));
    dropped.Add(cpu, counters[FtraceCounter::kDroppedEvents].delta().value_or(0));
  }
  if (bundles.events > 0 || overrun.events > 0) {
    Finding& finding = examiner.Add(
        "ftrace.overrun",
        overrun.events > 0
            ? fmt::format("The kernel overwrote {} before they were read.",
                          Count(overrun.events, "event"))
            : fmt::format("Before {} the kernel overwrote events: how many is not known.",
                          Count(bundles.events, "bundle")));
    // The counter alone counts events, too, that were overwritten before the session read any.
    if (bundles.events == 0) finding.harm = Harm::kInfo;
    finding.where = (bundles.events > 0 ? bundles : overrun).Where();
    finding.proof = bundles.events > 0
                        ? fmt::format("lost_events in {}.", Count(bundles.events, "bundle"))
                        : "The overrun counters at the session's start and end; no bundle "
                          "reports that events before it were lost.";
    finding.weight = std::max(bundles.events, overrun.events);
    const ConfiguredSource* const source = FtraceSource(examiner);
    if (source != nullptr) {
      finding.cause = fmt::format(
          "The kernel's buffer of a CPU ({}) was full before it was drained ({}).",
          source->ftrace_buffer_kb ? HumanSize(*source->ftrace_buffer_kb * 1024) : "default size",
          source->ftrace_drain_period_ms
              ? fmt::format("every {} ms", *source->ftrace_drain_period_ms)
              : "default period");
    }
    if (auto change = LargerKernelBuffer(examiner)) finding.changes.push_back(*std::move(change));
  } else if (!ftrace.cpus().empty()) {
    examiner.Well("The kernel overwrote no ftrace event before it was read.");
  }
  const auto add = [&](const char* rule, const Sum& sum, const char* counter) {
    if (sum.events == 0) return;
    Finding& finding =
        examiner.Add(rule, fmt::format("The kernel lost {}.", Count(sum.events, "event")));
    finding.where = sum.Where();
    finding.proof = fmt::format("{} of ftrace_stats, end less start.", counter);
    finding.weight = sum.events;
  };
  add("ftrace.commit_overrun", commit_overrun, "commit_overrun");
  add("ftrace.dropped", dropped, "dropped_events");
  if (const auto misses = ftrace.kprobe_misses().delta(); misses && *misses > 0) {
    Finding& finding = examiner.Add("ftrace.kprobe_misses",
                                    fmt::format("{} of kprobes missed.", Count(*misses, "hit")));
    finding.proof = "kprobe_stats of ftrace_stats, end less start.";
    finding.weight = *misses;
  }
  const uint64_t malformed =
      facts.bundles_without_cpu + facts.events_without_time + facts.bad_compact_sched;
  if (malformed > 0) {
    std::vector<std::string> what;
    const auto list = [&](uint64_t count, const char* noun, const char* lacks) {
      if (count > 0) what.push_back(fmt::format("{} {}", Count(count, noun), lacks));
    };
    list(facts.bundles_without_cpu, "bundle", "without a CPU");
    list(facts.events_without_time, "event", "without a timestamp");
    list(facts.bad_compact_sched, "bundle", "with columns that do not match");
    examiner.Add("ftrace.malformed", Joined(what) + ".").weight = malformed;
  }
}

}  // namespace

void ExamineFtrace(Examiner& examiner) {
  examiner.OnEachMachine([&](const MachineFacts& machine) { ExamineKernel(examiner, machine); });
}

}  // namespace ringscope
