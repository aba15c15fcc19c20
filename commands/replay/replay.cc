#include <fmt/format.h>

#include <optional>
#include <string>

#include "commands/replay/replay_report.h"
#include "commands/session/examined.h"
#include "commands/session/session_loop.h"
#include "commands/shell/commands.h"
#include "commands/shell/options.h"
#include "commands/shell/text.h"
#include "formats/ops/events_jsonl.h"
#include "formats/trace/perfetto_trace.h"

namespace ringscope {
namespace {

struct ReplayArgs {
  SessionSelection input;
  std::string output;  // .pftrace; empty: none
  std::string events;  // .events.jsonl, "-": standard output; empty: none
  bool force = false;
  ReplayChoices choices;
  Format format = Format::kText;
};

void SetUp(CLI::App& app, ReplayArgs& args) {
  AddReplayOptions(app, args.choices);
  InGroup(app, kOutputGroup);
  AddText(app, "-o,--output", args.output, kFileType,
          "Write the trace that the service would have written (.pftrace); - for standard output. "
          "Of a session with clones, --clone chooses one");
  AddText(app, "--events", args.events, kFileType,
          "Write the events of the replay (.events.jsonl); - for standard output, which "
          "then contains nothing else");
  AddForce(app, args.force);
  AddFormat(app, args.format, {Format::kText, Format::kJson});
}

/// Returns true if standard output is for the summary.
bool HasSummary(const ReplayArgs& args) { return args.output != "-" && args.events != "-"; }

/// The files that a replay of one session writes.
struct OutputFiles {
  std::unique_ptr<OutputFile> trace;
  std::unique_ptr<OutputFile> events;
};

Result<OutputFiles> CreateOutputs(const ReplayArgs& args, Context& context) {
  if (args.output == "-" && args.events == "-") {
    return Fail(ErrorCode::kUsage, "--output and --events cannot both go to standard output", {},
                "give one of them a file");
  }
  OutputFiles files;
  if (!args.output.empty()) {
    RS_ASSIGN_OR_RETURN(files.trace, CreateOutput(context, args.output, kTraceOutput, args.force));
  }
  if (!args.events.empty()) {
    RS_ASSIGN_OR_RETURN(files.events,
                        CreateOutput(context, args.events, kEventsOutput, args.force));
  }
  return files;
}

Status CommitOutput(const std::unique_ptr<OutputFile>& file, Context& context) {
  if (!file) return {};
  RS_RETURN_IF_ERROR(file->Commit());
  if (file->path() != "-") context.console.Say(fmt::format("wrote {}", file->path()));
  return {};
}

Result<ExitCode> RunReplay(const ReplayArgs& args, SessionReader& sessions, Context& context) {
  Report report(context.console, args.format, "replay");

  RS_ASSIGN_OR_RETURN(const OutputFiles files, CreateOutputs(args, context));
  const auto task = [&]() -> Result<ExitCode> {
    if (files.trace) RS_RETURN_IF_ERROR(ExpectPayload(sessions, "a trace"));
    ReplayChoices choices = args.choices;
    choices.plain_streams_as_recorded = files.events != nullptr;
    ReplayRun run(context, sessions, choices);
    TraceWriter* trace = nullptr;
    if (files.trace) {
      trace = &run.Add<TraceWriter>(*files.trace, args.input.clone);
      trace->AddTool();
    }
    EventsWriter* events = files.events ? &run.Add<EventsWriter>(*files.events) : nullptr;
    // Accounts take as long as the trace itself, and memory.
    if (HasSummary(args) && trace == nullptr) run.KeepAccounts();
    RS_ASSIGN_OR_RETURN(const ReplayOutcome outcome, run.ToEnd());
    if (trace != nullptr) RS_RETURN_IF_ERROR(trace->Finish());
    if (events != nullptr) RS_RETURN_IF_ERROR(events->Finish());
    const std::optional<FoundReads>& found = run.found();
    if (files.trace) RS_RETURN_IF_ERROR(ExpectOneTracingSession(sessions));
    if (files.trace && outcome.reads.mode == ReadsMode::kEnd && outcome.reads.assumed)
      context.console.Say(
          "the log has no read of this session, so one at its end is assumed: the trace has what "
          "that would have returned");
    if (files.trace) RS_RETURN_IF_ERROR(ExpectNoFurtherSession(sessions, "a trace"));
    if (files.events) RS_RETURN_IF_ERROR(ExpectNoFurtherSession(sessions, "a file of events"));
    const ExitCode code = found && found->unexplained ? ExitCode::kNotice : ExitCode::kClean;
    if (!HasSummary(args)) return code;
    ReportReplay(report, outcome, run.totals());
    if (run.totals().empty() && !outcome.buffers.empty())
      report.Print(
          "\nWhat was lost is not counted while a trace is written: see 'ringscope gaps'.\n");
    if (found) ReportFoundReads(report, *found, sessions.first_record());
    ReportClones(report, outcome);
    return code;
  };
  // Where an output takes standard output, warnings have to do.
  RS_ASSIGN_OR_RETURN(const ExitCode code, HasSummary(args) ? ReportSessions(sessions, report, task)
                                                            : ForEachSession(sessions, task));
  if (HasSummary(args)) RS_RETURN_IF_ERROR(report.Finish());
  RS_RETURN_IF_ERROR(CommitOutput(files.trace, context));
  RS_RETURN_IF_ERROR(CommitOutput(files.events, context));
  return code;
}

}  // namespace

Command ReplayCommand() {
  return {
      "replay",
      "Replay a log through a trace buffer, and write the trace",
      "Feeds what producers committed into a reimplementation of the trace buffer and reads it as "
      "the tracing service did, or as you choose. By default engine, sizes and policies are those "
      "of the log, so that the packets are those of the recorded session; change them to see what "
      "another buffer would have kept. A value for one buffer is written 'buffers[1]=VALUE', by "
      "its "
      "index in the trace config, or 2=VALUE, by its id in the log. The summary shows what each "
      "buffer wrote, returned and lost.",
      {{"ringscope replay session.tblog -o session.pftrace", "Get the session's trace"},
       {"ringscope replay session.tblog --size 16MiB", "What if all buffers had been that large?"},
       {"ringscope replay session.tblog --size 'buffers[1]=64k' --reads every=500ms",
        "Make one buffer smaller, and read twice a second"},
       {"ringscope replay session.tblog --events - | head", "See the events"}},
      BindSessions({}, SetUp, RunReplay)};
}

}  // namespace ringscope
