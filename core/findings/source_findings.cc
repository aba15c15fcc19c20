// What each data source of the config delivered, and why nothing came of one.

#include <fmt/ranges.h>

#include <tuple>

#include "core/findings/examiner.h"
#include "core/trace/packet_view.h"

namespace ringscope {
namespace {

Bytes OwnConfigOf(const ConfiguredSource& source, uint32_t field) {
  return wire::BytesIn(wire::AsBytes(source.own), field);
}

/// Returns true if the data source's config asks for nothing that it could write.
bool AsksForNothing(const ConfiguredSource& source) {
  if (source.name == kFtraceSource) return !source.asks_for_events;
  return source.name == "linux.sys_stats" &&
         OwnConfigOf(source, proto::DataSourceConfig::kSysStatsConfig).empty();
}

/// The kernel's statistics show that it had none of the events that were asked for.
bool KernelHadNone(const FtraceCounters& ftrace) {
  return ftrace.has_stats && std::ranges::all_of(ftrace.cpus(), [](const auto& cpu) {
           const FtracePhases& read = cpu.second[FtraceCounter::kReadEvents];
           return read.delta().value_or(read.end.value_or(0)) == 0;
         });
}

/// Makes the accounts, source by source.
class SourceAccounts {
 public:
  explicit SourceAccounts(const Examiner& examiner)
      : facts_(examiner.facts), config_(examiner.config) {
    for (const TraceSequence& sequence : facts_.sequences) {
      if (sequence.all.packets == 0) continue;
      owners_.push_back(SourceOf(sequence, config_));
      has_unknown_ |= !Contains(config_.sources, owners_.back(), &ConfiguredSource::name);
      sequences_.push_back(&sequence);
    }
  }

  std::vector<SourceAccount> Find() {
    std::vector<SourceAccount> accounts;
    for (const ConfiguredSource& source : config_.sources) {
      SourceAccount& account = accounts.emplace_back();
      account.name = source.name;
      account.buffer = static_cast<uint32_t>(source.target_buffer);
      Add(source, account);
      const bool is_ftrace = source.name == kFtraceSource;
      if (is_ftrace)
        for (const auto& [number, cpu] : facts_.ftrace.cpus())
          account.places += cpu.bundles_after_loss;
      if (account.amount.packets == 0 || (is_ftrace && facts_.ftrace.events() == 0))
        std::tie(account.state, account.why, account.change) = Explain(source, account);
      else if (EndsEarly(account))
        account.state = SourceState::kEndedEarly;
    }
    return accounts;
  }

 private:
  /// Why nothing came of a data source: its state, what the trace proves, and what to do about it.
  using Reason = std::tuple<SourceState, Sentence, Sentence>;

  void Add(const ConfiguredSource& source, SourceAccount& account) {
    const bool is_only =
        std::ranges::count(config_.sources, source.name, &ConfiguredSource::name) == 1;
    for (size_t i = 0; i < sequences_.size(); ++i) {
      const TraceSequence& sequence = *sequences_[i];
      if (owners_[i] != source.name) continue;
      if (!is_only && sequence.buffer && *sequence.buffer != source.target_buffer) continue;
      ++account.sequences;
      account.amount += sequence.all;
      account.unusable += sequence.skipped;
      account.places += sequence.losses.sequence_packet_loss + (sequence.lost_beginning() ? 1 : 0);
    }
  }

  /// Returns true if the data source writes all the time, its buffer was not full, and others wrote
  /// events in more than the second half of the trace without it.
  bool EndsEarly(const SourceAccount& account) const {
    constexpr uint64_t kFewPackets = 30;
    constexpr std::string_view kSteady[] = {kFtraceSource, "linux.sys_stats", "linux.perf",
                                            "track_event", "org.chromium.trace_event"};
    const BufferStats* const stats = StatsOf(account.buffer);
    const std::optional<TimeSpan>&own = account.amount.span, &all = facts_.all.span;
    return own && all && account.amount.packets >= kFewPackets && stats != nullptr &&
           stats->chunks_discarded == 0 && Contains(kSteady, account.name) &&
           all->last_ns - own->last_ns > own->last_ns - all->first_ns;
  }

