#include "commands/replays/tried_remedies.h"

#include <fmt/format.h>

#include "commands/plugin/plugin.h"
#include "commands/replays/loss_words.h"
#include "commands/replays/muted_context.h"
#include "commands/replays/parallel_tasks.h"
#include "commands/replays/session_reads.h"
#include "commands/shell/text.h"
#include "commands/view/json_fields.h"
#include "core/log/added_buffers.h"
#include "core/log/retarget.h"

namespace ringscope {
namespace {

/// The session, with what is chosen about its replay.
Result<SweepInput> InputOf(Context& context, SessionSelection selection,
                           const ReplayChoices& choices, const ReplayOutcome& outcome) {
  SweepInput input;
  SessionReader session(context, selection, "");
  RS_RETURN_IF_ERROR(session.NextSession());
  if (session.clone() != nullptr) selection.view = *session.clone();
  input.clone = CloneOf(session, choices.splits);
  RS_ASSIGN_OR_RETURN(const UnrecordedBuffers unrecorded, UnrecordedOf(context, choices));
  std::vector<FoundRead> reads;
  if (!choices.reads.like.empty()) {
    RS_ASSIGN_OR_RETURN(const FoundReads found,
                        FindSessionReads(context, session.SessionAlone(), choices.reads.like));
    reads = found.reads;
  }
  input.open = [&context, selection, &choices, unrecorded,
                reads]() -> Result<std::unique_ptr<OpSource>> {
    RS_ASSIGN_OR_RETURN(std::unique_ptr<OpSource> ops,
                        OpenSession(context, selection, "trying remedies in"));
    if (!reads.empty()) ops = std::make_unique<InsertedReads>(std::move(ops), reads);
    ops = std::make_unique<AddedBuffers>(std::move(ops), unrecorded);
    return std::make_unique<RetargetSource>(std::move(ops), choices.splits,
                                            ReleasesIn(choices.session));
  };
  input.find_engine = choices.session.find_engine;
  input.run_tasks = TasksOnCores(context);
  input.ahead = LookAheadIn(context, session.SessionAlone());
  for (const BufferOutcome& buffer : outcome.buffers) {
    input.buffers[buffer.id] = buffer.size;
    input.has_programs |= !buffer.vms.empty();
  }
  return input;
}

}  // namespace

template <typename Io>
void ListFields(Io& io, TriedOutcome& outcome) {
  io("lost", outcome.lost, "waiting", outcome.waiting);
}

template <typename Io>
void ListFields(Io& io, Remedy& remedy) {
  io("kind", remedy.kind, "buffer", remedy.buffer, "sequence", remedy.sequence, "producer",
     remedy.producer, "size", remedy.size, "period_ns", remedy.period_ns, "concerned_packets",
     remedy.concerned, "more_memory", remedy.memory, "lost_now", remedy.lost_now, "replayed",
     remedy.outcome, "estimate", remedy.formula, "changes", remedy.changes);
}

Status TryRemedies(Context& context, const SessionSelection& selection,
                   const ReplayChoices& choices, const ReplayOutcome& outcome,
                   const std::map<BufferId, LedgerTotals>& totals, RemediesTried which,
                   std::optional<uint64_t> keep_ns, std::vector<Remedy>& remedies) {
  if (remedies.empty()) return {};
  MutedContext muted(context, MutedContext::Progress::kShown);
  RS_ASSIGN_OR_RETURN(const SweepInput input,
                      InputOf(muted.context(), selection, choices, outcome));
  OwnReplay own{.options = choices, .totals = totals};
  own.options.moves_sequences = !choices.splits.empty();
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

namespace {

std::string RemedyText(const Remedy& remedy, const SessionNotes& notes) {
  const unsigned buffer = remedy.buffer ? Raw(*remedy.buffer) : 0;
  const uint64_t ms = remedy.period_ns / 1'000'000;
  switch (remedy.kind) {
    case RemedyKind::kSize:
      return fmt::format("With {}, buffer {} {} (--size {}={}k).", SizeWithKb(remedy.size), buffer,
                         TriedText(remedy), buffer, remedy.size / 1024);
    case RemedyKind::kSplit:
      return fmt::format("With sequence {} in a buffer of its own of {}, buffer {} and it {}.",
                         NameText(notes, *remedy.sequence), HumanSize(remedy.size), buffer,
                         TriedText(remedy));
    case RemedyKind::kPolicy:
      if (remedy.is_estimate())
        return fmt::format(
            "fill_policy: RING_BUFFER for buffer {}, which discards and is written "
            "into a file: {}.",
            buffer, remedy.formula);
      return fmt::format(
          "With fill_policy: RING_BUFFER, buffer {} {} (--policy {}=ring_buffer): it keeps the end "
          "of the session, not its start.",
          buffer, TriedText(remedy), buffer);
    case RemedyKind::kReadPeriod:
      return fmt::format(
          "Written into a file every {}, the session {} (--reads streamed={}ms, "
          "file_write_period_ms: {}).",
          PeriodInWords(remedy.period_ns), TriedText(remedy), ms, ms);
    case RemedyKind::kFlush:
      return fmt::format("flush_period_ms: {} (an estimate: {}) for {} not committed in time.", ms,
                         remedy.formula, Count(remedy.concerned, "packet"));
    case RemedyKind::kClearState:
      return fmt::format(
          "incremental_state_config.clear_period_ms: {} (an estimate: {}) for {} that lack "
          "incremental state.",
          ms, remedy.formula, Count(remedy.concerned, "packet"));
    case RemedyKind::kSharedMemory:
      return fmt::format("{} of shared memory for producer {} (an estimate: {}): {} were aborted.",
                         SizeWithKb(remedy.size), Raw(*remedy.producer), remedy.formula,
                         Count(remedy.concerned, "packet"));
  }
  return "";
}

}  // namespace

std::vector<std::string> RemedyTexts(const std::vector<Remedy>& remedies,
                                     const SessionNotes& notes) {
  std::vector<std::string> texts;
  for (const Remedy& remedy : remedies) texts.push_back(RemedyText(remedy, notes));
  return texts;
}

Json RemediesJson(const std::vector<Remedy>& remedies) { return FieldsToJson(remedies); }

}  // namespace ringscope
