// Data sources of a trace config that record nothing, or less than is meant.

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <string>
#include <vector>

#include "core/base/text.h"
#include "core/findings/examiner.h"
#include "core/trace/packet_kinds.h"

namespace ringscope {
namespace {

constexpr const char* kProcessSource = "linux.process_stats";

void ExamineSourceNames(Examiner& examiner) {
  if (examiner.is_of_log()) return;  // its records show who registered what
  const auto& sources = examiner.config.sources;
  for (size_t i = 0; i < sources.size(); ++i) {
    if (FindKnownSource(sources[i].name) != nullptr) continue;
    // So do a trace's packets, or that there are none of it.
    const auto account = std::ranges::find(examiner.sources, sources[i].name, &SourceAccount::name);
    if (account != examiner.sources.end() && account->state != SourceState::kUnknown) continue;
    const auto meant = MeantSource(sources[i].name);
    if (!meant) continue;
    examiner.Add(
        "config.unknown_source",
        Say("Perfetto has no data source '{}': '{}' has the nearest name.",
            Printable(sources[i].name), *meant),
        {.where = fmt::format("data_sources[{}]", i),
         .weight = 1,
         .changes = {{fmt::format("data_sources[{}].config.name", i), fmt::format("\"{}\"", *meant),
                      "is the nearest name that Perfetto has", true}}});
  }
}

bool HasSource(const Examiner& examiner, std::string_view name) {
  return std::ranges::find(examiner.config.sources, name, &ConfiguredSource::name) !=
         examiner.config.sources.end();
}

/// Configs that record nothing, or whose ftrace does.
void ExamineNothing(Examiner& examiner) {
  const auto& sources = examiner.config.sources;
  if (sources.empty() && examiner.facts.data_packets == 0)
    examiner.Add(
        "config.records_nothing",
        "The config has no data source: nothing is recorded but the service's own packets.",
        {.harm = Harm::kError, .weight = 1});
  for (size_t i = 0; i < sources.size(); ++i) {
    if (sources[i].name != kFtraceSource || sources[i].asks_for_events ||
        examiner.facts.ftrace.has_events())
      continue;
    examiner.Add(
        "config.records_nothing",
        "linux.ftrace records nothing: its config names no event and no atrace category.",
        {.where = fmt::format("data_sources[{}]", i),
         .remedy = "ftrace_config { ftrace_events: \"sched/sched_switch\" }, and what else "
                   "is to be recorded.",
         .weight = 1});
  }
}

/// Names of events and categories in the words of other tools.
void ExamineEventNames(Examiner& examiner) {
  const auto& sources = examiner.config.sources;
  for (size_t i = 0; i < sources.size(); ++i) {
    const auto examine = [&](const std::vector<std::string>& names, const char* field,
                             std::string_view separators) {
      for (const std::string& name : names) {
        if (name.find_first_of(separators) == std::string::npos) continue;
        std::string lines;
        for (std::string_view rest = name; !rest.empty();) {
          std::string part(rest.substr(0, rest.find_first_of(", ")));
          rest.remove_prefix(std::min(part.size() + 1, rest.size()));
          std::ranges::replace(part, ':', '/');
          if (!part.empty())
            lines += fmt::format("{}{}: \"{}\"", lines.empty() ? "" : "; ", field, part);
        }
        examiner.Add("config.event_name",
                     Say("{} \"{}\" is taken as one name, and there is none like it.", field,
                         Printable(name)),
                     {.where = fmt::format("data_sources[{}]", i),
                      .remedy = Say("One line for each: {}", Printable(lines)),
                      .weight = 1});
      }
    };
    examine(sources[i].ftrace_events, "ftrace_events", ", :");
    examine(sources[i].atrace_categories, "atrace_categories", ", ");
  }
}

/// Threads of the scheduler's events that have no process in the trace.
void ExamineProcessNames(Examiner& examiner) {
  constexpr std::string_view kSched[] = {"sched/sched_switch", "sched_switch", "sched/*"};
  constexpr std::string_view kTask[] = {"task/task_newtask", "task_newtask", "task/*"};
  bool has_sched = false, has_task = false;
  const auto has = [](std::string_view event, std::span<const std::string_view> names) {
    return std::ranges::find(names, event) != names.end();
  };
  for (const ConfiguredSource& source : examiner.config.sources)
    for (const std::string& event : source.ftrace_events) {
      has_sched |= has(event, kSched);
      has_task |= has(event, kTask);
    }
  const bool has_processes = HasSource(examiner, kProcessSource);
  if (!has_sched || (has_processes && has_task)) return;
  Finding& finding = examiner.Add(
      "config.process_names",
      !has_processes
          ? "No linux.process_stats beside linux.ftrace: threads have no process, and processes no "
            "name."
          : "sched events without task/task_newtask and task/task_rename: threads that start "
            "during "
            "the session have no process.",
      {.remedy = has_processes ? "ftrace_events: \"task/task_newtask\"; ftrace_events: "
                                 "\"task/task_rename\""
                               : "data_sources { config { name: \"linux.process_stats\" "
                                 "process_stats_config { scan_all_processes_on_start: true } } }"});
  if (examiner.facts.all.packets > 0) finding.harm = Harm::kInfo;
}

/// Rings that are small for the time between two reads, at the rates that traces usually have.
/// Where there are statistics, they show the rate.
void ExamineRings(Examiner& examiner) {
  constexpr uint64_t kLowRate = 1'000'000, kHighRate = 2'000'000;  // bytes/s
  constexpr uint64_t kSecondNs = 1'000'000'000, kDayNs = 24 * 3600 * kSecondNs;
  constexpr uint64_t kMostKb = 256 * 1024;
  constexpr std::string_view kMuch[] = {kFtraceSource, "track_event", "org.chromium.trace_event",
                                        "linux.perf"};
  const TraceConfigFacts& config = examiner.config;
  if (!examiner.facts.buffers.empty()) return;
  uint64_t period_ns = config.PeriodNs();
  if (const uint64_t duration_ms = config.duration_ms.value_or(0); duration_ms > 0)
    period_ns = std::min(period_ns, std::min(duration_ms, uint64_t{1} << 40) * kMsInNs);
  for (size_t i = 0; i < config.buffers.size(); ++i) {
    const bool has_much = std::ranges::any_of(config.sources, [&](const ConfiguredSource& source) {
      return source.target_buffer == i && std::ranges::find(kMuch, source.name) != std::end(kMuch);
    });
    if (!has_much || config.buffers[i].policy != FillPolicy::kRingBuffer) continue;
    const uint64_t bytes = std::min<uint64_t>(config.buffers[i].size_kb, UINT32_MAX) * kKiB;
    const uint64_t most_ns = bytes * (kSecondNs / kLowRate), least_ns = most_ns / 2;
    const Sentence held =
        Say("{} holds {} to {} at usual rates of 1 to 2 MB/s", BufferName(config, i),
            Time("held_least_ns", least_ns), Time("held_most_ns", most_ns));
    if (!config.write_into_file || period_ns >= kDayNs) {
      examiner.Well(Say("{}: what is older is overwritten.", held));
      const uint64_t clear_ns = config.clear_period_ms.value_or(0) * kMsInNs;
      if (clear_ns / 10 > most_ns)  // whatever the rate
        AddClearPeriod(examiner, Reach{least_ns, true},
                       examiner.Add("config.clear_period",
                                    Say("The state is repeated every {}, and {}.",
                                        Time("clear_period_ns", clear_ns), held),
                                    {.where = BufferName(config, i)}));
      continue;
    }
    if (least_ns >= period_ns) continue;
    Finding& finding = examiner.Add(
        "buffer.short_reach", Say("{}, and is read every {}.", held, Time("period_ns", period_ns)),
        {.where = BufferName(config, i), .weight = 1});
    if (most_ns >= period_ns) finding.harm = Harm::kInfo;
    const uint64_t need_kb = std::bit_ceil(period_ns / kMsInNs * (kHighRate / 1000) / kKiB + 1);
    if (need_kb <= kMostKb)
      finding.changes.push_back({fmt::format("buffers[{}].size_kb", i), std::to_string(need_kb),
                                 "holds 2 MB/s between two reads", true});
    else
      finding.changes.push_back({"file_write_period_ms",
                                 std::to_string(std::max<uint64_t>(least_ns / kMsInNs, 100)),
                                 "2 MB/s fit between two reads", true});
  }
}

}  // namespace

void ExamineConfigSources(Examiner& examiner) {
  if (!examiner.has_config()) return;
  ExamineNothing(examiner);
  ExamineSourceNames(examiner);
  ExamineEventNames(examiner);
  ExamineRings(examiner);
  ExamineProcessNames(examiner);
}

}  // namespace ringscope