  /// Returns the buffer's statistics, or nullptr if there are none.
  const BufferStats* StatsOf(size_t buffer) const {
    const bool has_any = buffer < facts_.buffers.size() && facts_.buffers[buffer].has_stats;
    return has_any ? &facts_.buffers[buffer].stats : nullptr;
  }

  Reason Explain(const ConfiguredSource& source, const SourceAccount& account) const {
    const KnownSource* const known = FindKnownSource(source.name);
    const ServiceStats& service = facts_.service;
    const bool is_slow = Contains(facts_.slow_to_start, source.name, &SlowSource::source);
    const BufferStats* const stats = StatsOf(source.target_buffer);
    const std::string buffer_name = BufferName(config_, source.target_buffer);
    if (config_.trigger_mode == TriggerMode::kStart && facts_.triggers.empty() &&
        facts_.data_packets == 0)
      return Reason(SourceState::kNotStarted,
                    "No trigger came that starts the data sources (START_TRACING).",
                    "Activate one of the config's triggers within its trigger_timeout_ms.");
    if (AsksForNothing(source))
      return Reason(SourceState::kNothingAsked, "Its config asks for no event.",
                    source.name == kFtraceSource
                        ? "ftrace_config { ftrace_events ... } or "
                          "atrace_categories, with the events to record."
                        : "Add to the data source's config what to record.");
    if (source.name == kFtraceSource)
      if (std::optional<Reason> reason = ExplainFtrace(account)) return *std::move(reason);
    const bool has_producers = service.producers_connected > 0;
    if (facts_.stats_packets > 0 && (!has_producers || service.data_sources_registered == 0))
      return Reason(SourceState::kNotRegistered,
                    has_producers ? "No data source was registered with the service at the end."
                                  : "No producer was connected to the service at the end.",
                    ProducerText(known));
    if (is_slow)
      return Reason(SourceState::kNotStarted,
                    "The service was still waiting for its start (slow_starting_data_sources).",
                    "Look at its producer, which was busy or blocked.");
    // Chrome's data sources write some of their data as track events.
    const bool is_in_others =
        has_unknown_ || (known != nullptr && source.name.starts_with("org.chromium.") &&
                         Contains(owners_, "track_event"));
    if (!HasOwnContent(source.name) && is_in_others)
      return Reason(SourceState::kUnknown,
                    "The trace does not show which of the other packets the data source wrote.",
                    "");
    if (known == nullptr)
      if (const auto nearest = MeantSource(source.name))
        return Reason(SourceState::kUnknownName,
                      Say("No data source of this name is known; the nearest is '{}'.", *nearest),
                      Say("name: \"{}\"", *nearest));
    if (stats != nullptr && stats->bytes_written + stats->chunks_discarded == 0)
      return Reason(SourceState::kNothingWritten,
                    Say("{} got no byte: the data source was not started, or had nothing to write.",
                        buffer_name),
                    ProducerText(known));
    const bool overwrote = stats != nullptr && stats->chunks_overwritten > 0;
    if (overwrote || (stats != nullptr && stats->chunks_discarded > 0))
      return Reason(
          SourceState::kLost,
          Say("{} {}: the data of this source may have been among them.", buffer_name,
              overwrote ? Say("overwrote {}{}", stats->lacks_overwritten_bytes() ? "about " : "",
                              Size("bytes_overwritten", stats->overwritten_bytes()))
                        : Say("discarded {}",
                              Number("chunks_discarded", stats->chunks_discarded, "chunk"))),
          "A buffer of its own for this data source, which others that write much do not "
          "overwrite.");
    if (IsOfTrackEvents(source.name) && HasTrackDescriptors(account.buffer))
      return Reason(
          SourceState::kNoEvents,
          "Its producers described tracks and wrote no event: no category was enabled, or "
          "nothing happened.",
          "Check enabled_categories in track_event_config against the categories that the "
          "app defines.");
    return Reason(
        SourceState::kSilent,
        "It was not registered under this name, was not started, or had nothing to write.",
        ProducerText(known));
  }

