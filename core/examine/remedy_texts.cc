#include <cctype>

#include "core/examine/loss_words.h"
#include "core/examine/remedies.h"

namespace ringscope {
namespace {

/// "keeps everything, as a replay shows"
std::string TriedText(const Remedy& remedy) {
  if (!remedy.outcome)
    return fmt::format(
        "should keep {} (an estimate: {})",
        remedy.keep_ns() ? "the last " + HumanDuration(*remedy.keep_ns()) : "everything",
        remedy.formula);
  if (remedy.is_for_reach())
    return fmt::format("keeps the last {}, as a replay shows", HumanDuration(*remedy.reach_ns));
  return OutcomeText(*remedy.outcome, remedy.now).text + ", as a replay shows";
}

std::string TextOf(const Remedy& remedy, const SessionNotes& notes) {
  const std::string buffer = fmt::format("buffers[{}]", remedy.index);
  const std::string size = HumanSize(remedy.size), tried = TriedText(remedy);
  const uint64_t kb = remedy.size / 1024, ms = remedy.period_ns / 1'000'000;
  return std::visit(
      Overloaded{
          [&](const SizeRemedy& own) {
            return fmt::format("{}.size_kb: {} ({}) {}{}.", buffer, kb, size, tried,
                               !remedy.outcome || own.least_size >= remedy.size
                                   ? ""
                                   : fmt::format("; {} KiB are just enough for this session",
                                                 own.least_size / 1024));
          },
          [&](const SplitRemedy& own) {
            const std::string& path = remedy.changes.front().path;
            return fmt::format(
                "{} of {} for {} alone, which fill{} {}: the session {}{}.",
                path.substr(0, path.find('.')), size, Joined(own.sources),
                own.sources.size() == 1 ? "s" : "", buffer, tried,
                own.keeps_others ? "; what else is in " + buffer + " is all kept" : "");
          },
          [&](const PolicyRemedy&) {
            return fmt::format("{}.fill_policy: RING_BUFFER {}{}.", buffer, tried,
                               remedy.outcome && remedy.outcome->lost > 0
                                   ? "; it keeps the end of the session, not its start"
                                   : "");
          },
          [&](const ReadPeriodRemedy&) {
            return fmt::format(
                "file_write_period_ms: {}: written into a file so often, the session {}.", ms,
                tried);
          },
          [&](const FlushRemedy&) {
            return fmt::format(
                "flush_period_ms: {} (an estimate: {}) for {} that the writer still had.", ms,
                remedy.formula, Count(remedy.concerned, "packet"));
          },
          [&](const ClearStateRemedy&) {
            return fmt::format("incremental_state_config.clear_period_ms: {} (an estimate: {}).",
                               ms, remedy.formula);
          },
          [&](const SharedMemoryRemedy& own) {
            return fmt::format(
                "shm_size_kb: {} ({}) for {}, whose writers found no space at {} (an estimate: "
                "{}). Or {}.",
                kb, size, ProducerText(own.producer, notes.ProducerOf({own.producer, WriterId{1}})),
                Count(remedy.concerned, "place"), remedy.formula, own.otherwise);
          }},
      remedy.own);
}

/// Names what would have saved the packets of a gap, beside a change that the list has; may be
/// empty.
std::string OtherRemedyOf(const Gap& gap, bool has_size) {
  const GapRemedies& remedies = gap.remedies;
  const auto came_after_clone = [](const GapBlame& blame) {
    return blame.stall && blame.stall->cloned;
  };
  if (remedies.no_size_helps && !has_size && std::ranges::any_of(gap.blamed, came_after_clone))
    return "no buffer size helps, as the patch came after the clone";
  if (remedies.no_size_helps && !has_size)
    return "no buffer size or read period helps, as the patch is not in the log: find out why its "
           "writer did not send it";
  if (gap.Has(Cause::kAborted)) return RowOf(gap.abort.value_or(AbortFacts()).reason).otherwise;
  if (gap.Has(Cause::kIdsReused))
    return "no change of the config helps: the producer gave a writer an id again that the buffer "
           "still knew";
  if (gap.Has(Cause::kNeverCommitted))
    return "no buffer size or flush helps: the writer finished the chunk, as it went on after it, "
           "and the commit of the chunk is missing";
  if (!remedies.buffer_size && !remedies.flush && gap.Has(Cause::kAlreadyConsumed))
    return "no buffer size, read period or flush helps: the producer has to commit the chunks of a "
           "writer in the order of their ids";
  return "";
}

}  // namespace

std::vector<std::string> RemedyTexts(const RemedyList& list, const SessionNotes& notes) {
  std::vector<std::string> texts;
  for (const Remedy& remedy : list.remedies)
    texts.push_back((remedy.is_alternative ? "Or: " : "") + TextOf(remedy, notes));
  return texts;
}

Sentence OutcomeText(const TriedOutcome& outcome, const TriedOutcome& now) {
  if (outcome.lost == 0 && outcome.waiting == 0) return "keeps everything";
  if (outcome.loses_nothing(now)) return "loses nothing";
  Sentence text = Say("keeps {} of {}", Number("in_trace_with_change", outcome.in_trace),
                      Number("written", outcome.written, "packet"));
  if (outcome.lost > 0) text += Say(" and loses {}", Number("lost_with_change", outcome.lost));
  if (outcome.waiting > now.waiting)
    text += Say("; {} remain{} unread", Number("waiting_with_change", outcome.waiting),
                outcome.waiting == 1 ? "s" : "");
  return text;
}

const Remedy* SizeThatKeeps(const Gap& gap, const RemedyList& list) {
  const Fate fate = gap.causes.empty() ? Fate::kUnexplained : gap.causes.front().fate;
  if (fate != Fate::kOverwritten && fate != Fate::kDiscarded) return nullptr;
  const Remedy* const size = FindSizeRemedy(list.remedies, gap.buffer);
  const bool keeps = size != nullptr && !gap.remedies.no_size_helps && size->outcome &&
                     size->outcome->loses_nothing(size->now) && !size->keep_ns();
  return keeps ? size : nullptr;
}

std::string RemedyOf(const Gap& gap, const RemedyList& list) {
  const Remedy* const size = FindSizeRemedy(list.remedies, gap.buffer);
  const bool keeps_some = size != nullptr && size->outcome && gap.remedies.buffer_size;
  if (SizeThatKeeps(gap, list) != nullptr)
    return fmt::format("buffers[{}].size_kb: {}", size->index, size->size / 1024);
  for (const Remedy& remedy : list.remedies) {
    if (remedy.As<FlushRemedy>() && gap.remedies.flush) return "flush_period_ms";
    const auto* const memory = remedy.As<SharedMemoryRemedy>();
    if (memory != nullptr && memory->producer == gap.sequence.producer && gap.Has(Cause::kAborted))
      return fmt::format("shm_size_kb: {} (an estimate); or {}", remedy.size / 1024,
                         OtherRemedyOf(gap, false));
  }
  if (keeps_some && !size->keep_ns())
    return fmt::format("buffers[{}].size_kb: {} {}", size->index, size->size / 1024,
                       OutcomeText(*size->outcome, size->now).text);
  return OtherRemedyOf(gap, keeps_some);
}

std::vector<std::string> OtherTexts(const GapReport& report, const RemedyList& list) {
  std::vector<std::string> texts;
  for (const Remedy& remedy : list.refused) {
    const TriedOutcome& outcome = *remedy.outcome;
    texts.push_back(fmt::format(
        "No size of buffers[{}] helps: with {} KiB {} of {} {} in the trace, {}, as a replay "
        "shows{}.",
        remedy.index, remedy.size / 1024, WithCommas(outcome.in_trace),
        Count(outcome.written, "packet"), Is(outcome.in_trace),
        outcome.in_trace == remedy.now.in_trace ? "as now"
                                                : "not " + WithCommas(remedy.now.in_trace),
        outcome.waiting == 0
            ? ""
            : fmt::format("; {} remain{} unread to the end", Count(outcome.waiting, "packet"),
                          outcome.waiting == 1 ? "s" : "")));
  }
  for (const BufferGaps& buffer : report.buffers)
    for (const SequenceGaps& sequence : buffer.sequences)
      for (const Gap& gap : sequence.gaps) {
        std::string text = RemedyOf(gap, list);
        if (text.empty() || text != OtherRemedyOf(gap, false) || gap.Has(Cause::kAborted)) continue;
        text.front() = static_cast<char>(std::toupper(text.front()));
        text += '.';
        if (!Contains(texts, text)) texts.push_back(std::move(text));
      }
  return texts;
}

}  // namespace ringscope
