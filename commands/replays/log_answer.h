#ifndef RINGSCOPE_COMMANDS_REPLAYS_LOG_ANSWER_H_
#define RINGSCOPE_COMMANDS_REPLAYS_LOG_ANSWER_H_

#include "commands/replays/tried_remedies.h"
#include "core/doctor/finding.h"
#include "core/gaps/gap_report.h"
#include "core/session/replay_outcome.h"
#include "core/session/session_notes.h"

namespace ringscope {

/// What was lost of a session of a log, why, to whom, and what would have kept it: of the whole
/// session, whatever a filter selects.
/// @param remedies as far as they were tried
Answer AnswerOf(const GapReport& report, const ReplayOutcome& outcome, const SessionNotes& notes,
                const RemedyList& remedies);

/// All that the replay of a session tells doctor, with that answer.
ReplayFacts ReplayFactsOf(const GapReport& report, const ReplayOutcome& outcome,
                          const SessionNotes& notes, const RemedyList& remedies);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_REPLAYS_LOG_ANSWER_H_