  /// Explains by the kernel's statistics; nullopt: there are none that do.
  std::optional<Reason> ExplainFtrace(const SourceAccount& account) const {
    const FtraceCounters& ftrace = facts_.ftrace;
    if (!ftrace.exclusive_error.empty())
      return Reason(SourceState::kNotStarted,
                    Say("The kernel's tracing was in use: {}", Printable(ftrace.exclusive_error)),
                    "End the other session that uses ftrace, and record again.");
    if (KernelHadNone(ftrace))
      return Reason(
          SourceState::kNoEvents,
          Say("The data source was started, and the kernel had none of the events asked for: "
              "read_events is 0 on all {}{}.",
              ftrace.cpus().empty() ? "CPUs" : Number("cpus", ftrace.cpus().size(), "CPU"),
              ftrace.atrace_errors.empty() ? "" : "; atrace: " + Printable(ftrace.atrace_errors)),
          "Check that the events exist (available_events of tracefs), that nothing else has "
          "switched tracing off, and that traced_probes may write to tracefs.");
    const BufferStats* const stats = StatsOf(account.buffer);
    if (ftrace.has_stats || account.amount.packets > 0 ||
        (facts_.stats_packets > 0 && facts_.service.data_sources_registered == 0) ||
        (stats != nullptr && stats->chunks_overwritten + stats->chunks_discarded > 0))
      return std::nullopt;
    return Reason(
        SourceState::kSilent,
        "Not even its statistics are there: another session or tool was using ftrace, "
        "traced_probes could not open tracefs, or did not run.",
        "End other sessions and tools that use ftrace (atrace, systrace, trace-cmd), or reset "
        "tracefs; check that traced_probes runs and may write to it.");
  }

  /// Returns true if a sequence without events describes tracks.
  /// @param buffer of the data source
  bool HasTrackDescriptors(std::optional<uint32_t> buffer) const {
    return std::ranges::any_of(sequences_, [&](const TraceSequence* one) {
      return one->is_of_producer() && (!one->buffer || one->buffer == buffer) &&
             !Contains(one->contents, proto::TracePacket::kTrackEvent, &ContentAmount::content) &&
             Contains(one->contents, proto::TracePacket::kTrackDescriptor, &ContentAmount::content);
    });
  }

  static Sentence ProducerText(const KnownSource* source) {
    constexpr std::string_view kProfilers[] = {"android.heapprofd", "android.java_hprof"};
    if (source != nullptr && Contains(kProfilers, source->name))
      return "Check that a process which the config names ran in the session, and that it may be "
             "profiled (debuggable, profileable).";
    if (source != nullptr && source->name == std::string_view("track_event"))
      return "Check that an app which writes track events is connected while the session runs, and "
             "the categories that track_event_config enables.";
    if (source == nullptr || *source->producer == '\0')
      return "Check that a producer registers it under exactly this name, and that it is connected "
             "while the session runs.";
    return fmt::format("Check that {} runs, and what its log has about {}.", source->producer,
                       source->name);
  }

