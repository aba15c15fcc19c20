#include "core/examine/remedy_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/base/text.h"
#include "core/examine/loss_words.h"

namespace ringscope {
namespace {

/// Texts by RemedyKind, with what the remedy has in braces.
constexpr std::array kRemedyTexts = {
    "{buffer}.size_kb: {kb} ({size}) {tried}.",
    "A buffer of its own of {size} for {sources}, which fill{s} {buffer}: the session {tried}.",
    "{buffer}.fill_policy: RING_BUFFER {tried}; it keeps the end of the session, not its start.",
    "file_write_period_ms: {ms}: written into a file so often, the session {tried}.",
    "flush_period_ms: {ms} (an estimate: {formula}) for {concerned} not committed in time.",
    "incremental_state_config.clear_period_ms: {ms} (an estimate: {formula}).",
    "shm_size_kb: {kb} ({size}) for {producer} (an estimate: {formula}; 128 KiB to 512 KiB are "
    "usual, 256 KiB the default), as its writers found no space at {places}.",
};
static_assert(kRemedyTexts.size() == kEnumNames<RemedyKind>.size());

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

}  // namespace

std::vector<std::string> RemedyTexts(const RemedyList& list, const SessionNotes& notes) {
  std::vector<std::string> texts;
  for (const Remedy& remedy : list.remedies) {
    const ProducerId producer = remedy.producer.value_or(ProducerId{});
    texts.push_back(fmt::format(
        fmt::runtime(kRemedyTexts[static_cast<size_t>(remedy.kind)]),
        fmt::arg("size", HumanSize(remedy.size)), fmt::arg("kb", remedy.size / 1024),
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

std::string RemedyOf(const Gap& gap, const RemedyList& list) {
  const Fate fate = gap.causes.empty() ? Fate::kUnexplained : gap.causes.front().fate;
  const Remedy* const size = FindSizeRemedy(list.remedies, gap.buffer);
  if ((fate == Fate::kOverwritten || fate == Fate::kDiscarded) && size != nullptr &&
      !gap.remedies.no_size_helps && size->outcome && size->outcome->full == 0 && !size->keep_ns)
    return fmt::format("buffers[{}].size_kb: {}", size->index, size->size / 1024);
  const bool has_flush = std::ranges::any_of(
      list.remedies, [](const Remedy& remedy) { return remedy.kind == RemedyKind::kFlush; });
  return gap.remedies.flush && has_flush ? "flush_period_ms" : RemediesText(gap);
}

}  // namespace ringscope
