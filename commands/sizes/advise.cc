#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "commands/replays/input_notes.h"
#include "commands/replays/log_answer.h"
#include "commands/replays/session_loop.h"
#include "commands/replays/tried_remedies.h"
#include "commands/shell/commands.h"
#include "commands/shell/config_file.h"
#include "commands/shell/input.h"
#include "commands/shell/options.h"
#include "commands/shell/text.h"
#include "commands/shell/values.h"
#include "commands/sizes/trace_advice.h"
#include "core/gaps/gap_analysis.h"
#include "core/log/verdict.h"
#include "core/perfetto/page.h"
#include "formats/descriptors/changed_config.h"

namespace ringscope {
namespace {

struct AdviseArgs {
  SessionSelection input;           // or a Perfetto trace
  std::optional<uint64_t> keep_ns;  // absent: nothing is to be overwritten
  std::string config;               // to be changed, as text; empty: none
  std::string descriptor;           // of fields in it
  std::string format = "text";

  const std::string& log() const { return input.paths.front(); }
};

void SetUp(CLI::App& app, AdviseArgs& args) {
  AddInput(app, args.input, Logs::kOne);
  InGroup(app, "Goal");
  AddParsed(app, "--keep", args.keep_ns, ParsePositiveDuration, "TIME",
            "How far back each sequence should reach, like 30s (default: the whole log)");
  InGroup(app, kOutputGroup);
  AddConfig(app, args.config, args.descriptor,
            "The session's trace config as text (.pbtxt): all of it is printed, with the changes "
            "marked. It also has the buffers of a log that was recorded without its consumer");
  AddFormat(app, args.format, {"text", "json"});
}

/// The buffers of a session: their indexes in the config, and sizes in bytes.
using SizesByIndex = std::vector<std::pair<uint32_t, uint64_t>>;

/// The config must be that of the session.
Status CheckConfig(const AdviseArgs& args, const ConfigFile& config,
                   const SizesByIndex& of_session) {
  constexpr const char* kHint = "name the config that the session was started with";
  const auto buffers = ReadTraceConfigFacts(wire::AsBytes(config.bytes)).buffers;
  if (buffers.size() != of_session.size())
    return Fail(ErrorCode::kUsage,
                fmt::format("this trace config has {}, and the session {}",
                            Count(buffers.size(), "buffer"), of_session.size()),
                {args.config, {}, {}}, kHint);
  for (const auto& [index, had] : of_session) {
    if (index >= buffers.size()) continue;  // a log can state any index
    const uint64_t size = buffers[index].size_kb * 1024;
    if (PagesUp(size) == PagesUp(had)) continue;
    return Fail(ErrorCode::kUsage,
                fmt::format("buffers[{}] has {} in this trace config, and had {} in the session",
                            index, HumanSize(size), HumanSize(had)),
                {args.config, {}, {}}, kHint);
  }
  return {};
}

template <typename Buffer>
SizesByIndex SizesOf(const std::vector<Buffer>& buffers) {
  SizesByIndex sizes;
  for (const Buffer& buffer : buffers) sizes.emplace_back(buffer.index, buffer.size);
  return sizes;
}

Table BufferTable(const ReplayOutcome& outcome, const std::map<BufferId, LedgerTotals>& totals,
                  const std::vector<Remedy>& remedies) {
  Table table({{"buffer", Align::kLeft, "buffer"},
               {"policy", Align::kLeft, "policy"},
               {"size now", Align::kRight, "size_now"},
               {"then", Align::kRight, "size_then"},
               {"packets", Align::kRight, "packets"},
               {"lost now", Align::kRight, "lost_now"},
               {"then", Align::kRight, "lost_then"}});
  for (const BufferOutcome& buffer : outcome.buffers) {
    const auto of = totals.find(buffer.id);
    const LedgerTotals total = of == totals.end() ? LedgerTotals{} : of->second;
    const Remedy* const remedy = FindSizeRemedy(remedies, buffer.id);
    const uint64_t lost = total.lost().packets;
    table.AddRow({NameCell(fmt::format("buffers[{}]", buffer.index)), NameCell(Name(buffer.policy)),
                  BytesCell(buffer.size), BytesCell(remedy != nullptr ? remedy->size : buffer.size),
                  CountCell(total.written.packets), CountCell(lost),
                  CountCell(remedy != nullptr && remedy->outcome ? remedy->outcome->lost : lost)});
  }
  return table;
}

/// Advice on the session that `sessions` is at.
Result<ExitCode> AdviseOnSession(const AdviseArgs& args, SessionReader& sessions, Report& out,
                                 Context& context) {
  ReplayChoices choices;
  choices.config = args.config;
  choices.descriptor = args.descriptor;
  ReplayRun run(context, sessions, choices);
  SessionNotes& notes = run.Add<SessionNotes>();
  GapAnalysis& analysis = run.Add<GapAnalysis>(kUsualStaleNs);
  RS_ASSIGN_OR_RETURN(const ReplayOutcome outcome, run.ToEnd());
  if (const RecordingVerdict* before = LossesBefore(outcome.verdicts))
    return Fail(
        ErrorCode::kUnsupported,
        fmt::format("the log is made of a trace that lacks what was lost ({}), so no replay "
                    "can try sizes",
                    Printable(before->detail)),
        {args.log(), {}, {}}, "ask 'ringscope advise' of the trace, or record a log");
  const GapReport report = analysis.Finish(run.totals());
  RS_ASSIGN_OR_RETURN(const SessionRemedies remedies,
                      RemediesOf(run, outcome, report, notes, args.keep_ns));
  ReportReplayTitle(out, outcome);
  out.Data({{"input", outcome.path},
            {"session", outcome.session},
            {"duration_ns", outcome.duration_ns()},
            {"keep_ns", args.keep_ns},
            {"to_do", !remedies.changes.empty()},
            {"lost_now", remedies.lost_now},
            {"together", FieldsToJson(remedies.together)},
            {"remedies", FieldsToJson(remedies.remedies)}});
  out.Add("buffers", BufferTable(outcome, run.totals(), remedies.remedies));
  if (remedies.changes.empty()) {
    out.Print("\nNothing to do.\n");
    return ExitCode::kClean;
  }
  out.Heading("What would help, the most effective first");
  for (const std::string& text : RemedyTexts(remedies, notes)) out.Print(Wrap(text, "  - ") + "\n");
  out.Data("config", remedies.config);
  out.Heading("Trace config");
  if (remedies.together)
    out.Paragraph(
        fmt::format("A replay with this config loses {}, not {}. A fifth more of each "
                    "size is a reserve for sessions that write more.",
                    Count(remedies.together->lost, "packet"), WithCommas(remedies.lost_now)));
  PrintConfig(out, remedies.config);
  return ExitCode::kNotice;
}

/// Estimates from the statistics of a trace, session by session.
Result<ExitCode> AdviseOnTraceFile(const AdviseArgs& args, std::unique_ptr<ByteSource> trace,
                                   Report& out, Context& context) {
  if (args.input.clone)
    return Fail(ErrorCode::kUsage, "a trace has no clones", {args.log(), {}, {}},
                "leave --clone out");
  ConfigFile config;
  if (!args.config.empty()) {
    RS_ASSIGN_OR_RETURN(config, ReadConfigFile(context, args.config, args.descriptor));
  }
  RS_ASSIGN_OR_RETURN(ScannedTrace scanned, ScanTrace(context, std::move(trace)));
  if (args.input.only && *args.input.only > scanned.sessions.size())
    return tl::unexpected(NoSession(*args.input.only, scanned.sessions.size(), args.log()));
  ExitCode code = ExitCode::kClean;
  for (TraceFacts& facts : scanned.sessions) {
    if (args.input.only && facts.session != *args.input.only) continue;
    TraceAdvice advice = AdviseOnTrace(args.log(), std::move(facts), args.keep_ns);
    if (!args.config.empty()) {
      RS_RETURN_IF_ERROR(CheckConfig(args, config, SizesOf(advice.sizes.buffers)));
      advice.config = config.text;
    }
    if (advice.AnyToDo() || advice.facts.error_count > 0 || advice.facts.is_cut_off)
      code = ExitCode::kNotice;
    out.AddItem("sessions", [&] { ReportTraceAdvice(out, advice); });
  }
  return code;
}

Result<ExitCode> RunAdvise(const AdviseArgs& args, Context& context) {
  if (args.config == "-" && args.input.IsReadOnce())
    return Fail(ErrorCode::kUsage, "the log and --config cannot both be standard input", {},
                "name a file for one of them");
  std::unique_ptr<SpooledInput> spooled;
  if (args.input.IsReadOnce()) {
    RS_ASSIGN_OR_RETURN(spooled, SpooledInput::Read(context));
  }
  Report out(context.console, args.format, "advise");
  RS_ASSIGN_OR_RETURN(KnownInput known, OpenKnownInput(context, args.log()));
  ExitCode code = ExitCode::kClean;
  if (known.kind == InputKind::kTrace) {
    out.Data("sessions", Json::array());
    RS_ASSIGN_OR_RETURN(code, AdviseOnTraceFile(args, std::move(known.source), out, context));
  } else {
    SessionReader sessions(context, args.input, "replaying");
    RS_ASSIGN_OR_RETURN(code, ReportSessions(sessions, out, [&] {
                          return AdviseOnSession(args, sessions, out, context);
                        }));
  }
  RS_RETURN_IF_ERROR(out.Finish());
  return code;
}

}  // namespace

Command AdviseCommand() {
  return {
      "advise",
      "Explain",
      "List changes of the config that would have kept what was lost",
      "Lists what would have helped, the most effective first: other buffer sizes, a buffer of its "
      "own for a sequence that overwrites others, a shorter period of writing into a file, another "
      "fill policy, flushes, cleared state, more shared memory. What a replay can try was tried, "
      "and the rest is called an estimate. Ends with the trace config, changed so. Of a Perfetto "
      "trace it estimates all from the trace's statistics.",
      {{"ringscope advise session.tblog", "What should I change?"},
       {"ringscope advise --keep 30s session.tblog", "How do I keep 30 seconds?"},
       {"ringscope advise --config a.pbtxt a.tblog", "My config, changed as advised"},
       {"ringscope advise trace.pftrace", "Estimates from a trace alone"},
       {"ringscope advise --format json session.tblog", "The numbers, for a script"}},
      Bind(SetUp, RunAdvise),
      {.clean = "Done; there is nothing to change.",
       .notice = "Done, and a change is recommended; or the input was damaged and what could be "
                 "read was used."}};
}

}  // namespace ringscope
