#include <tuple>

#include "core/findings/examiner.h"
#include "core/trace/packet_view.h"

// Packets of sequences that cannot be used, and sequences that are lost.

namespace ringscope {
namespace {

/// Adds the larger ring that the findings on it propose, where that keeps the state or where this
/// one is too small for a period; and the period in which producers repeat the state.
void AddRepetition(const Examiner& examiner, Finding& finding) {
  std::vector<ConfigChange> larger;
  for (const Finding& other : examiner.findings)
    if (other.rule->id == "buffer.overwritten" || other.rule->id == "buffer.short_reach")
      larger.insert(larger.end(), other.changes.begin(), other.changes.end());
  if (SizesKeepAll(examiner)) {
    finding.changes = std::move(larger);
    finding.remedy = examiner.IsStreamed() && !examiner.is_of_log()
                         ? "A larger buffer, from which the file gets the state before it is "
                           "overwritten."
                         : "A larger buffer keeps the state; or incremental_state_config { "
                           "clear_period_ms } makes the producers repeat it.";
    if (examiner.IsStreamed()) return;
    AddClearPeriod(examiner, ShortestHeldNs(examiner), finding);
  } else if (!AddClearPeriod(examiner, ShortestHeldNs(examiner), finding)) {
    finding.changes = std::move(larger);
  }
}

void ExamineState(Examiner& examiner) {
  const TraceFacts& facts = examiner.facts;
  uint64_t needing = 0, skipped = 0, dropped = 0, never_cleared = 0;
  std::optional<TimeSpan> span;
  const TraceSequence* worst = nullptr;
  for (const TraceSequence& sequence : facts.sequences) {
    needing += sequence.needing;
    skipped += sequence.skipped;
    dropped += sequence.is_dropped() ? 1 : 0;
    never_cleared += sequence.skipped > 0 && sequence.clears == 0 ? 1 : 0;
    AddTo(span, sequence.skipped_span);
    if (sequence.skipped > 0 && (worst == nullptr || sequence.skipped > worst->skipped))
      worst = &sequence;
  }
  if (needing == 0) return;
  if (skipped == 0)
    return examiner.Well(Say("All {} that need incremental state have it.",
                             Number("with_state", needing, "packet")));
  Finding& finding = examiner.Add(
      "state.unusable",
      Say("{} of {} that need incremental state cannot be used ({}): their state is lost.",
          Number("unusable", skipped), Number("needing_state", needing, "packet"),
          Share("share_unusable", skipped, needing)),
      {.harm = HarmOfUnusable(skipped, facts.all.packets),
       .where = Say("{}most in {}: {} of {}", span ? Say("{}; ", SpanText(examiner, *span)) : "",
                    SequenceName(examiner, *worst), Number("most_unusable", worst->skipped),
                    Number("most_needing_state", worst->needing)),
       .cause = never_cleared == 0
                    ? "Packets before them are lost, and the state was not repeated soon after."
                    : Say("In {} no packet in the trace sets the state up: it was overwritten, or "
                          "never written.",
                          Number("sequences_without_state", never_cleared, "sequence")),
       .proof = "Packets with SEQ_NEEDS_INCREMENTAL_STATE before the first that clears the state, "
                "or after a loss.",
       .weight = skipped});
  if (facts.IsOfTool()) {
    finding.what.text.replace(finding.what.text.rfind(": "), std::string::npos,
                              ": the tool that wrote them had not set their state up before.");
    finding.cause = "The tool has to set the state up in the first packet of each sequence.";
    finding.remedy = RuleOf("state.never_cleared").remedy;
  }
  if (dropped > 0)
    finding.where +=
        Say("; {} without any usable packet", Number("unusable_sequences", dropped, "sequence"));
  if (!examiner.has_config()) return;
  if (examiner.config.clear_period_ms.value_or(0) == 0)
    finding.cause +=
        " The config has no incremental_state_config: nothing makes producers repeat it.";
  AddRepetition(examiner, finding);
  // A ring lacks the state of what is older than its first repetition in it.
  constexpr uint64_t kFew = 5;
  if (examiner.config.clear_period_ms.value_or(0) == 0 || examiner.IsStreamed() ||
      examiner.is_of_log() || skipped * kFew > needing ||
      Contains(finding.changes, kClearPeriodPath, &ConfigChange::path))
    return;
  finding.harm = Harm::kInfo;
  finding.cause = "They are older than the first repetition of the state that the ring holds.";
  finding.remedy = "None is needed: the state is repeated often enough for what the ring holds.";
}

/// Sequences that the service lists and that have no packet.
void ExamineSilent(Examiner& examiner) {
  const TraceFacts& facts = examiner.facts;
  std::vector<std::string> ids;
  for (const TraceSequence& sequence : facts.sequences)
    if (sequence.is_lost()) ids.push_back(std::to_string(sequence.id));
  // The statistics name writers of remote machines by ids that their packets do not have.
  if (ids.empty() || !facts.remotes.empty() || !examiner.has_config() || facts.data_packets == 0)
    return;
  const bool has_tree = std::ranges::any_of(facts.sequences, [](const TraceSequence& sequence) {
    return Contains(sequence.contents, proto::TracePacket::kProcessTree, &ContentAmount::content);
  });
  const bool wants_tree =
      Contains(examiner.config.sources, "linux.process_stats", &ConfiguredSource::name);
  examiner.Add(
      "sequence.lost",
      Say("{} ({}) had written into the buffers, and {} no packet in the trace{}.",
          Number("sequences", ids.size(), "sequence"), FirstOf(ids), Has(ids.size()),
          wants_tree && !has_tree ? "; there is no process tree, so that processes have no names"
                                  : ""),
      {.cause = fmt::format("All that {} wrote was overwritten or lost before it was read.",
                            ids.size() == 1 ? "the sequence" : "these sequences"),
       .proof = "trace_provenance or writer_stats list them.",
       .weight = UINT64_MAX / 2 + ids.size()});
}

/// Names that trace processor ignores, of writers that never set their state up.
void ExamineIgnoredNames(Examiner& examiner) {
  if (!examiner.facts.IsOfTool()) return;
  uint64_t nameless = 0;
  std::vector<std::string> names;
  for (const TraceSequence& sequence : examiner.facts.sequences) {
    if (sequence.nameless == 0 || sequence.clears > 0) continue;
    nameless += sequence.nameless;
    if (names.size() < 3) names.push_back(SequenceName(examiner, sequence));
  }
  if (nameless == 0) return;
  examiner.Add("state.never_cleared",
               Say("{} {} no name: their sequence never sets SEQ_INCREMENTAL_STATE_CLEARED, so "
                   "that trace processor ignores its interned names.",
                   Number("nameless", nameless, "event"), Has(nameless)),
               {.where = Joined(names),
                .proof = "name_iid of the events, and sequence_flags of all packets.",
                .weight = nameless});
}

/// Orders findings: first that the file is cut off; then those that a replay proves before those of
/// the trace's counters.
auto Badness(const Finding& finding) {
  const std::string_view id = finding.rule->id;
  const bool is_cut = (id == "trace.cut_off" || id == "trace.file_full" || id == "trace.corrupt") &&
                      finding.harm > Harm::kInfo;
  return std::tuple(is_cut, finding.harm, id.starts_with("log."), finding.weight);
}

Problems Conclude(Examiner& examiner) {
  std::ranges::stable_sort(examiner.findings, std::ranges::greater(), Badness);
  return static_cast<Problems&&>(examiner);
}

/// Counters of trace processor that no other finding is about.
void ExamineErrors(Examiner& examiner) {
  // Beginnings of names, and the rule that explains the counter if it found something; empty: the
  // service's own counters have rules of their own.
  constexpr std::pair<std::string_view, std::string_view> kExplained[] = {
      {"clock_sync_failure_", ""},
      {"sorter_push_event_out_of_order", ""},
      {"ftrace_cpu_", ""},
      {"ftrace_kprobe_", ""},
      {"config_write_into_file_", ""},
      {"traced_", ""},
      {"long_trace_mode", ""},
      {"perf_samples_skipped", "perf.no_callstack"},
      {"perf_", "perf.lost"},
      {"heapprofd_", "heap.profile"},
      {"heap_graph_", "heap.dump"}};
  for (const bool is_harmless : {false, true}) {
    uint64_t sum = 0;
    Sentence counts;
    for (const StatRow& row : examiner.counters) {
      const bool is_explained = std::ranges::any_of(kExplained, [&](const auto& known) {
        return row.name.starts_with(known.first) &&
               (known.second.empty() || examiner.HasFound(known.second));
      });
      const bool is_of_order = row.name == "trace_sorter_negative_timestamp_dropped";
      const uint64_t value = row.value - (is_of_order ? examiner.facts.before_boot : 0);
      if (value == 0 || is_explained || row.loses_nothing != is_harmless) continue;
      sum += value;
      counts += Say("{}{} {}{}{}", counts.empty() ? "" : ", ", row.name, Number(row.name, value),
                    *row.meaning == '\0' ? "" : fmt::format(" ({})", row.meaning),
                    row.machine == 0 ? "" : fmt::format(" (machine {})", row.machine));
    }
    if (sum > 0)
      examiner.Add(
          "packet.errors",
          Say("Trace processor counts {}{}: {}.",
              Number(is_harmless ? "harmless" : "errors", sum, "error"),
              is_harmless ? " by which nothing is missing" : "", counts),
          {.harm = InfoIf(is_harmless),
           .remedy = is_harmless                 ? "None is needed."
                     : examiner.facts.IsOfTool() ? "Mend the tool that wrote these packets."
                                                 : "",
           .weight = sum});
  }
}

void ExamineSequences(Examiner& examiner) {
  const TraceFacts& facts = examiner.facts;
  ExamineState(examiner);
  ExamineSilent(examiner);
  ExamineIgnoredNames(examiner);
  if (facts.sequences_left_out > 0)
    examiner.Unknown(Say("{} beyond the first {} sequences were not looked at.",
                         Number("packets_left_out", facts.sequences_left_out, "packet"),
                         Number("sequences_examined", facts.sequences.size())));
}

}  // namespace

Problems FindProblems(const TraceFacts& facts, const ReplayFacts* replay) {
  Examiner examiner(facts, replay);
  if (replay != nullptr) examiner.findings = replay->findings;
  for (const auto examine :
       {ExamineSources, ExamineFile, ExamineBuffers, ExamineSequences, ExamineService,
        ExamineFtrace, ExamineProfilers, ExamineClocks, ExamineConfig})
    examine(examiner);
  // Nothing is concluded from what the cut took away.
  if (facts.is_cut_off)
    std::erase_if(examiner.findings, [](const Finding& finding) {
      const std::string_view id = finding.rule->id;
      return id == "sequence.lost" || id == "source.silent" || id == "trace.no_stats" ||
             id == "trace.empty";
    });
  examiner.counters = StatRowsOf(facts);
  std::erase_if(examiner.counters, [](const StatRow& row) {
    return row.severity == StatSeverity::kInfo || row.value == 0;
  });
  ExamineErrors(examiner);
  return Conclude(examiner);
}

Problems FindProblemsOfConfig(Bytes config) {
  TraceFacts facts;
  facts.config = std::string(wire::AsText(config));
  Examiner examiner(facts);
  ExamineConfig(examiner);
  std::vector<std::string> names;
  for (const ConfiguredSource& source : examiner.config.sources)
    if (FindKnownSource(source.name) == nullptr)
      names.push_back(fmt::format("'{}'", Printable(source.name)));
  if (!names.empty())
    examiner.Unknown(
        fmt::format("Whether a producer registers {}: ringscope does not know the {}. A log "
                    "shows what is registered: 'doctor --config CONFIG LOG'.",
                    Joined(names), names.size() == 1 ? "name" : "names"));
  return Conclude(examiner);
}

}  // namespace ringscope
