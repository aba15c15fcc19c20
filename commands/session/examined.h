#ifndef RINGSCOPE_COMMANDS_SESSION_EXAMINED_H_
#define RINGSCOPE_COMMANDS_SESSION_EXAMINED_H_

#include "commands/session/replay_run.h"
#include "core/examine/examination.h"
#include "core/gaps/gap_analysis.h"
#include "formats/trace/perfetto_trace.h"
#include "formats/trace/trace_file_scan.h"

namespace ringscope {

using Examinations = std::vector<Examination>;

/// One session of a log while it is examined: what else follows its replay is added first.
///
///   ExaminedSession session(context, sessions, args.choices);
///   session.run().AddSink(other);
///   RS_ASSIGN_OR_RETURN(const Examination examination, session.Examine());
class ExaminedSession {
 public:
  /// Examines the session that `sessions` is at. All references must outlive this.
  /// @param kinds of the packets, for the gaps; may be nullptr
  ExaminedSession(Context& context, SessionReader& sessions, const ReplayChoices& choices,
                  PacketKinds* kinds = nullptr);

  ReplayRun& run() { return run_; }
  const SessionNotes& notes() const { return notes_; }
  /// Replays the session to its end, tries remedies for its losses by further replays, and examines
  /// what all of this shows. Once.
  /// @param keep_ns how far back each sequence is to reach; absent: nothing is to be overwritten
  Result<Examination> Examine(std::optional<uint64_t> keep_ns = {});

 private:
  Status FindPatchesAfterClone(GapReport& report);
  Result<std::string> Config(const ReplayOutcome& outcome) const;
  Result<RemedyList> TriedRemedies(const LogEvidence& log, std::optional<uint64_t> keep_ns);

  SessionReader& sessions_;
  TraceScanSink scan_;  // of the trace that the replay makes
  ReplayRun run_;
  SessionNotes& notes_ = run_.Add<SessionNotes>();
  GapAnalysis& analysis_;
  SessionAccounts& accounts_ = run_.Add<SessionAccounts>();
  ReplayedPackets& packets_ = run_.Add<ReplayedPackets>(&analysis_.times());
  NeededNames& names_ = run_.Add<NeededNames>();
  TraceWriter& writer_ = run_.Add<TraceWriter>(scan_, sessions_.clone_number());
  std::string config_;  // as text; empty: no remedy could be tried
};

/// The examinations of a log's sessions: the answer of each has how it was replayed, what of the
/// log is missing, and the command that reports more.
class LogExaminations {
 public:
  /// @param sessions outlives this, and is at the session that is added
  explicit LogExaminations(const SessionReader& sessions) : sessions_(sessions) {}
  void Add(Examination examination);
  /// Returns all of them. Call it after the last session. An error: the log has none.
  Result<Examinations> Finish();

 private:
  void AddProblems();

  const SessionReader& sessions_;
  Examinations all_;
  size_t problems_ = 0;  // that have been added to a session
};

/// Examines all traces of an input: a Perfetto trace, each trace of a zip archive, the replay of
/// each session of a log, or a trace config. Members of an archive that cannot be read are results,
/// too.
/// @param path "-": standard input
/// @param choices of a log's replay @param session only this one
/// @param passed_over gets the members of an archive that are no traces
Result<Examinations> ExamineInput(Context& context, const std::string& path,
                                  const ReplayChoices& choices, std::optional<uint64_t> session,
                                  std::vector<std::string>& passed_over);
/// Examinations of the inputs of a command line.
struct ExaminedInputs {
  Examinations examinations;
  bool are_many = false;  // of several inputs or a folder
  /// Files of folders without the name of a trace or a log, and members of archives.
  std::vector<std::string> passed_over;

  /// Returns true if the text groups them by their findings: it shows 8 sessions one by one.
  bool are_grouped() const { return are_many || examinations.size() > 8; }
};
/// Examines all inputs, folders too: several of them on all cores, each on one thread; a log and
/// the trace that came out of it together. One that fails does not stop the others.
/// @param keeps_evidence also of several inputs
Result<ExaminedInputs> ExamineInputs(Context& context, const std::vector<std::string>& inputs,
                                     const ReplayChoices& choices, std::optional<uint64_t> session,
                                     bool keeps_evidence = false);
/// "3 files are neither traces nor logs and were passed over: a.txt, b.json, c.txt"
std::string PassedOverText(std::vector<std::string> names);
/// Examines a trace config alone.
Examination ExamineConfigFile(const std::string& path, const ConfigFile& config);

void ListFields(JsonFieldWriter& io, const TriedOutcome& outcome);
void ListFields(JsonFieldWriter& io, const Remedy& remedy);
void ListFields(JsonFieldWriter& io, const Hole& hole);

/// The name of a session of an input: "a.tblog: session 2".
std::string NameOf(const Examination& examination);
/// Returns the owner of a hole: a sequence with its title, a buffer, a CPU or a data source.
std::string OwnerOf(const Examination& examination, const Hole& hole);
/// Lists the times of a trace in which something is missing, the first ones.
void PrintHoles(Report& report, const Examination& trace, size_t most);
/// Limits that a run checks, as for continuous integration. A run ends with kNotice where a session
/// breaks one. With limits of amounts and without `fail_on`, only these count.
struct Gate {
  std::optional<Harm> fail_on;                 // absent and without limits: kWarning
  std::optional<double> max_lost, min_usable;  // shares, from 0 to 1
  std::optional<uint64_t> min_reach_ns;

