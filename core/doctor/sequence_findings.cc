// Packets of sequences that cannot be used, and sequences that are lost.

#include <fmt/format.h>

#include <optional>
#include <string>

#include "core/base/text.h"
#include "core/doctor/examiner.h"

namespace ringscope {
namespace {

/// Adds what makes producers repeat the state that a ring has lost: a period, or, where the ring is
/// too small for that, the larger ring that the findings on it propose.
void AddRepetition(const Examiner& examiner, Finding& finding) {
  const std::optional<uint64_t> reach_ns = ShortestReachNs(examiner);
  auto change = ClearPeriodChange(examiner, reach_ns,
                                  "producers repeat their state, so that a loss costs at most {}");
  if (change) {
    const uint64_t today = examiner.config.clear_period_ms.value_or(0);
    if (today == 0 || today > std::stoull(change->value))
      finding.changes.push_back(*std::move(change));
    return;
  }
  finding.remedy = fmt::format(
      "A larger buffer: the present one holds only the last {}, too little even if the state is "
      "repeated.",
      HumanDuration(*reach_ns));
  std::vector<ConfigChange> larger;
  for (const Finding& other : examiner.findings) {
    const std::string_view rule = other.rule->id;
    if (rule == "buffer.overwritten" || rule == "buffer.short_reach")
      larger.insert(larger.end(), other.changes.begin(), other.changes.end());
  }
  finding.changes.insert(finding.changes.end(), larger.begin(), larger.end());
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
    if (sequence.skipped_span) {
      AddTo(span, sequence.skipped_span->first_ns);
      AddTo(span, sequence.skipped_span->last_ns);
    }
    if (sequence.skipped > 0 && (worst == nullptr || sequence.skipped > worst->skipped))
      worst = &sequence;
  }
  if (needing == 0) return;
  if (skipped == 0)
    return examiner.Well(
        fmt::format("All {} that need incremental state have it.", Count(needing, "packet")));
  Finding& finding = examiner.Add(
      "state.unusable",
      fmt::format("{} of {} that need incremental state cannot be used ({}): their state is lost.",
                  WithCommas(skipped), Count(needing, "packet"), ShareText(skipped, needing)),
      {.harm = HarmOfUnusable(skipped, facts.all.packets),
       .where = fmt::format("most in {}: {} of {}", SequenceName(examiner, *worst),
                            WithCommas(worst->skipped), WithCommas(worst->needing)),
       .cause = never_cleared == 0
                    ? "Packets before them are lost, and the state was not repeated soon after."
                    : fmt::format("In {} no packet in the trace sets the state up: it was "
                                  "overwritten, or never written.",
                                  Count(never_cleared, "sequence")),
       .proof = "Packets with SEQ_NEEDS_INCREMENTAL_STATE before the first that clears the state, "
                "or after a loss.",
       .weight = skipped});
  if (span) finding.where += ", " + SpanText(examiner, *span);
  if (dropped > 0)
    finding.where += fmt::format("; {} without any usable packet", Count(dropped, "sequence"));
  if (!examiner.has_config()) return;
  if (examiner.config.clear_period_ms.value_or(0) == 0)
    finding.cause +=
        " The config has no incremental_state_config: nothing makes producers repeat it.";
  AddRepetition(examiner, finding);
}

/// Sequences that the service lists and that have no packet.
void ExamineSilent(Examiner& examiner) {
  uint64_t silent = 0;
  for (const TraceSequence& sequence : examiner.facts.sequences)
    silent += sequence.all.packets == 0 ? 1 : 0;
  if (silent == 0 || !examiner.has_config() || examiner.facts.data_packets == 0) return;
  examiner.Add(
      "sequence.lost",
      fmt::format("{} had written into the buffers, and {} no packet in the trace.",
                  Count(silent, "sequence"), silent == 1 ? "has" : "have"),
      {.cause = fmt::format("All that {} wrote was overwritten or lost before it was read.",
                            silent == 1 ? "it" : "they"),
       .proof = "trace_provenance lists them.",
       .weight = silent});
}

}  // namespace

void ExamineSequences(Examiner& examiner) {
  const TraceFacts& facts = examiner.facts;
  ExamineState(examiner);
  ExamineSilent(examiner);
  if (facts.sequences_left_out > 0)
    examiner.Unknown(fmt::format("{} beyond the first {} sequences were not looked at.",
                                 Count(facts.sequences_left_out, "packet"),
                                 WithCommas(facts.sequences.size())));
}

}  // namespace ringscope
