#ifndef RINGSCOPE_COMMANDS_SESSION_TRIED_REMEDIES_H_
#define RINGSCOPE_COMMANDS_SESSION_TRIED_REMEDIES_H_

#include <string>
#include <vector>

#include "commands/session/replay_run.h"
#include "commands/view/json_fields.h"
#include "core/examine/remedies.h"

namespace ringscope {

/// The remedies for what a session lost, and the trace config that they change.
struct SessionRemedies : RemedyList {
  std::string config;  // as text; empty: there was nothing to try
};

/// Finds what would have kept what the session of a finished run lost, and tries it by replays. Of
/// standard input, which can be read only once, nothing.
/// @param keep_ns how far back each sequence is to reach; absent: nothing is to be overwritten
Result<SessionRemedies> RemediesOf(const ReplayRun& run, const ReplayOutcome& outcome,
                                   const GapReport& gaps, const SessionNotes& notes,
                                   std::optional<uint64_t> keep_ns = {});

void ListFields(JsonFieldWriter& io, const TriedOutcome& outcome);
void ListFields(JsonFieldWriter& io, const Remedy& remedy);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_SESSION_TRIED_REMEDIES_H_
