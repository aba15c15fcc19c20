#ifndef RINGSCOPE_COMMANDS_REPLAYS_READERS_H_
#define RINGSCOPE_COMMANDS_REPLAYS_READERS_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "commands/replays/replay_run.h"
#include "commands/view/report.h"

namespace ringscope {

// The readers of a session: its own consumer, and whoever holds a clone of it. What one of them
// lost, another may have.

/// What one reader has of a session.
struct ReaderOutcome {
  std::optional<uint64_t> clone;  // that it holds; absent: the session's own consumer
  LedgerTotals totals;            // of all its buffers
};

/// Whether the session has clones that can be replayed, beside the outcome of the session itself.
bool HasClones(const ReplayOutcome& session);

/// A reader of a session that was read before, as one of its clones has it.
/// @param paths of the logs, and `session` its outcome
SessionSelection SelectClone(const std::vector<std::string>& paths, const ReplayOutcome& session,
                             const CloneFacts& clone);

/// All readers of a session, each from a replay of its own: the session's consumer, then the
/// clones. Prints no warnings, as the session's replay printed them.
/// @param paths of the logs, none of which is standard input
/// @param session the outcome of the session's own replay, with the same choices
/// @param own its accounts, if it has a ledger
Result<std::vector<ReaderOutcome>> ReplayReaders(Context& context,
                                                 const std::vector<std::string>& paths,
                                                 const ReplayOutcome& session,
                                                 const ReplayChoices& choices,
                                                 const std::map<BufferId, LedgerTotals>* own);

/// Adds the readers of a session to its report, side by side; nothing if it has no clones, or is
/// the view of one. The parameters are those of ReplayReaders; if the log comes from standard
/// input, which can be read only once, the report says so instead.
Status ReportReaders(Report& report, Context& context, const std::vector<std::string>& paths,
                     const ReplayOutcome& session, const ReplayChoices& choices,
                     const std::map<BufferId, LedgerTotals>* own);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_REPLAYS_READERS_H_
