#ifndef RINGSCOPE_COMMANDS_SESSION_REPLAY_RUN_H_
#define RINGSCOPE_COMMANDS_SESSION_REPLAY_RUN_H_

#include "commands/session/session_reader.h"
#include "commands/view/report.h"
#include "core/ledger/ledger.h"
#include "core/log/configured_ops.h"
#include "core/reads/ready_times.h"
#include "core/session/replay.h"
#include "core/sweep/sweep.h"

namespace ringscope {

/// The choices about a replay, of all commands that replay.
struct ReplayChoices : ReplayOptions {
  std::string config;  // that the session is to have had, as text; empty: its own
};

/// Returns true if buffers get another engine, size or policy by options.
inline bool ChoosesBuffers(const ReplayChoices& choices) {
  const BufferChoice& all = choices.session.all;
  return all.engine || all.size || all.policy || !choices.session.buffers.empty();
}
/// Returns true if any of the options of a replay is given, but for the config.
inline bool ChoosesAnything(const ReplayChoices& choices) {
  return ChoosesBuffers(choices) || choices.reads.mode != ReadsMode::kAuto ||
         !choices.session.run_programs;
}

/// Names of the replay options, for a command that has them more than once.
struct ReplayOptionNames {
  std::string engine = "--engine";
  std::string prefix = "--";         // of all others
  std::string group = kReplayGroup;  // their heading
  bool config = true;                // with --config, which is of the log, not of a side
};

/// The description of --config in all commands that replay.
inline constexpr const char* kConfigToReplay =
    "Replay as if the session had had this trace config (.pbtxt): its buffers, what targets them, "
    "and its periods of writing into a file; also for a log without its buffers, as it was "
    "recorded without the consumer";
/// Adds --engine, --size, --policy, --reads, --protovm, --config.
void AddReplayOptions(CLI::App& app, ReplayChoices& choices, const ReplayOptionNames& names = {});
/// The buffers of a session, as options name them: "buffers[0] (id 1), buffers[1] (id 2)".
std::string BuffersText(const ReplayOutcome& outcome);
/// A session's records under the user's choices.
struct ReplayInput {
  const ReplayChoices& choices;
  ReadsChoice reads = choices.reads;          // of the choices, or as the config has them
  SessionConfig config = {};                  // that the session is to have had
  std::string config_text = {};               // the same as the user wrote it
  bool is_reconfigured = false;               // that differs from what the log has
  std::vector<std::string> not_applied = {};  // settings of `config`: what producers did is logged
  std::optional<FoundReads> found = {};       // if --reads like= asks for them
  std::optional<CloneFacts> clone = {};       // that is replayed, with the buffers of the config
  /// Absent: they do not matter, as nothing changes the buffers or no read has a limit.
  std::shared_ptr<RecordedReads> recorded_reads = {};

  /// Finds them for the session that `sessions` is at.
  Status Find(Context& context, const SessionReader& sessions);
  /// The buffers are others than recorded: finds out whether that matters to reads.
  Status ChangeBuffers(const SessionReader& sessions);
  /// The records of that session with the changes.
  /// @param session an OpSource that outlives this, or one to own
  template <typename Session>
  std::unique_ptr<OpSource> Records(Session&& session) const {
    if (found)
      return std::make_unique<ConfiguredOps>(
          std::make_unique<InsertedReads>(std::forward<Session>(session), found->reads), config);
    if (!recorded_reads)
      return std::make_unique<ConfiguredOps>(std::forward<Session>(session), config);
    return std::make_unique<ConfiguredOps>(
        std::make_unique<NotedReads>(recorded_reads, std::forward<Session>(session)), config);
  }
};

/// Runs tasks on the caller's thread and on others: as many as the context allows; without a limit,
/// on all cores. Where the system starts fewer threads than wanted, there are fewer.
TaskRunner TasksOnCores(const Context& context);

/// A session that can be read again, for sweeps of it on all cores, without facts of its records.
/// @param session is at its end; like `changes` it outlives the result
/// @param activity for the progress line: "sweeping"
Result<SweepInput> SweepInputOf(Context& context, const SessionReader& session,
                                const ReplayInput& changes, const char* activity);

/// A replay of one session for a command: what follows it is added first, then it runs to its end.
///
///   ReplayRun run(context, sessions, args.choices);
///   auto& analysis = run.Add<GapAnalysis>();
///   RS_ASSIGN_OR_RETURN(const ReplayOutcome outcome, run.ToEnd());
///   const GapReport report = analysis.Finish(run.totals());
class ReplayRun : private ReplayListener {
 public:
  /// Replays the session that `sessions` is at. Both references must outlive this.
  ReplayRun(Context& context, SessionReader& sessions, const ReplayChoices& choices)
      : context_(context), sessions_(sessions), choices_(choices) {}
  ReplayRun(const ReplayRun&) = delete;
  ReplayRun& operator=(const ReplayRun&) = delete;

  /// Makes a listener of the replay, or a sink of the ledger's entries, which this owns. They are
  /// called in the order in which they were added.
  template <typename T, typename... Arguments>
  T& Add(Arguments&&... arguments) {
    const auto added = std::make_shared<T>(std::forward<Arguments>(arguments)...);
    owned_.push_back(added);
    if constexpr (std::is_base_of_v<LedgerSink, T>) AddSink(*added);
    if constexpr (std::is_base_of_v<ReplayListener, T>) AddListener(*added);
    return *added;
  }
  /// Adds a listener that the caller owns, until the end of the run.
  void AddListener(ReplayListener& listener) { listeners_.push_back(&listener); }
  void AddSink(LedgerSink& sink) {
    sinks_.push_back(&sink);
    KeepAccounts();
  }
  /// Has a ledger, called before the listeners. A warning is printed if its fates do not add up.
  void KeepAccounts() { keeps_accounts_ = true; }

  /// Replays all records of the session. Once.
  Result<ReplayOutcome> ToEnd();

  /// Packets by fate, by buffer. Empty without a ledger.
  const std::map<BufferId, LedgerTotals>& totals() const { return totals_; }
  Context& context() const { return context_; }
  /// The changes of the session that is replayed.
  const ReplayInput& input() const { return input_; }

 private:
  void OnWarning(const std::string& text) override;
  void WarnOf(const ReplayOutcome& outcome);

  Context& context_;
  SessionReader& sessions_;
  const ReplayChoices choices_;
  ReplayInput input_{choices_};
  std::string path_;
  std::vector<std::shared_ptr<void>> owned_;
  std::vector<ReplayListener*> listeners_;
  std::vector<LedgerSink*> sinks_;
  bool keeps_accounts_ = false;
  std::map<BufferId, LedgerTotals> totals_;
};

/// Tells a replay whether the session that the reader is at has reads; empty if its records can be
/// read only once.
HasReads HasReadsIn(const SessionReader& sessions);

/// Finds the reads with which the session's replay equals a trace that the service wrote into a
/// file. kUsage: the log is standard input, or the trace is of another session.
/// @param sessions is at it
Result<FoundReads> FindSessionReads(Context& context, const SessionReader& sessions,
                                    const std::string& trace);

void ListFields(JsonFieldWriter& io, const ReadsUsed& used);

/// Reports the reads that were found, as the object "found_reads" and as text.
/// @param first_record number in its file of the session's first record
void ReportFoundReads(Report& report, const FoundReads& found, uint64_t first_record);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_SESSION_REPLAY_RUN_H_
