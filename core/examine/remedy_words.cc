#include "core/examine/remedy_words.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/text.h"
#include "core/examine/loss_words.h"

namespace ringscope {
namespace {

/// "keeps everything, as a replay shows"
std::string TriedText(const Remedy& remedy) {
  const std::optional<TriedOutcome>& outcome = remedy.outcome;
  if (!outcome) return fmt::format("should keep everything (an estimate: {})", remedy.formula);
  if (remedy.is_for_reach())
    return fmt::format("keeps the last {}, as a replay shows", HumanDuration(*remedy.reach_ns));
  if (outcome->lost > 0)
    return fmt::format("still loses {}, as a replay shows", Count(outcome->lost, "packet"));
  if (outcome->waiting > 0)
    return fmt::format("loses nothing, as a replay shows; {} {} unfinished to the end",
                       Count(outcome->waiting, "packet"), Is(outcome->waiting));
  return "keeps everything, as a replay shows";
}

/// Names what would have saved the packets of a gap, beside a change that the list has; may be
/// empty.
std::string OtherRemedyOf(const Gap& gap) {
  const GapRemedies& remedies = gap.remedies;
  if (remedies.no_size_helps)
    return "no buffer size or read period helps, as the patch is not in the log: find out why its "
           "writer did not send it";
  if (gap.Has(Cause::kAborted)) return RowOf(gap.abort.value_or(AbortFacts()).reason).remedy;
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
  for (const Remedy& remedy : list.remedies) {
    const ProducerId producer = remedy.producer.value_or(ProducerId{});
    texts.push_back(fmt::format(
        fmt::runtime(RowOf(remedy.kind).text), fmt::arg("size", HumanSize(remedy.size)),
        fmt::arg("kb", remedy.size / 1024),
        fmt::arg("buffer", fmt::format("buffers[{}]", remedy.index)),
        fmt::arg("sources", Joined(remedy.sources)),
        fmt::arg("s", remedy.sources.size() == 1 ? "s" : ""),
        fmt::arg("producer", ProducerText(producer, notes.ProducerOf({producer, WriterId{1}}))),
        fmt::arg("tried", TriedText(remedy)), fmt::arg("ms", remedy.period_ns / 1'000'000),
        fmt::arg("formula", remedy.formula), fmt::arg("places", Count(remedy.concerned, "place")),
        fmt::arg("concerned", Count(remedy.concerned, "packet"))));
  }
  return texts;
}

const Remedy* SizeThatKeeps(const Gap& gap, const RemedyList& list) {
  const Fate fate = gap.causes.empty() ? Fate::kUnexplained : gap.causes.front().fate;
  if (fate != Fate::kOverwritten && fate != Fate::kDiscarded) return nullptr;
  const Remedy* const size = FindSizeRemedy(list.remedies, gap.buffer);
  const bool keeps = size != nullptr && !gap.remedies.no_size_helps && size->outcome &&
                     size->outcome->full == 0 && !size->keep_ns;
  return keeps ? size : nullptr;
}

std::string RemedyOf(const Gap& gap, const RemedyList& list) {
  if (const Remedy* const size = SizeThatKeeps(gap, list))
    return fmt::format("buffers[{}].size_kb: {}", size->index, size->size / 1024);
  const bool has_flush = std::ranges::any_of(
      list.remedies, [](const Remedy& remedy) { return remedy.kind == RemedyKind::kFlush; });
  return gap.remedies.flush && has_flush ? "flush_period_ms" : OtherRemedyOf(gap);
}

}  // namespace ringscope
