#ifndef RINGSCOPE_COMMANDS_COMPARE_DIFF_H_
#define RINGSCOPE_COMMANDS_COMPARE_DIFF_H_

#include "commands/session/replay_run.h"
#include "core/compare/log_differ.h"
#include "core/compare/minimize.h"
#include "formats/ops/perfetto_case.h"

namespace ringscope {

/// The inputs of a comparison, and the parts of its result that are shown.
struct DiffArgs {
  SessionSelection input;     // logs, logs and their trace, or two traces
  Both<ReplayChoices> sides;  // the config of a log that lacks it is in side A's, for both
  size_t limit = 20;          // packets listed of each kind
  bool all = false;           // as text, list packets and counters, too
  bool quality = false;       // compare what was examined
  bool force = false;
  std::string minimize;
  Format format = Format::kText;
};

/// The comparison of one session.
struct SessionDiff {
  std::string path;
  uint64_t session = 0;  // number in the input, from 1
  bool is_only_session = false;
  std::optional<CloneFacts> clone;  // that both sides show; absent: the session itself
  LogDiff result = {};
  std::vector<StoredOp> ops = {};  // for --minimize
};

/// The options of both sides, without callbacks.
/// @param clone that both sides show; absent: the session itself
DiffOptions ToDiffOptions(const DiffArgs& args, const std::optional<CloneFacts>& clone);

/// Writes the fewest and smallest operations that show the same first difference to args.minimize.
/// Without a difference nothing is written.
/// @param diffs the result of the comparison: one session
Status MinimizeLog(const DiffArgs& args, std::vector<SessionDiff> diffs, Context& context);

/// The command that shows in one line what the operations do in the sides' buffers; empty: the
/// notation cannot say them, or what it says does not show the difference.
std::string ExampleLine(const PerfettoCase& test, const ShowsDifference& shows);
/// Writes the test beside a log, with side A as what is expected, or else side B.
/// @return a sentence: which file, or why there is none
Result<std::string> WriteCase(PerfettoCase test, const std::string& log, bool force,
                              Context& context);

/// Compares the quality of two traces, logs or configs: answer, losses, reach, holes and findings.
Result<ExitCode> DiffQuality(const DiffArgs& args, Context& context);

/// Compares two traces.
Result<ExitCode> DiffTraces(const DiffArgs& args, Context& context);

/// Compares the replay of logs, with the choices for side A, with the last input: the trace that
/// came out of the recorded session.
Result<ExitCode> DiffLogWithTrace(const DiffArgs& args, Context& context);

// The parts of reports.

/// Begins the document of a comparison, in one line for JSONL.
Report BeginReport(const DiffArgs& args, Console& console);
inline constexpr const char* kAllLists = "--all lists the packets and counters that differ.";

/// The record in words, in one line: "commit of 1:6#0 to buffer 2: 10 fragments, 4,080 bytes".
std::string OperationText(const Op& op);

/// The comparisons of all sessions: the first divergence, the packets that differ, the counters
/// side by side.
Status ReportDiffs(const DiffArgs& args, const std::vector<SessionDiff>& diffs, Console& console);

// Parts that the comparison of traces has, too.

/// The first things that differ in one way, below "Only in A: 30 packets, of which the first 20
/// (--limit)".
void PrintList(Report& report, DifferenceKind kind, const Table& table, uint64_t count,
               size_t listed, const char* noun);
/// The counters of a buffer; for people those that differ, if they are to see all.
void ReportCounters(Report& report, const BufferDiff& buffer, bool all,
                    std::optional<uint64_t> first_time_ns);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_COMPARE_DIFF_H_
