// What the sequences' own packets show: which of them cannot be used, and which are lost.

#include <fmt/format.h>

#include <algorithm>

#include "core/base/text.h"
#include "core/doctor/examiner.h"

namespace ringscope {
namespace {

/// Adds what makes producers repeat the state that a ring has lost: a period, or, where the ring is
/// too small for that, the larger ring that the findings on it propose.
void AddRepetition(Examiner& examiner, Finding& finding) {
  const std::optional<uint64_t> reach_ns = ShortestReachNs(examiner);
  if (!reach_ns || ClearPeriodFor(*reach_ns) > 0) {
    if (auto change = RepeatedState(examiner)) finding.changes.push_back(*std::move(change));
    return;
  }
  finding.remedy = fmt::format(
      "A larger buffer: the present one holds only the last {}, too little even if the state is "
      "repeated.",
      HumanDuration(*reach_ns));
  for (const Finding& other : examiner.findings()) {
    const std::string_view rule = other.rule->id;
    if (rule == "buffer.overwritten" || rule == "buffer.short_reach")
      finding.changes.insert(finding.changes.end(), other.changes.begin(), other.changes.end());
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
                  WithCommas(skipped), Count(needing, "packet"), ShareText(skipped, needing)));
  finding.harm = HarmOfUnusable(skipped, facts.all.packets);
  finding.weight = skipped;
  finding.where = fmt::format("most in {}: {} of {}", SequenceName(examiner, *worst),
                              WithCommas(worst->skipped), WithCommas(worst->needing));
  if (span) finding.where += ", " + SpanText(examiner, *span);
  if (dropped > 0)
    finding.where += fmt::format("; {} without any usable packet", Count(dropped, "sequence"));
  finding.cause =
      never_cleared > 0
          ? fmt::format(
                "In {} no packet in the trace sets the state up: it was overwritten, or "
                "never written.",
                Count(never_cleared, "sequence"))
          : "Packets before them are lost, and the state was not repeated soon after.";
  finding.proof =
      "Packets with SEQ_NEEDS_INCREMENTAL_STATE before the first that clears the state, or after a "
      "loss.";
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
  Finding& finding =
      examiner.Add("sequence.lost",
                   fmt::format("{} had written into the buffers, and {} no packet in the trace.",
                               Count(silent, "sequence"), silent == 1 ? "has" : "have"));
  finding.cause = fmt::format("All that {} wrote was overwritten or lost before it was read.",
                              silent == 1 ? "it" : "they");
  finding.proof = "trace_provenance lists them.";
  finding.weight = silent;
}

void ExamineMachine(Examiner& examiner, const MachineFacts& facts) {
  const uint64_t without = facts.clears_without_sequence + facts.drops_without_sequence +
                           facts.defaults_without_sequence + facts.interned_without_sequence;
  if (without > 0) {
    Finding& finding =
        examiner.Add("packet.no_sequence",
                     fmt::format("{} of a sequence's state {} in packets without a sequence id.",
                                 Count(without, "field"), without == 1 ? "is" : "are"));
    finding.weight = without;
    finding.cause = "The trace was not written by the service, or was changed since.";
  }
  const uint64_t tracks = facts.track_events_without_sequence + facts.threads_without_sequence;
  if (tracks > 0) {
    Finding& finding = examiner.Add(
        "packet.no_sequence",
        fmt::format("{} of track events or threads without a sequence id: {} not used.",
                    Count(tracks, "packet"), tracks == 1 ? "it is" : "they are"));
    finding.weight = tracks;
    finding.proof = "track_event and thread_descriptor packets without trusted_packet_sequence_id.";
  }
}

}  // namespace

void ExamineSequences(Examiner& examiner) {
  const TraceFacts& facts = examiner.facts;
  ExamineState(examiner);
  ExamineSilent(examiner);
  examiner.OnEachMachine([&](const MachineFacts& machine) { ExamineMachine(examiner, machine); });
  if (facts.sequences_left_out > 0)
    examiner.Unknown(fmt::format("{} beyond the first {} sequences were not looked at.",
                                 Count(facts.sequences_left_out, "packet"),
                                 WithCommas(facts.sequences.size())));
}

}  // namespace ringscope
