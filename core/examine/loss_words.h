#ifndef RINGSCOPE_CORE_EXAMINE_LOSS_WORDS_H_
#define RINGSCOPE_CORE_EXAMINE_LOSS_WORDS_H_

#include "core/gaps/gap_report.h"
#include "core/log/verdict.h"
#include "core/session/replay_outcome.h"

namespace ringscope {

/// "producer 3 'app'"; without a name: "producer 3".
std::string ProducerText(ProducerId producer, const std::string& name);
/// "1.837 s", as the notes show times; "?" if not known.
std::string TimeText(const SessionNotes& notes, const std::optional<uint64_t>& time_ns);
/// "0.707 s to 1.543 s", or one time.
std::string SpanText(const SessionNotes& notes, const std::optional<uint64_t>& from,
                     const std::optional<uint64_t>& to, const char* between = " to ");
/// "0.707 s to 1.543 s"; where times are not known: "record 3 to record 5".
std::string SpanText(const SessionNotes& notes, const MomentSpan& span);

/// "record 12 (1.837 s)"
std::string MomentText(const SessionNotes& notes, const LogMoment& moment);

/// "producer 2 'beta' (1 time)": those that did not acknowledge flushes.
std::vector<std::string> MissedFlushes(const ReplayOutcome& outcome, const SessionNotes& notes);
/// "writer dropped"
std::string FateText(Fate fate);
/// "overwritten before they were read"; of one packet: "... before it was read".
std::string CauseText(const CauseCount& cause);
/// "12 overwritten before they were read": of each cause, the most frequent first; of one alone
/// without the number.
std::vector<std::string> CauseTexts(const std::vector<CauseCount>& causes);

// In what a recording is not exact, in words.

using Verdicts = std::vector<RecordingVerdict>;

/// "This recording is exact.", "This recording is exact but for the order of requests."
/// @param is_empty nothing was committed
std::string VerdictSentence(const Verdicts& verdicts, bool is_empty);
/// Why a recording may differ from what the service did, each reason once; empty: it is not marked
/// as inexact.
std::string InexactText(const Verdicts& verdicts);
/// Each of them, with its details: "- session 1: the instant of 2 clones is an estimate: ...".
std::string VerdictLines(const Verdicts& verdicts, size_t indent);
/// "5 packets (5.4 KiB) that were overwritten are in states of programs (ProtoVM), ...": what
/// programs saved of a session, and what they could not; empty: no program was asked.
/// @param folded packets of that fate
std::string FoldedText(const ReplayOutcome& outcome, const PacketCount& folded);

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_EXAMINE_LOSS_WORDS_H_
