// What the sequences' own packets show: which of them cannot be used, and whose names are missing.

#include <fmt/format.h>

#include <algorithm>

#include "core/base/text.h"
#include "core/doctor/examiner.h"
#include "core/perfetto/fields.h"

namespace ringscope {
namespace {

using proto::TracePacket;

bool Has(const TraceFacts& facts, uint32_t content) { return facts.contents.contains(content); }

/// What makes producers repeat what a ring has lost: a period, or, where today's ring is too small
/// for that, the larger ring that the findings on it propose.
/// @param what is repeated: "the state is"
void AddRepetition(Examiner& examiner, std::string_view what, Finding& finding) {
  const std::optional<uint64_t> reach_ns = ShortestReachNs(examiner);
  if (!reach_ns || ClearPeriodFor(*reach_ns) > 0) {
    if (auto change = RepeatedState(examiner)) finding.changes.push_back(*std::move(change));
    return;
  }
  finding.remedy = fmt::format(
      "A larger buffer: the present one holds only the last {}, too little even if {} repeated.",
      HumanDuration(*reach_ns), what);
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
  AddRepetition(examiner, "the state is", finding);
}

void ExamineNames(Examiner& examiner) {
  const TraceFacts& facts = examiner.facts;
  if (Has(facts, TracePacket::kFtraceEvents) && !Has(facts, TracePacket::kProcessTree)) {
    Finding& finding = examiner.Add(
        "names.processes", "There are ftrace events, and no packet with the names of processes.");
    const bool is_configured = std::ranges::any_of(
        examiner.config.sources,
        [](const ConfiguredSource& source) { return source.name == "linux.process_stats"; });
    if (examiner.has_config())
      finding.cause = is_configured
                          ? "linux.process_stats is configured: what it wrote was lost, or "
                            "it did not start."
                          : "linux.process_stats is not in the config.";
    finding.proof = "No process_tree packet.";
  }
  if (Has(facts, TracePacket::kTrackEvent) && !Has(facts, TracePacket::kTrackDescriptor) &&
      !Has(facts, 43) && !Has(facts, 44)) {
    const uint64_t events = facts.contents.at(TracePacket::kTrackEvent).packets;
    Finding& finding = examiner.Add(
        "names.tracks",
        fmt::format("{}, but no track_descriptor.", Count(events, "track event packet")));
    finding.weight = events;
    finding.proof = "No track_descriptor packet.";
    // Where no ring wrapped, the descriptors were never written.
    if (examiner.has_config() && ShortestReachNs(examiner))
      AddRepetition(examiner, "the descriptors are", finding);
  }
}

void ExamineMachine(Examiner& examiner, const MachineFacts& facts) {
  if (facts.reported.Sum(Reported::kPackagesParse) + facts.reported.Sum(Reported::kPackagesRead) >
      0)
    examiner.Add("names.packages", "The list of packages was not read or parsed to its end.")
        .proof = "parse_error or read_error of packages_list.";
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
  const uint64_t tracks = facts.reported.Sum(Reported::kTrackEventWithoutSequence) +
                          facts.reported.Sum(Reported::kThreadWithoutSequence);
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
  ExamineNames(examiner);
  examiner.OnEachMachine([&](const MachineFacts& machine) { ExamineMachine(examiner, machine); });
  if (facts.sequences_left_out > 0)
    examiner.Unknown(fmt::format("{} beyond the first {} sequences were not looked at.",
                                 Count(facts.sequences_left_out, "packet"),
                                 WithCommas(facts.sequences.size())));
}

}  // namespace ringscope