  /// Returns true if any was given.
  bool is_set() const { return fail_on || max_lost || min_usable || min_reach_ns; }
  /// Returns what breaks the limits, each as a phrase: "96.2% lost, more than 1% (--max-lost)".
  std::vector<std::string> Broken(const Examination& examination) const;
};

/// --fail-on and the limits, below "Limits".
void AddGate(CLI::App& app, Gate& gate);

/// Prints the limits that each session breaks (Examination::broken_limits).
void PrintBrokenLimits(Report& report, std::span<const Examination> examinations);

/// Returns how a run over these inputs ends: kFailed if none could be read, kNotice if one breaks
/// the gate or could not be read.
ExitCode CodeOf(std::span<const Examination> examinations, const Gate& gate = {});

/// Reports examinations in the format of a command line, each by itself or many in groups, and what
/// breaks the gate. For programs: one document (json), an object for each on a line of its own
/// (jsonl), or a row for each finding (csv).
/// @param brief as text, the answers alone
/// @param all as text, each finding in full, what was checked, and the config with the changes; of
/// many, each that has findings
Result<ExitCode> ReportExaminations(Context& context, Format format, ExaminedInputs& inputs,
                                    const Gate& gate, bool brief, bool all);
/// Examines traces for a command that is about logs, and reports what they prove.
Result<ExitCode> ReportTraces(Context& context, const SessionSelection& input, Format format);
/// Binds a command about the sessions of logs: `run` gets them opened. If the command needs no more
/// than what traces have, an input with traces is examined in its place, as doctor does; options
/// that only a replay has are an error then.
/// @param Args has `input`, the first of its arguments; of a command that takes traces also
/// `format`, and is_about_replays(): such an option is given
/// @param run_traces what to do with traces instead
template <typename Args>
std::function<Runner(CLI::App&)> BindSessions(const Needs& needs, void (*set_up)(CLI::App&, Args&),
                                              Result<ExitCode> (*run)(const Args&, SessionReader&,
                                                                      Context&),
                                              Result<ExitCode> (*run_traces)(const Args&,
                                                                             Context&) = nullptr) {
  return [=](CLI::App& app) -> Runner {
    auto args = std::make_shared<Args>();
    AddLogs(app, args->input.paths, needs.traces, needs.logs == Needs::Logs::kOne ? 1 : 0);
    AddSession(app, args->input.only);
    AddClone(app, args->input.clone);
    set_up(app, *args);
    return [=](Context& context) -> Result<ExitCode> {
      SessionReader sessions(context, args->input, needs.activity);
      if constexpr (requires { args->is_about_replays(); }) {
        if (sessions.recording().HasTraces()) {
          RS_RETURN_IF_ERROR(sessions.recording().Spool());
          if (args->is_about_replays() || args->input.clone)
            return Fail(
                ErrorCode::kUsage, "a trace has no commits, and so no replay that can be changed",
                {args->input.paths.front(), {}, {}}, "leave these options out, or name a log");
          return run_traces(*args, context);
        }
      }
      return run(*args, sessions, context);
    };
  };
}

/// Examinations with the same findings, which are the rules of warnings and worse.
using ExaminationGroup =
    std::pair<std::pair<Harm, std::set<std::string>>, std::vector<const Examination*>>;
/// Groups examinations by their findings: the worst and largest groups first.
std::vector<ExaminationGroup> GroupsOf(const Examinations& examinations);
/// Names what was found in a group: "packets were overwritten, clocks go backwards".
std::string TitlesText(const ExaminationGroup& group, const char* between = ", ");
/// Returns how many there are of what they are: "12 traces", "3 configs", "2 sessions" of one
/// file, "4 files" of several kinds.
std::string CountText(const Examinations& examinations);
/// Returns the document of all for programs, several with their groups.
Json DoctorDocument(const Examinations& examinations);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_SESSION_EXAMINED_H_
