// A trace config that cannot work, or works badly. Where there is a trace, what it shows decides.

#include <bit>

#include "core/findings/examiner.h"
#include "core/trace/packet_view.h"

namespace ringscope {
namespace {

constexpr uint64_t kTooLargeKb = 4 * 1024 * 1024;

/// Returns true if a trace shows that the buffer wrapped.
bool HasWrapped(const Examiner& examiner, size_t index) {
  const auto& buffers = examiner.facts.buffers;
  return index < buffers.size() && buffers[index].stats.chunks_overwritten > 0;
}

void ExamineBufferConfigs(Examiner& examiner) {
  const TraceConfigFacts& config = examiner.config;
  for (size_t i = 0; i < config.buffers.size(); ++i) {
    const uint64_t kb = config.buffers[i].size_kb;
    if (kb == 0 || kb >= kTooLargeKb)
      examiner.Add("config.size",
                   Say("The service refuses this session: size_kb of buffers[{}] is {}{}.", i,
                       Number("size_kb", kb), kb == 0 ? "" : ", and 4 GiB are too many"),
                   {.where = BufferName(config, i),
                    .changes = {{fmt::format("buffers[{}].size_kb", i), "65536",
                                 "the service refuses other sizes"}}});
    if (!config.sources.empty() && !Contains(config.sources, i, &ConfiguredSource::target_buffer))
      examiner.Add(
          "config.unused_buffer", "No data source targets the buffer: it stays empty.",
          {.harm = InfoIf(examiner.facts.all.packets > 0), .where = BufferName(config, i)});
    if (!config.write_into_file || config.buffers[i].policy != FillPolicy::kDiscard) continue;
    const auto& buffers = examiner.facts.buffers;
    const bool is_whole =
        i < buffers.size() && buffers[i].has_stats && buffers[i].stats.chunks_discarded == 0;
    // A buffer that was never full, or whose data sources write little or once, is at no risk.
    const bool has_streams = std::ranges::any_of(config.sources, [&](const auto& source) {
      return source.target_buffer == i &&
             (source.name == kFtraceSource || IsOfTrackEvents(source.name) ||
              FindKnownSource(source.name) == nullptr);
    });
    examiner.Add("config.discard_into_file",
                 Say("The buffer discards, in a session that is written into a file: {}{}.",
                     is_whole ? "0 chunks were discarded here, but " : "",
                     config.buffers[i].is_v2
                         ? "a full buffer takes no more data, however often it was read"
                         : "the first write that meets unread data makes the buffer take no more "
                           "data"),
                 {.harm = !is_whole                                              ? Harm::kOk
                          : has_streams && buffers[i].stats.write_wrap_count > 0 ? Harm::kWarning
                                                                                 : Harm::kInfo,
                  .where = BufferName(config, i),
                  .proof = "fill_policy: DISCARD and write_into_file: true.",
                  .changes = {{fmt::format("buffers[{}].fill_policy", i), "RING_BUFFER",
                               "a discarding buffer seals itself"}}});
  }
}

void ExamineFlushPeriod(Examiner& examiner) {
  const TraceConfigFacts& config = examiner.config;
  constexpr uint64_t kLongSessionMs = 60'000;
  const bool is_long = config.write_into_file || config.duration_ms.value_or(0) > kLongSessionMs;
  if (config.flush_period_ms.value_or(0) > 0 || examiner.FlushesByItself() || !is_long) return;
  const bool may_flush = config.write_into_file && !ServiceRelease(examiner.facts.service_version);
  const bool came_in_order = examiner.facts.stats_packets > 0 && examiner.facts.late_events == 0;
  Finding& finding = examiner.Add(
      "config.no_flush", "Nothing asks the producers to flush before the session ends.",
      {.harm = InfoIf(!config.IsStreamed() || may_flush || came_in_order),
       .cause = may_flush ? "flush_period_ms is not set. Services since v54 flush by themselves; "
                            "this one's release is not known."
                          : "flush_period_ms is not set."});
  // A service that flushes by itself ignores the period.
  if (!may_flush)
    finding.changes.push_back(
        {"flush_period_ms", "5000", "brings data in order of time into the buffers"});
}

/// Rings of events whose state is never repeated.
void ExamineMissingClears(Examiner& examiner) {
  bool any_ring = false, any_wrapped = false;
  for (const ConfiguredSource& source : examiner.config.sources) {
    const auto index = static_cast<size_t>(source.target_buffer);
    const auto& buffers = examiner.config.buffers;
    const bool is_ring = index < buffers.size() && buffers[index].policy == FillPolicy::kRingBuffer;
    if (!is_ring || !IsOfTrackEvents(source.name)) continue;
    any_ring = true;
    any_wrapped |= HasWrapped(examiner, index);
  }
  // A finding on packets that lack their state has this change already.
  if (!any_ring || (!any_wrapped && examiner.facts.all.packets > 0) ||
      examiner.HasFound("state.unusable"))
    return;
  AddClearPeriod(
      examiner, ShortestHeldNs(examiner),
      examiner.Add("config.no_clear_period",
                   any_wrapped
                       ? "The ring wrapped, and nothing made the producers repeat their state."
                       : "If the ring wraps, the state that later packets need is overwritten.",
                   {.proof = "No incremental_state_config in the config."}));
}

/// Rings that turn over between two repetitions of the state.
void ExamineClearPeriod(Examiner& examiner) {
  const uint64_t clear_ns = examiner.config.clear_period_ms.value_or(0) * kMsInNs;
  if (!examiner.session || examiner.IsStreamed()) return;
  for (size_t i = 0; i < examiner.facts.buffers.size(); ++i) {
    const std::optional<Reach> reach = ReachOf(examiner, i);
    if (!reach || reach->held_ns() >= clear_ns) continue;
    AddClearPeriod(
        examiner, reach->held_ns(),
        examiner.Add("config.clear_period",
                     Say("The state is repeated every {}, and the ring holds {}.",
                         Time("clear_period_ns", clear_ns), Time("reach_ns", reach->held_ns())),
                     {.harm = InfoIf(!examiner.HasFound("state.unusable")),
                      .where = BufferName(examiner.config, i),
                      .proof = "clear_period_ms, and the times of the packets that are left."}));
  }
}

/// A ring in which one sequence has most of what is left, beside data sources of other kinds.
void ExamineSharing(Examiner& examiner) {
  for (size_t i = 0; i < examiner.facts.buffers.size(); ++i) {
    const auto sources = static_cast<uint64_t>(
        std::ranges::count(examiner.config.sources, i, &ConfiguredSource::target_buffer));
    if (!HasWrapped(examiner, i) || sources < 2) continue;
    uint64_t all = 0;
    const TraceSequence* largest = nullptr;
    for (const TraceSequence& sequence : examiner.facts.sequences) {
      if (sequence.buffer != i || sequence.machine != 0) continue;
      all += sequence.all.bytes;
      if (largest == nullptr || sequence.all.bytes > largest->all.bytes) largest = &sequence;
    }
    if (largest == nullptr || largest->all.bytes * 3 < all * 2) continue;
    const auto is_lost = [&](const TraceSequence& one) {
      return one.buffer == i && &one != largest &&
             (one.is_lost() || one.losses.sequence_packet_loss > 0);
    };
    const auto has_nothing = [&](const SourceAccount& source) {
      return source.buffer == i && source.state == SourceState::kLost;
    };
    examiner.Add(
        "config.shared_buffer",
        Say("{} share a ring that wrapped, and {} of what is left is of one sequence.",
            Number("data_sources", sources, "data source"),
            Share("share_of_largest", largest->all.bytes, all)),
        {.harm = InfoIf(!examiner.is_of_log() &&
                        std::ranges::none_of(examiner.facts.sequences, is_lost) &&
                        std::ranges::none_of(examiner.sources, has_nothing)),
         .where = fmt::format("{}; {}", BufferName(examiner.config, i),
                              SequenceName(examiner, *largest)),
         .proof = "target_buffer of the data sources, and the bytes of the trace's packets.",
         .weight = largest->all.bytes});
  }
}

constexpr uint64_t kKbPerSecond = 5 * 1024;

/// Faults of a data source's buffers of the kernel, and the lines that are better.
/// Source: the diagnoses of trace processor v58, and its threshold of 5 MB/s.
/// @param path of the data source
void ExamineDrain(Examiner& examiner, const std::string& path, const ConfiguredSource& source) {
  constexpr uint64_t kLongMs = 2000, kLargeKb = 16'384, kSmallKb = 1024;
  constexpr uint64_t kShortestMs = 100, kLongestMs = 60'000, kUsualMs = 250;
  constexpr int64_t kLateNs = 300'000'000'000;  // since boot
  const uint64_t kb = source.ftrace_buffer_kb.value_or(0);
  const uint64_t ms = source.ftrace_drain_period_ms.value_or(0);
  const bool has_overrun = examiner.HasFound("ftrace.overrun");
  const Sentence size = Number("buffer_size_kb", kb), period = Number("drain_period_ms", ms);
  const auto add = [&](Sentence what, Sentence remedy = "") -> Finding& {
    return examiner.Add("config.ftrace_drain", std::move(what),
                        {.harm = InfoIf(!examiner.facts.ftrace.cpus().empty() && !has_overrun),
                         .where = path,
                         .remedy = std::move(remedy),
                         .weight = 1});
  };
  /// Values of 0 are not to be changed.
  const auto change = [&](Finding& finding, uint64_t drain_ms, uint64_t buffer_kb,
                          const char* reason = "keeps the kernel's buffers from overrunning") {
    for (const auto& [field, value] :
         {std::pair{"drain_period_ms", drain_ms}, {"buffer_size_kb", buffer_kb}})
      if (value > 0 && !(value == buffer_kb && has_overrun))
        finding.changes.push_back({fmt::format("{}.config.ftrace_config.{}", path, field),
                                   std::to_string(value), reason, true});
  };
  const bool is_short = ms > 0 && ms < kShortestMs;
  // A longer period needs a buffer that is larger by as much.
  if (is_short)
    change(add(Say("The kernel's buffers are drained every {} ms, which takes CPU time.", period)),
           kUsualMs,
           kb == 0 ? 0 : std::max(std::bit_ceil(kb * kUsualMs / ms), KernelBufferKb(kUsualMs)),
           "takes less CPU time, and loses no more");
  const bool is_too_slow = kb > 0 && ms > 0 && kb * 1000 < kKbPerSecond * ms;
  const bool is_small = kb > 0 && kb < kSmallKb;
  if (ms > kLongestMs || (ms >= kLongMs && kb < kLargeKb && !is_too_slow && !is_small))
    change(add(Say("The kernel's buffers are drained every {} ms only.", period)), kUsualMs, 0);
  if (is_too_slow)
    change(add(Say("The kernel's buffers have {} KiB for each CPU, and are drained every {} ms: a "
                   "CPU that writes more than {} KiB/s loses events.",
                   size, period, Number("kib_per_s", kb * 1000 / ms))),
           0, is_short || ms > kLongestMs ? 0 : KernelBufferKb(ms));
  else if (is_small)
    change(add(Say("The kernel's buffers have {} KiB for each CPU only.", size)), 0,
           is_short ? 0 : kSmallKb);
  if (source.preserves_ftrace && examiner.facts.lifetime.value_or(TimeSpan()).first_ns > kLateNs)
    add("preserve_ftrace_buffer keeps what the kernel's buffers had before the session, which "
        "began more than five minutes after boot.");
  if (source.has_all_syscalls)
    add("All system calls are traced, without a list in syscall_events.",
        "syscall_events: \"sys_openat\", for example: a line for each call that is needed.");
}

void ExamineSourceNames(Examiner& examiner) {
  if (examiner.is_of_log()) return;  // its records show who registered what
  const auto& sources = examiner.config.sources;
  for (size_t i = 0; i < sources.size(); ++i) {
    if (FindKnownSource(sources[i].name) != nullptr) continue;
    // So do a trace's packets, or that there are none of it.
    const auto* const account = FindBy(examiner.sources, sources[i].name, &SourceAccount::name);
    if (account != nullptr && account->state != SourceState::kUnknown) continue;
    const auto meant = MeantSource(sources[i].name);
    if (!meant) continue;
    examiner.Add("config.unknown_source",
                 Say("No data source is known by the name '{}'; the nearest known name is '{}'.",
                     Printable(sources[i].name), *meant),
                 {.where = fmt::format("data_sources[{}]", i),
                  .weight = 1,
                  .changes = {{fmt::format("data_sources[{}].config.name", i),
                               fmt::format("\"{}\"", *meant), "is the nearest known name"}}});
  }
}

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
  const auto& sources = examiner.config.sources;
  const auto asks_for = [&](std::initializer_list<std::string_view> events) {
    return std::ranges::any_of(sources, [&](const ConfiguredSource& source) {
      return std::ranges::find_first_of(source.ftrace_events, events) != source.ftrace_events.end();
    });
  };
  const bool has_processes = Contains(sources, "linux.process_stats", &ConfiguredSource::name);
  if (!asks_for({"sched/sched_switch", "sched_switch", "sched/*"}) ||
      (has_processes && asks_for({"task/task_newtask", "task_newtask", "task/*"})))
    return;
  examiner.Add(
      "config.process_names",
      has_processes ? "sched events without task/task_newtask and task/task_rename: threads that "
                      "start during the session have no process."
                    : "No linux.process_stats beside linux.ftrace: threads have no process, and "
                      "processes no name.",
      {.harm = InfoIf(examiner.facts.all.packets > 0),
       .remedy = has_processes ? "ftrace_events: \"task/task_newtask\"; ftrace_events: "
                                 "\"task/task_rename\""
                               : "data_sources { config { name: \"linux.process_stats\" "
                                 "process_stats_config { scan_all_processes_on_start: true } } }"});
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
  const uint64_t duration_ns = ConfigNs(config.duration_ms.value_or(0));
  uint64_t period_ns = config.PeriodNs();
  if (duration_ns > 0) period_ns = std::min(period_ns, duration_ns);
  for (size_t i = 0; i < config.buffers.size(); ++i) {
    const bool has_much = std::ranges::any_of(config.sources, [&](const ConfiguredSource& source) {
      return source.target_buffer == i && Contains(kMuch, source.name);
    });
    const uint64_t kb = config.buffers[i].size_kb;
    if (!has_much || config.buffers[i].policy != FillPolicy::kRingBuffer || kb == 0 ||
        kb >= kTooLargeKb)
      continue;
    const uint64_t most_ns = kb * kKiB * (kSecondNs / kLowRate), least_ns = most_ns / 2;
    const Sentence held =
        Say("{} holds {} to {} at usual rates of 1 to 2 MB/s", BufferName(config, i),
            Time("held_least_ns", least_ns), Time("held_most_ns", most_ns));
    if (!config.write_into_file || period_ns >= kDayNs) {
      examiner.Well(
          duration_ns > 0 && duration_ns <= least_ns
              ? Say("{}: all of the session's {}.", held, Time("duration_ns", duration_ns))
              : Say("{}: what is older is overwritten.", held));
      const uint64_t clear_ns = config.clear_period_ms.value_or(0) * kMsInNs;
      if (clear_ns / 10 > most_ns)  // whatever the rate
        AddClearPeriod(examiner, least_ns,
                       examiner.Add("config.clear_period",
                                    Say("The state is repeated every {}, and {}.",
                                        Time("clear_period_ns", clear_ns), held),
                                    {.where = BufferName(config, i)}));
      continue;
    }
    if (least_ns >= period_ns) continue;
    const uint64_t need_kb = std::bit_ceil(period_ns / kMsInNs * (kHighRate / 1000) / kKiB + 1);
    ConfigChange change{fmt::format("buffers[{}].size_kb", i), std::to_string(need_kb),
                        "holds 2 MB/s between two reads", true};
    if (need_kb > kMostKb)
      change = {"file_write_period_ms", std::to_string(std::max<uint64_t>(least_ns / kMsInNs, 100)),
                "2 MB/s fit between two reads", true};
    examiner.Add("buffer.short_reach",
                 Say("{}, and is read every {}.", held, Time("period_ns", period_ns)),
                 {.harm = InfoIf(most_ns >= period_ns),
                  .where = BufferName(config, i),
                  .weight = 1,
                  .changes = {std::move(change)}});
  }
}

constexpr uint64_t kDayMs = 24 * 3600 * 1000;

/// @param reason goes after a colon
void Refuse(Examiner& examiner, const Sentence& reason, Sentence remedy,
            std::vector<ConfigChange> changes = {}) {
  examiner.Add("config.refused", Say("The service refuses this session: {}", reason),
               {.cause = "It answers with an error: the session does not start, and nothing is "
                         "recorded.",
                .remedy = std::move(remedy),
                .changes = std::move(changes)});
}

/// Returns a value that several elements have, or an empty text.
template <typename Elements, typename Name>
std::string Repeated(const Elements& elements, Name name) {
  std::set<std::string> names;
  for (const auto& element : elements)
    if (const std::string& text = std::invoke(name, element);
        !text.empty() && !names.insert(text).second)
      return Printable(text);
  return {};
}

/// Refusals of the session's length and of its triggers.
void ExamineTimes(Examiner& examiner) {
  const TraceConfigFacts& config = examiner.config;
  const uint64_t longest_ms = config.has_extra_guardrails ? kDayMs : 7 * kDayMs;
  const Sentence longest =
      Say("{}{}", Number("longest_days", longest_ms / kDayMs, "day"),
          config.has_extra_guardrails ? ", as enable_extra_guardrails is set" : "");
  const uint64_t duration_ms = config.duration_ms.value_or(0);
  if (duration_ms > longest_ms)
    Refuse(examiner,
           Say("duration_ms is {}: the longest is {}.", Time("duration_ns", ConfigNs(duration_ms)),
               longest),
           Say("duration_ms: {}", longest_ms),
           {{"duration_ms", std::to_string(longest_ms), "is the longest session"}});
  const TriggerMode mode = config.trigger_mode;
  if (config.clones_if_available && mode != TriggerMode::kStop)
    Refuse(examiner, "use_clone_snapshot_if_available is set without trigger_mode: STOP_TRACING.",
           "trigger_mode: STOP_TRACING, or without use_clone_snapshot_if_available.");
  if (mode == TriggerMode::kUnspecified) return;
  if (mode > TriggerMode::kCloneSnapshot)
    Refuse(examiner, Say("trigger_mode is {}, which is none.", static_cast<int>(mode)),
           "trigger_mode: START_TRACING, STOP_TRACING or CLONE_SNAPSHOT");
  if (config.trigger_timeout_ms == 0 || config.trigger_timeout_ms > longest_ms)
    Refuse(examiner,
           config.trigger_timeout_ms == 0
               ? Sentence("trigger_timeout_ms is not set.")
               : Say("trigger_timeout_ms is {}: the longest is {}.",
                     Time("trigger_timeout_ns", ConfigNs(config.trigger_timeout_ms)), longest),
           Say("trigger_timeout_ms of 1 to {}", longest_ms),
           {{"trigger_config.trigger_timeout_ms",
             std::to_string(config.trigger_timeout_ms == 0 ? kDayMs : longest_ms),
             "ends a session that no trigger reaches"}});
  if (duration_ms > 0)
    Refuse(examiner, "duration_ms and trigger_config are both set.",
           "With triggers, trigger_timeout_ms and stop_delay_ms end the session.",
           {{"duration_ms", "0", "the triggers end the session"}});
  if (config.write_into_file && mode != TriggerMode::kStart)
    Refuse(examiner,
           Say("write_into_file and trigger_mode: {} exclude each other.",
               mode == TriggerMode::kStop ? "STOP_TRACING" : "CLONE_SNAPSHOT"),
           "Without write_into_file the triggers keep what the buffers have; START_TRACING can be "
           "written into a file.",
           {{"write_into_file", "false", "a trigger saves what the buffers have"}});
  if (const std::string name = Repeated(config.triggers, std::identity()); !name.empty())
    Refuse(examiner, Say("two triggers have the name '{}'.", name), "A name of its own for each.");
}

/// Refusals of the buffers as a whole.
void ExamineBufferSet(Examiner& examiner) {
  const TraceConfigFacts& config = examiner.config;
  if (config.buffer_count > TraceConfigFacts::kMaxBuffers)
    Refuse(examiner,
           Say("the config has {}: {} are the most.",
               Number("buffers", config.buffer_count, "buffer"), TraceConfigFacts::kMaxBuffers),
           "Fewer buffers: several data sources can share one.");
  if (const std::string name = Repeated(config.buffers, &ConfiguredBuffer::name); !name.empty())
    Refuse(examiner, Say("two buffers have the name '{}'.", name), "A name of its own for each.");
  if (!config.has_extra_guardrails) return;
  const uint64_t most_kb = std::max<uint64_t>(128 * 1024, config.most_buffers_kb);
  uint64_t sum_kb = 0;
  for (size_t i = 0; i < config.buffers.size(); ++i) {
    const uint64_t kb = config.buffers[i].size_kb;
    sum_kb += kb;
    if (kb % 4 != 0)
      Refuse(examiner,
             Say("size_kb of buffers[{}] is {}, no multiple of 4, with enable_extra_guardrails.", i,
                 Number("size_kb", kb)),
             "A multiple of 4.",
             {{fmt::format("buffers[{}].size_kb", i), std::to_string(kb / 4 * 4 + 4),
               "is a multiple of 4"}});
  }
  if (sum_kb > most_kb)
    Refuse(examiner,
           Say("all buffers have {} KiB: with enable_extra_guardrails {} are the most.",
               Number("buffers_kb", sum_kb), Number("most_kb", most_kb)),
           "Smaller buffers, or guardrail_overrides { max_tracing_buffer_size_kb }.");
  if (config.deferred_start)
    Refuse(examiner, "deferred_start is set, with enable_extra_guardrails.", "Without one of them.",
           {{"deferred_start", "false", "starts at once"}});
}

/// Refusals of the buffers that data sources target.
void ExamineTargets(Examiner& examiner) {
  const TraceConfigFacts& config = examiner.config;
  if (config.buffer_count == 0 && !config.sources.empty())
    return Refuse(examiner, "the config has data sources, and no buffer that they can write to.",
                  "buffers { size_kb: 65536 }");
  std::vector<std::string_view> names;
  for (const ConfiguredBuffer& buffer : config.buffers) names.push_back(buffer.name);
  for (size_t i = 0; i < config.sources.size(); ++i) {
    const ConfiguredSource& source = config.sources[i];
    const std::string path = fmt::format("data_sources[{}].config.", i);
    const std::string title = fmt::format("data_sources[{}] ({})", i, Printable(source.name));
    const std::string& name = source.target_name;
    const bool is_known = Contains(names, name);
    if (!name.empty() && !is_known) {
      const auto nearest = NearestName(name, names);
      std::vector<ConfigChange> changes;
      if (nearest && !nearest->empty())
        changes.push_back({path + "target_buffer_name", fmt::format("\"{}\"", *nearest),
                           "is the buffer with the nearest name"});
      Refuse(
          examiner,
          Say("{} targets the buffer '{}', and no buffer has this name.", title, Printable(name)),
          "The name of a buffer, as 'buffers' has it.", std::move(changes));
    } else if (!name.empty() && source.set_index.value_or(0) != 0 &&
               *source.set_index != source.target_buffer) {
      Refuse(examiner,
             Say("{} targets two buffers: target_buffer {}, and '{}', which is buffers[{}].", title,
                 *source.set_index, Printable(name), source.target_buffer),
             "Only one of target_buffer and target_buffer_name.");
    } else if (source.target_buffer >= config.buffer_count) {
      Refuse(examiner,
             Say("{} targets buffers[{}], which the config does not have: it has {}, counted from "
                 "0.",
                 title, Number("target_buffer", source.target_buffer),
                 Number("buffers", config.buffer_count, "buffer")),
             config.buffer_count == 1 ? Sentence("target_buffer: 0")
                                      : Say("target_buffer of 0 to {}", config.buffer_count - 1));
    }
  }
}

/// Adds what the service uses in the place of a setting.
Finding& Ignore(Examiner& examiner, Sentence what, std::vector<ConfigChange> changes = {}) {
  return examiner.Add("config.ignored", std::move(what),
                      {.weight = changes.empty() ? uint64_t{0} : 1, .changes = std::move(changes)});
}

/// Sizes of a producer's shared memory that the service does not use as they are.
void ExamineSharedMemory(Examiner& examiner, size_t index) {
  constexpr uint64_t kDefaultKb = 256, kDefaultPageKb = 4, kMostKb = 32 * 1024, kMostPageKb = 32;
  const ConfiguredProducer& producer = examiner.config.producers[index];
  const bool is_probes = producer.name == "perfetto.traced_probes";  // asks for 2 MiB of 32 KiB
  const uint64_t asked_page = producer.page_size_kb != 0 ? producer.page_size_kb
                              : is_probes                ? kMostPageKb
                                                         : kDefaultPageKb;
  const uint64_t asked_total = producer.shm_size_kb == 0 && is_probes ? 2048 : producer.shm_size_kb;
  const uint64_t page = std::min(asked_page, kMostPageKb), total = std::min(asked_total, kMostKb);
  const bool is_page = std::has_single_bit(page) && page >= kDefaultPageKb;
  const uint64_t best_page = std::clamp(std::bit_ceil(page), kDefaultPageKb, kMostPageKb);
  const uint64_t best_total =
      std::min((std::max<uint64_t>(total, 1) + best_page - 1) / best_page * best_page, kMostKb);
  const bool is_refused = !is_page || total % page != 0;  // a total of 0 is the producer's
  const bool is_cut = producer.shm_size_kb > kMostKb || producer.page_size_kb > kMostPageKb;
  if (!is_refused && !is_cut) return;
  const std::string path = fmt::format("producers[{}].", index);
  std::vector<ConfigChange> changes;
  if (producer.page_size_kb != 0 && best_page != producer.page_size_kb)
    changes.push_back(
        {path + "page_size_kb", std::to_string(best_page), "pages have 4, 8, 16 or 32 KiB"});
  if (producer.shm_size_kb != 0 && best_total != producer.shm_size_kb)
    changes.push_back({path + "shm_size_kb", std::to_string(best_total),
                       "a multiple of the page size, and at most 32 MiB"});
  Ignore(examiner,
         Say("The shared memory of '{}' cannot have {}pages of {} KiB: the service {} {} KiB in "
             "pages of {} KiB{}.",
             Printable(producer.name),
             total == 0 ? "" : Say("{} KiB in ", Number("shm_size_kb", asked_total)),
             Number("page_size_kb", asked_page), is_refused ? "makes it" : "takes",
             Number("used_shm_size_kb", is_refused ? kDefaultKb : kMostKb),
             Number("used_page_size_kb", is_refused ? kDefaultPageKb : kMostPageKb),
             is_refused ? "" : " at most"),
         std::move(changes));
}

void ExamineFileSettings(Examiner& examiner) {
  constexpr uint64_t kShortestMs = 100, kFlushMs = 5000;
  const TraceConfigFacts& config = examiner.config;
  const uint64_t write_ms = config.file_write_period_ms.value_or(0);
  if (!config.write_into_file) {
    if (write_ms > 0 || config.max_file_size_bytes > 0)
      Ignore(examiner,
             Say("{} has no effect without write_into_file: the buffers are read at the end.",
                 write_ms > 0 ? "file_write_period_ms" : "max_file_size_bytes"),
             {{"write_into_file", "true", "writes the buffers into the file during the session"}});
    return;
  }
  if (write_ms > 0 && write_ms < kShortestMs)
    Ignore(examiner,
           Say("file_write_period_ms is {}: the service writes every {} ms at most.",
               Number("file_write_period_ms", write_ms), kShortestMs),
           {{"file_write_period_ms", std::to_string(kShortestMs), "is the shortest"}});
  const uint64_t flush_ms = config.flush_period_ms.value_or(0);
  if (flush_ms == 0 || !examiner.FlushesByItself(/*of_unknown=*/true)) return;
  const uint64_t flushes_ms = config.FlushesBeforeWrite() ? config.PeriodNs() / kMsInNs : kFlushMs;
  Finding& finding = Ignore(
      examiner,
      Say("flush_period_ms has no effect in a session that is written into a file: since v54 the "
          "service flushes by itself, every {}.",
          Time("flushes_every_ns", ConfigNs(flushes_ms))));
  if (flushes_ms <= flush_ms || examiner.facts.all.packets > 0) {
    finding.harm = Harm::kInfo;
    return;
  }
  finding.remedy =
      "write_flush_mode: WRITE_FLUSH_DISABLED with flush_period_ms, or a shorter "
      "file_write_period_ms.";
  finding.changes.push_back(
      {"write_flush_mode", "WRITE_FLUSH_DISABLED", "lets flush_period_ms take effect"});
}

// Source: what is known of the service of v58 when a session is enabled.
void ExamineRefusals(Examiner& examiner) {
  // A trace proves that its service took the config, whose duration it may have replaced since.
  if (examiner.facts.all.packets > 0 && !examiner.is_of_log()) return;
  ExamineTimes(examiner);
  const std::string& name = examiner.config.bugreport_filename;
  if (name.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.") !=
      name.npos)
    Refuse(examiner, Say("bugreport_filename is '{}'.", Printable(name)),
           "Only letters, digits, '-', '_' and '.'.");
  ExamineBufferSet(examiner);
  ExamineTargets(examiner);
}

/// What the service ignores or replaces. Source: as above.
void ExamineIgnored(Examiner& examiner) {
  const TraceConfigFacts& config = examiner.config;
  for (const ConfiguredProducer& producer : config.producers) {
    const auto index = static_cast<size_t>(&producer - config.producers.data());
    if (FindBy(config.producers, producer.name, &ConfiguredProducer::name) == &producer)
      ExamineSharedMemory(examiner, index);
    else
      Ignore(examiner, Say("producers[{}] has no effect: the first entry of '{}' counts.", index,
                           Printable(producer.name)));
  }
  ExamineFileSettings(examiner);
  if (config.trigger_mode == TriggerMode::kUnspecified && !config.triggers.empty())
    Ignore(examiner, "The triggers have no effect: trigger_mode is not set.").remedy =
        "trigger_mode: START_TRACING, STOP_TRACING or CLONE_SNAPSHOT";
  if (config.trigger_mode != TriggerMode::kUnspecified && config.triggers.empty())
    Ignore(examiner,
           "The config has a trigger_mode and no trigger: nothing but trigger_timeout_ms ends the "
           "session.")
        .remedy = "triggers { name: \"...\" stop_delay_ms: 1000 } in trigger_config";
}

}  // namespace

uint64_t KernelBufferKb(uint64_t drain_period_ms) {
  return std::bit_ceil(std::max(kKbPerSecond * drain_period_ms / 1000, uint64_t{1024}));
}

void ExamineConfig(Examiner& examiner) {
  if (!examiner.has_config()) return;
  ExamineRefusals(examiner);
  ExamineIgnored(examiner);
  ExamineNothing(examiner);
  ExamineSourceNames(examiner);
  ExamineEventNames(examiner);
  ExamineRings(examiner);
  ExamineProcessNames(examiner);
  ExamineBufferConfigs(examiner);
  ExamineFlushPeriod(examiner);
  if (examiner.config.clear_period_ms.value_or(0) == 0)
    ExamineMissingClears(examiner);
  else
    ExamineClearPeriod(examiner);
  ExamineSharing(examiner);
  const auto& sources = examiner.config.sources;
  for (size_t i = 0; i < sources.size(); ++i)
    ExamineDrain(examiner, fmt::format("data_sources[{}]", i), sources[i]);
}

}  // namespace ringscope
