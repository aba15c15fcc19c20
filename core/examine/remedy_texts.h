#ifndef RINGSCOPE_CORE_EXAMINE_REMEDY_TEXTS_H_
#define RINGSCOPE_CORE_EXAMINE_REMEDY_TEXTS_H_

#include <string>
#include <vector>

#include "core/base/sentence.h"
#include "core/examine/remedies.h"
#include "core/gaps/gap_report.h"
#include "core/session/session_notes.h"

namespace ringscope {

/// A sentence for each remedy: "buffers[0].size_kb: 6548 keeps everything, as a replay shows."
std::vector<std::string> RemedyTexts(const RemedyList& list, const SessionNotes& notes);
/// A sentence for each size that a replay shows to be of no use.
std::vector<std::string> RefusedTexts(const RemedyList& list);
/// Returns sentences on losses that no change of the config prevents, each once: "No change of the
/// config helps: the producer gave ...".
std::vector<std::string> OtherTexts(const GapReport& report, const RemedyList& list);
/// "keeps everything", "loses nothing", "keeps 12 of 14 packets; 2 packets remain unread": with a
/// remedy. @param now without it
Sentence OutcomeText(const TriedOutcome& outcome, const TriedOutcome& now);
/// Returns the size of the list that keeps all packets of a gap, by a replay, or nullptr.
const Remedy* SizeThatKeeps(const Gap& gap, const RemedyList& list);
/// Names the change of the list that keeps the packets of a gap, "buffers[0].size_kb: 6548", or
/// what helps that is no change of the config; empty: nothing is known.
std::string RemedyOf(const Gap& gap, const RemedyList& list);

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_EXAMINE_REMEDY_TEXTS_H_
