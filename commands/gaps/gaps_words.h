#ifndef RINGSCOPE_COMMANDS_GAPS_GAPS_WORDS_H_
#define RINGSCOPE_COMMANDS_GAPS_GAPS_WORDS_H_

#include <optional>
#include <string>
#include <vector>

#include "commands/gaps/shown_gaps.h"
#include "core/gaps/gap_report.h"
#include "core/session/session_notes.h"

namespace ringscope {

/// Each of these is a sentence, or a part of one, in plain words.

/// What happened to the packets of the gap: "12 overwritten before they were read; 1 ...".
std::string CausesText(const Gap& gap);
/// "53% track_event, 47% clock_snapshot"
std::string ContentsText(const Gap& gap, const PacketKinds& kinds);
/// Whose bytes evicted the packets, or filled the buffer before their commit; empty: none.
std::string CulpritsText(const Gap& gap, const SessionNotes& notes);
/// Whether the culprits filled the buffer, rather than evicted the packets.
bool IsFilled(const Gap& gap);
/// Which chunk, patch or read is to blame for the loss, and since when; empty: none.
std::string BlameText(const Gap& gap, const SessionNotes& notes);
/// Why V2 does not flag a gap of a sequence that had no chunk in the buffer for long.
std::string ForgottenText();
/// What the trace shows of the gap.
std::string SignText(const Gap& gap);
/// What would have saved the packets; empty: nothing that is known.
std::string RemediesText(const Gap& gap, const ShownGaps& selection);
/// The commands that show the chunks and records of the gap.
std::vector<std::string> ProofTexts(const Gap& gap);
/// The rule by which a packet is flagged.
std::string RuleText(FlagRule rule);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_GAPS_GAPS_WORDS_H_
