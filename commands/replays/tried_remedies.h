#ifndef RINGSCOPE_COMMANDS_REPLAYS_TRIED_REMEDIES_H_
#define RINGSCOPE_COMMANDS_REPLAYS_TRIED_REMEDIES_H_

#include <string>
#include <vector>

#include "commands/replays/replay_run.h"
#include "commands/view/json_fields.h"
#include "core/remedies/try_remedies.h"

namespace ringscope {

/// Replays the session of a finished run again, with each remedy; see TryRemedies in core/remedies.
/// @param run of inputs that can be read again
Status TryRemedies(const ReplayRun& run, const ReplayOutcome& outcome, RemediesTried which,
                   std::optional<uint64_t> keep_ns, std::vector<Remedy>& remedies);

/// What was found, a sentence for each remedy: "With 6.39 MiB (size_kb: 6548), buffer 1 keeps
/// everything, as a replay shows (--size 1=6548k)."
std::vector<std::string> RemedyTexts(const std::vector<Remedy>& remedies,
                                     const SessionNotes& notes);
/// "keeps everything, as a replay shows"
std::string TriedText(const Remedy& remedy);
void ListFields(JsonFieldWriter& io, const Remedy& remedy);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_REPLAYS_TRIED_REMEDIES_H_
