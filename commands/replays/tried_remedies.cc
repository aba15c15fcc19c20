#include "commands/replays/tried_remedies.h"

#include <fmt/format.h>

#include <array>

#include "commands/replays/loss_words.h"
#include "commands/replays/muted_context.h"
#include "commands/replays/session_reads.h"
#include "commands/shell/text.h"

namespace ringscope {

void ListFields(JsonFieldWriter& io, const TriedOutcome& outcome) {
  io("lost", outcome.lost, "waiting", outcome.waiting);
}

void ListFields(JsonFieldWriter& io, const Remedy& remedy) {
  io("kind", remedy.kind, "buffer", remedy.buffer, "sequence", remedy.sequence, "producer",
     remedy.producer, "size", remedy.size, "period_ns", remedy.period_ns, "concerned_packets",
     remedy.concerned, "more_memory", remedy.memory, "lost_now", remedy.lost_now, "replayed",
     remedy.outcome, "estimate", remedy.formula, "changes", remedy.changes);
}

namespace {

/// Texts by RemedyKind, with what the remedy has in braces.
constexpr std::array kRemedyTexts = {
    "With {size_kb}, buffer {buffer} {tried} (--size {buffer}={kb}k).",
    "With sequence {sequence} in a buffer of its own of {size}, buffer {buffer} and it {tried}.",
    "With fill_policy: RING_BUFFER, buffer {buffer} {tried} (--policy {buffer}=ring_buffer): it "
    "keeps the end of the session, not its start.",
    "Written into a file every {period}, the session {tried} (--reads streamed={ms}ms, "
    "file_write_period_ms: {ms}).",
    "flush_period_ms: {ms} (an estimate: {formula}) for {concerned} not committed in time.",
    "incremental_state_config.clear_period_ms: {ms} (an estimate: {formula}) for {concerned} that "
    "lack incremental state.",
    "{size_kb} of shared memory for producer {producer} (an estimate: {formula}): {concerned} were "
    "aborted.",
};
static_assert(kRemedyTexts.size() == kEnumNames<RemedyKind>.size());
constexpr const char* kPolicyEstimate =
    "fill_policy: RING_BUFFER for buffer {buffer}, which discards and is written into a file: "
    "{formula}.";

}  // namespace

Status TryRemedies(const ReplayRun& run, const ReplayOutcome& outcome, RemediesTried which,
                   std::optional<uint64_t> keep_ns, std::vector<Remedy>& remedies) {
  if (remedies.empty()) return {};
  MutedContext muted(run.context(), MutedContext::Progress::kShown);
  SweepInput input =
      SweepInputOf(muted.context(), run.session(), run.input(), "trying remedies in");
  for (const BufferOutcome& buffer : outcome.buffers) {
    input.facts.buffers[buffer.id].size = buffer.size;
    input.facts.has_programs |= !buffer.vms.empty();
  }
  OwnReplay own{.options = run.input().choices, .totals = run.totals()};
  own.options.moves_sequences = !run.input().choices.splits.empty();
  return TryRemedies(input, own, which, keep_ns, remedies);
}

std::string TriedText(const Remedy& remedy) {
  const std::optional<TriedOutcome>& outcome = remedy.outcome;
  if (!outcome) return "should keep everything; not verified";
  if (outcome->lost > 0)
    return fmt::format("still loses {}, as a replay shows", Count(outcome->lost, "packet"));
  if (outcome->waiting > 0)
    return fmt::format("loses nothing, as a replay shows, but {} wait{} in it to the end",
                       Count(outcome->waiting, "packet"), outcome->waiting == 1 ? "s" : "");
  return "keeps everything, as a replay shows";
}

std::vector<std::string> RemedyTexts(const std::vector<Remedy>& remedies,
                                     const SessionNotes& notes) {
  std::vector<std::string> texts;
  for (const Remedy& remedy : remedies) {
    const bool is_policy_estimate = remedy.kind == RemedyKind::kPolicy && remedy.is_estimate();
    texts.push_back(fmt::format(
        fmt::runtime(is_policy_estimate ? kPolicyEstimate
                                        : kRemedyTexts[static_cast<size_t>(remedy.kind)]),
        fmt::arg("size_kb", SizeWithKb(remedy.size)), fmt::arg("size", HumanSize(remedy.size)),
        fmt::arg("kb", remedy.size / 1024),
        fmt::arg("buffer", remedy.buffer ? Raw(*remedy.buffer) : 0),
        fmt::arg("sequence", remedy.sequence ? notes.NameOf(*remedy.sequence) : ""),
        fmt::arg("producer", remedy.producer ? Raw(*remedy.producer) : 0),
        fmt::arg("tried", TriedText(remedy)), fmt::arg("period", PeriodInWords(remedy.period_ns)),
        fmt::arg("ms", remedy.period_ns / 1'000'000), fmt::arg("formula", remedy.formula),
        fmt::arg("concerned", Count(remedy.concerned, "packet"))));
  }
  return texts;
}

}  // namespace ringscope