  const TraceFacts& facts_;
  const TraceConfigFacts& config_;
  std::vector<const TraceSequence*> sequences_;  // with packets
  std::vector<std::string> owners_;              // the data source of each; empty: not known
  bool has_unknown_ = false;
};

/// Returns true if something that should have come may be missing for another reason: the file is
/// not whole, it is one of several parts, or a filter removed it.
bool IsInPart(const TraceFacts& facts) {
  return facts.is_cut_off || facts.stats_packets == 0 || facts.session > 1 || facts.has_filter ||
         facts.error_count > 0 || facts.sequences_left_out > 0;
}

void ExamineSilentSources(Examiner& examiner) {
  examiner.sources = SourceAccounts(examiner).Find();
  const bool is_in_part = IsInPart(examiner.facts);
  for (SourceAccount& source : examiner.sources) {
    const bool asks_for_nothing = source.state == SourceState::kNothingAsked;
    const bool has_data =
        source.state == SourceState::kDelivered || source.state == SourceState::kEndedEarly;
    if (is_in_part && !has_data && !asks_for_nothing)
      source = {.name = source.name, .buffer = source.buffer, .state = SourceState::kUnknown};
    // ftrace without events is a finding of the config.
    if (is_in_part || examiner.facts.data_packets == 0 || has_data ||
        source.state == SourceState::kUnknown || (asks_for_nothing && source.name == kFtraceSource))
      continue;
    examiner.Add(
        "source.silent",
        Say("The data source '{}' delivered nothing. {}", Printable(source.name), source.why),
        {.where = Say("{}, {}", Printable(source.name), BufferName(examiner.config, source.buffer)),
         .proof = source.state != SourceState::kNoEvents
                      ? "The config asks for the data source, and no packet has a field that it "
                        "writes."
                  : source.name == kFtraceSource ? "ftrace_stats of the trace."
                                                 : "track_descriptor packets, and no event.",
         .remedy = source.change});
  }
}

/// Returns true if the pattern of a config enables the category; '*' stands for any characters.
bool Enables(std::string_view pattern, std::string_view category) {
  size_t star = pattern.find('*');
  if (star == pattern.npos) return pattern == category;
  if (!category.starts_with(pattern.substr(0, star))) return false;
  for (size_t at = 0;;) {
    category.remove_prefix(at + star);
    pattern.remove_prefix(star + 1);
    star = pattern.find('*');
    if (star == pattern.npos) return category.ends_with(pattern);
    at = category.find(pattern.substr(0, star));
    if (at == category.npos) return false;
  }
}

/// Returns true if the pattern enables a category of the group: "a,b".
bool EnablesOneOf(std::string_view pattern, std::string_view group) {
  while (true) {
    const size_t comma = group.find(',');
    if (Enables(pattern, group.substr(0, comma))) return true;
    if (comma == group.npos) return false;
    group.remove_prefix(comma + 1);
  }
}

/// Categories of track events that the config enables, and no event has.
void ExamineCategories(Examiner& examiner) {
  const TraceFacts& facts = examiner.facts;
  if (IsInPart(facts) || facts.categories.empty() || facts.has_other_categories ||
      !facts.remotes.empty())
    return;
  std::set<std::string> asked;
  std::vector<std::string> missing;
  for (const ConfiguredSource& source : examiner.config.sources)
    for (const std::string& pattern : source.track_categories)
      // Apps write "__metadata" by themselves.
      if (!pattern.starts_with("__") && asked.insert(pattern).second &&
          std::ranges::none_of(facts.categories,
                               [&](const auto& group) { return EnablesOneOf(pattern, group); }))
        missing.push_back(fmt::format("'{}'", Printable(pattern)));
  if (missing.empty()) return;
  const bool has_none = missing.size() == asked.size();
  examiner.Add(
      "source.no_category",
      has_none
          ? Say("No event has a category that the config enables: {}.", Joined(missing))
          : Say("{} of {} enabled categories {} no event: {}.",
                Number("categories_missing", missing.size()),
                Number("categories_asked", asked.size()), Has(missing.size()), Joined(missing)),
      {.harm = InfoIf(!has_none || !LostNothing(examiner)),
       .where = "track_event",
       .weight = missing.size()});
}

/// Returns true if the list has the event, by its name with or without its group.
bool Lists(const std::vector<std::string>& list, std::string_view event) {
  return std::ranges::any_of(list, [&](std::string_view one) {
    return one == event || event.ends_with("/" + std::string(one)) ||
           one.ends_with("/" + std::string(event));
  });
}

/// Events that the kernel or atrace did not have.
void ExamineFtraceSetup(Examiner& examiner, const ConfiguredSource& source) {
  const FtraceCounters& ftrace = examiner.facts.ftrace;
  const std::vector<std::string>& asked = source.ftrace_events;
  std::vector<std::string> missing;
  bool any_failed = false;
  for (const std::string& event : asked) {
    const bool has_failed = Lists(ftrace.failed_events, event);
    if (!has_failed && !Lists(ftrace.unknown_events, event)) continue;
    any_failed |= has_failed;
    missing.push_back(Printable(event));
  }
  const size_t reported = ftrace.unknown_events.size() + ftrace.failed_events.size();
  if (reported == 0 && ftrace.atrace_errors.empty()) return;
  std::vector<std::string> others;  // of wildcards and categories
  for (const auto* list : {&ftrace.unknown_events, &ftrace.failed_events})
    for (const std::string& event : *list)
      if (!Lists(asked, event)) others.push_back(Printable(event));
  Sentence cause = missing.empty() ? "They are not in this kernel, or could not be switched on."
                   : any_failed ? "The kernel refused to switch events on, or does not have them."
                                : "This kernel does not have events of these names.";
  if (!missing.empty() && !others.empty())
    cause += Say(" Of wildcards and categories: {}.", Joined(others));
  if (!ftrace.atrace_errors.empty()) cause += Say(" atrace: {}.", Printable(ftrace.atrace_errors));
  examiner.Add(
      "ftrace.setup",
      missing.empty()
          ? (others.empty()
                 ? Say("atrace reported an error: {}.", Printable(ftrace.atrace_errors))
                 : Say("{} of wildcards and categories could not be recorded: {}.",
                       Number("events_of_categories", others.size(), "event"), Joined(others)))
          : Say("{} of the {} that the config asks for could not be recorded: {}.",
                Number("events_missing", missing.size()),
                Number("events_asked", asked.size(), "event"), Joined(missing)),
      {.harm = InfoIf(missing.empty()),
       .cause = std::move(cause),
       .proof = "unknown_ftrace_events, failed_ftrace_events and atrace_errors of ftrace_stats.",
       .weight = missing.size()});
}

/// Events that have addresses of functions, whose names were not asked for.
void ExamineKernelSymbols(Examiner& examiner, const ConfiguredSource& source, size_t index) {
  const Bytes config = OwnConfigOf(source, proto::DataSourceConfig::kFtraceConfig);
  if (wire::NumberIn(config, proto::FtraceConfig::kSymbolizeKsyms) != 0) return;
  const std::vector<std::string>& asked = source.ftrace_events;
  std::vector<std::string> with;
  for (const std::string_view event :
       {"workqueue/workqueue_execute_start", "workqueue/workqueue_execute_end",
        "workqueue/workqueue_activate_work", "workqueue/workqueue_queue_work",
        "ftrace/funcgraph_entry", "ftrace/funcgraph_exit"})
    if (Lists(asked, event)) with.emplace_back(event);
  if (wire::NumberIn(config, proto::FtraceConfig::kEnableFunctionGraph) != 0)
    with.emplace_back("the function graph");
  if (with.empty()) return;
  examiner.Add(
      "ftrace.symbols",
      Say("Functions in {} have no names, only addresses: the config does not ask for the "
          "kernel's symbols.",
          Joined(with, " and ")),
      {.proof = "symbolize_ksyms is not set in ftrace_config.",
       .weight = with.size(),
       .changes = {{fmt::format("data_sources[{}].config.ftrace_config.symbolize_ksyms", index),
                    "true", "names of the kernel's functions"}}});
}

IndexSum SumOf(const MachineFacts& machine, ContentStat stat) {
  IndexSum sum;
  for (const auto& [key, value] : machine.content.indexed())
    if (key.first == stat) sum.Add(key.second, value);
  return sum;
}

/// "pid 7, 12"
std::string WhereOf(const IndexSum& sum, const char* noun) {
  return fmt::format("{} {}", noun, FirstOf(sum.indexes));
}

/// Adds twice the value of a field of a data source's config, if it has one.
void AddTwice(const Examiner& examiner, Finding& finding, std::string_view source, const char* path,
              uint64_t ConfiguredSource::*value, const char* reason) {
  const auto& sources = examiner.config.sources;
  const ConfiguredSource* const found = FindBy(sources, source, &ConfiguredSource::name);
  if (found == nullptr || found->*value == 0) return;
  finding.changes.push_back(
      {fmt::format("data_sources[{}].config.{}", found - sources.data(), path),
       std::to_string(found->*value * 2), reason, true});
}

void ExaminePerf(Examiner& examiner, const MachineFacts& machine) {
  const auto& [whole, unread, unwound, queued] = machine.profilers.perf_samples;
  const auto add_lost = [&](Sentence what, std::string where, const char* proof, uint64_t weight,
                            const char* remedy = "") {
    return &examiner.Add(
        "perf.lost", std::move(what),
        {.where = std::move(where), .proof = proof, .remedy = remedy, .weight = weight});
  };
  if (const IndexSum lost = SumOf(machine, "perf_cpu_lost_records"_stat); lost.sum > 0)
    AddTwice(
        examiner,
        *add_lost(Say("The kernel had no space for {} of linux.perf.",
                      Number("records_lost", lost.sum, "record")),
                  WhereOf(lost, "CPU"), "kernel_records_lost of perf_sample packets.", lost.sum),
        "linux.perf", "perf_event_config.ring_buffer_pages", &ConfiguredSource::perf_ring_pages,
        "holds more samples between two reads");
  if (queued > 0)
    add_lost(Say("{} of linux.perf {} dropped: the queue of the unwinder was full.",
                 Number("samples_dropped", queued, "sample"), Was(queued)),
             "", "sample_skipped_reason of perf_sample packets.", queued,
             "A lower frequency, or fewer processes in the scope of linux.perf.");
  if (const IndexSum stopped = SumOf(machine, "perf_guardrail_stop_ts"_stat); stopped.sum > 0)
    add_lost(Say("A guardrail stopped linux.perf at {}.",
                 TimeOf(examiner, "stopped_ns", static_cast<int64_t>(stopped.sum))),
             WhereOf(stopped, "session"), "source_stop_reason of a perf_sample packet.", 1,
             "A larger max_daemon_memory_kb, a lower frequency, or fewer processes.");
  const uint64_t lacking = unread + unwound;
  constexpr uint64_t kFew = 100;
  if (lacking > 0)
    examiner.Add("perf.no_callstack",
                 Say("{} of {} {} no callstack: {} could not be read, {} not unwound.",
                     Number("samples_without_callstack", lacking),
                     Number("samples", whole + lacking + queued, "sample"), Has(lacking),
                     Number("samples_not_read", unread), Number("samples_not_unwound", unwound)),
                 {.harm = InfoIf(lacking * kFew <= whole),
                  .proof = "sample_skipped_reason of perf_sample packets.",
                  .weight = lacking});
}

/// What heapprofd reports of the profile of a process.
struct HeapReport {
  ContentStat stat;
  Harm harm;
  const char* text;         // after the number of processes
  const char* remedy = "";  // empty: that of the rule
};
constexpr HeapReport kHeapReports[] = {
    {"heapprofd_buffer_overran"_stat, Harm::kDataLoss,
     "ends early: the buffer between the process and heapprofd was full.",
     "A larger shmem_size_bytes, a larger sampling_interval_bytes, or block_client: true, which "
     "stops the process instead."},
    {"heapprofd_buffer_corrupted"_stat, Harm::kError, "has a corrupted buffer."},
    {"heapprofd_rejected_concurrent"_stat, Harm::kError,
     "was refused: another session profiled the process at the same time.",
     "End the other session, and record again."},
    {"heapprofd_hit_guardrail"_stat, Harm::kError, "was ended by a guardrail of heapprofd.",
     "A larger sampling_interval_bytes, max_heapprofd_memory_kb or max_heapprofd_cpu_secs."},
    {"heapprofd_client_disconnected"_stat, Harm::kInfo,
     "ends before the session: the process ended, or closed its connection.",
     "None, if the process was meant to end."},
};

void ExamineHeapProfiles(Examiner& examiner, const MachineFacts& machine) {
  constexpr const char* kProof = "process_dumps of profile_packet.";
  for (const HeapReport& report : kHeapReports) {
    const IndexSum dumps = SumOf(machine, report.stat);
    if (dumps.sum == 0) continue;
    Finding& finding = examiner.Add(
        "heap.profile",
        Say("The heap profile of {}{} {}", dumps.indexes.size() > 1 ? "each of " : "",
            WhereOf(dumps, "pid"), report.text),
        {.harm = report.harm, .proof = kProof, .remedy = report.remedy, .weight = dumps.sum});
    AddFigures(finding.what.figures, Number("profiles", dumps.sum));
    if (report.stat == "heapprofd_buffer_overran"_stat)
      AddTwice(examiner, finding, "android.heapprofd", "heapprofd_config.shmem_size_bytes",
               &ConfiguredSource::heap_shm_bytes, "holds more until heapprofd reads it");
  }
  const IndexSum errors = SumOf(machine, "heapprofd_client_error"_stat);
  if (errors.sum > 0 && !examiner.HasFound("heap.profile"))
    examiner.Add(
        "heap.profile",
        Say("The heap profile of {} ends with an error of the client.", WhereOf(errors, "pid")),
        {.harm = Harm::kError, .proof = kProof, .weight = 1});
  if (const uint64_t missing = machine.content["heapprofd_missing_packet"_stat]; missing > 0)
    examiner.Add(
        "heap.profile",
        Say("Packets of heap profiles are missing at {}.", Number("places", missing, "place")),
        {.harm = Harm::kError,
         .proof = "index of profile_packet.",
         .remedy = "A larger buffer, or write_into_file.",
         .weight = missing});
}

void ExamineHeapDumps(Examiner& examiner, const MachineFacts& machine) {
  for (const BrokenHeapDump& dump : machine.profilers.heap_dumps) {
    const size_t count = dump.missing.size();
    std::vector<std::string> missing;
    if (count > 0)
      missing.push_back(fmt::format("packet{} {} {} missing", count == 1 ? "" : "s",
                                    fmt::join(dump.missing, ", "), Is(count)));
    if (dump.is_unfinished) missing.emplace_back("its end is missing");
    examiner.Add("heap.dump",
                 Say("The Java heap dump of pid {} is not complete: {}.", dump.pid,
                     Joined(missing, ", and ")),
                 {.harm = dump.is_unfinished ? Harm::kDataLoss : Harm::kError,
                  .proof = "index and continued of heap_graph packets.",
                  .remedy = count == 0 && LostNothing(examiner)
                                ? "The session ended before the dump: a longer duration_ms and "
                                  "data_source_stop_timeout_ms."
                            : examiner.config.write_into_file
                                ? "A larger buffer of its own for android.java_hprof, or a shorter "
                                  "file_write_period_ms."
                                : "",
                  .weight = 1 + count});
  }
  if (const IndexSum unknown = SumOf(machine, "heap_graph_invalid_string_id"_stat);
      unknown.sum > 0 && machine.profilers.heap_dumps.empty())
    examiner.Add("heap.dump",
                 Say("{} of Java heap dumps {} no known location.",
                     Number("types", unknown.sum, "type"), Has(unknown.sum)),
                 {.harm = Harm::kError,
                  .where = WhereOf(unknown, "pid"),
                  .proof = "location_id of types, and location_names."});
}

}  // namespace

std::string SourceOf(const TraceSequence& sequence, const TraceConfigFacts& config) {
  const auto has = [&](std::string_view source) {
    return std::ranges::any_of(sequence.contents, [&](const ContentAmount& content) {
      return Writes(source, content.content);
    });
  };
  for (const ConfiguredSource& source : config.sources)
    if (has(source.name)) return source.name;
  // One that has no content of its own: it is its buffer's, if no other writes there.
  if (sequence.buffer && sequence.all.packets > 0) {
    std::set<std::string> names;
    for (const ConfiguredSource& source : config.sources)
      if (source.target_buffer == *sequence.buffer) names.insert(source.name);
    if (names.size() == 1 && !HasOwnContent(*names.begin())) return *names.begin();
  }
  for (const ContentAmount& content : sequence.contents)
    if (const char* const source = KindOf(content.content).source; *source != '\0') return source;
  // A data source of its own kind: it is the config's, if that has one only.
  std::set<std::string> others;
  for (const ConfiguredSource& source : config.sources)
    if (FindKnownSource(source.name) == nullptr) others.insert(source.name);
  return sequence.all.packets > 0 && others.size() == 1 ? *others.begin() : "";
}

void ExamineSources(Examiner& examiner) {
  if (!examiner.has_config()) return;
  if (!examiner.is_of_log()) {
    ExamineSilentSources(examiner);
    ExamineCategories(examiner);
  }
  for (size_t i = 0; i < examiner.config.sources.size(); ++i) {
    const ConfiguredSource& source = examiner.config.sources[i];
    if (source.name != kFtraceSource) continue;
    ExamineFtraceSetup(examiner, source);
    ExamineKernelSymbols(examiner, source, i);
  }
}

// Losses that profilers report in their packets: linux.perf, heapprofd, Java heap dumps.

void ExamineProfilers(Examiner& examiner) {
  examiner.OnEachMachine([&](const MachineFacts& machine) {
    ExaminePerf(examiner, machine);
    ExamineHeapProfiles(examiner, machine);
    ExamineHeapDumps(examiner, machine);
  });
}

}  // namespace ringscope
