#ifndef RINGSCOPE_COMMANDS_COMMON_REPLAY_RUN_H_
#define RINGSCOPE_COMMANDS_COMMON_REPLAY_RUN_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "commands/common/session_reader.h"
#include "commands/shell/cli_fwd.h"
#include "commands/shell/options.h"
#include "commands/shell/values.h"
#include "core/ledger/ledger.h"
#include "core/log/retarget.h"
#include "core/session/replay.h"
#include "core/session/replay_outcome.h"
#include "formats/ops/events_jsonl.h"
#include "formats/trace/perfetto_trace.h"

namespace ringscope {

/// What a user chooses about a replay; the options of all commands that replay.
struct ReplayChoices {
  Session::Options session;
  ReadsChoice reads;
  std::optional<uint64_t> pass_bytes;
  std::vector<SplitRule> splits;  // what is moved to other buffers
};

/// Names of the replay options, for a command that has them more than once.
struct ReplayOptionNames {
  std::string engine = "--engine";
  std::string prefix = "--";         // of --size, --policy, --reads and --pass-bytes
  std::string group = kReplayGroup;  // their heading
};

/// Adds --engine, --size, --policy, --reads and --pass-bytes.
void AddReplayOptions(CLI::App& app, ReplayChoices& choices, const ReplayOptionNames& names = {});
/// Adds --split.
void AddSplitOption(CLI::App& app, std::vector<SplitRule>& splits);
/// Warns of rules that moved nothing.
void WarnOfUnusedSplits(Console& console, const std::string& path,
                        const std::vector<SplitRule>& unused);
/// The same choices as a replay takes them.
ReplayOptions ToReplayOptions(const ReplayChoices& choices);

/// What else receives a replay. Not owned; nullptr: nothing.
struct ReplayOutputs {
  TraceWriter* trace = nullptr;
  EventsWriter* events = nullptr;
  LedgerSink* accounts = nullptr;                      // keeps a ledger, whose entries go there
  std::map<BufferId, LedgerTotals>* totals = nullptr;  // of that ledger, by buffer
  std::vector<ReplayListener*> listeners;
  bool histograms = false;  // fill ReplayOutcome::writers: memory for each sequence
};

/// Replays the session that `sessions` is at, to its end.
Result<ReplayOutcome> ReplaySession(Context& context, SessionReader& sessions,
                                    const ReplayChoices& choices, const ReplayOutputs& outputs);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_COMMON_REPLAY_RUN_H_
