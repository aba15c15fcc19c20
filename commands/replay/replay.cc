#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "commands/replay/replay_report.h"
#include "commands/replays/replay_run.h"
#include "commands/replays/session_loop.h"
#include "commands/replays/session_reads.h"
#include "commands/shell/commands.h"
#include "commands/shell/config_file.h"
#include "commands/shell/options.h"
#include "commands/shell/output.h"
#include "commands/shell/text.h"
#include "formats/ops/events_jsonl.h"
#include "formats/trace/lost_trace.h"
#include "formats/trace/perfetto_trace.h"
#include "formats/trace/service_packets.h"

namespace ringscope {
namespace {

struct ReplayArgs {
  SessionSelection input;
  std::string output;                  // .pftrace; empty: none
  std::string events;                  // .events.jsonl, "-": standard output; empty: none
  std::string lost;                    // .pftrace of the packets that were lost; empty: none
  std::optional<uint64_t> lost_limit;  // bytes of that trace
  bool force = false;
  ReplayChoices choices;
  std::string format = "text";
};

void SetUp(CLI::App& app, ReplayArgs& args) {
  AddInput(app, args.input, Logs::kSeveral);
  AddReplayOptions(app, args.choices);
  AddSplitOption(app, args.choices.splits);
  InGroup(app, kOutputGroup);
  AddText(app, "-o,--output", args.output, kFileType,
          "Write the trace that the service would have written (.pftrace); - for standard output. "
          "Of a session with clones, --clone chooses one");
  AddText(app, "--lost", args.lost, kFileType,
          "Write the packets that the buffers lost, each with its fate, as a separate trace "
          "(.pftrace)");
  AddParsed(app, "--lost-limit", args.lost_limit, ParseSize, "SIZE",
            "Bytes of that trace, about: lost packets beyond are counted and left out (default: "
            "512MiB)");
  Require(app, "--lost-limit", "--lost");
  AddText(app, "--events", args.events, kFileType,
          "Write the events of the replay (.events.jsonl); - for standard output, which "
          "then contains nothing else");
  AddForce(app, args.force);
  AddFormat(app, args.format, {"text", "json"});
}

constexpr uint64_t kLostLimit = uint64_t{512} << 20;

/// Whether standard output is for the summary.
bool HasSummary(const ReplayArgs& args) { return args.output != "-" && args.events != "-"; }

/// The files that a replay of one session writes.
struct OutputFiles {
  std::unique_ptr<OutputFile> trace;
  std::unique_ptr<OutputFile> events;
  std::unique_ptr<OutputFile> lost;
};

Result<OutputFiles> CreateOutputs(const ReplayArgs& args, Context& context) {
  if (args.output == "-" && args.events == "-") {
    return Fail(ErrorCode::kUsage, "--output and --events cannot both go to standard output", {},
                "give one of them a file");
  }
  if (args.lost == "-") {
    return Fail(ErrorCode::kUsage, "--lost cannot go to standard output", {},
                "name a file for the packets that were lost");
  }
  OutputFiles files;
  if (!args.output.empty()) {
    RS_ASSIGN_OR_RETURN(files.trace, CreateOutput(context, args.output, kTraceOutput, args.force));
  }
  if (!args.events.empty()) {
    RS_ASSIGN_OR_RETURN(files.events,
                        CreateOutput(context, args.events, kEventsOutput, args.force));
  }
  if (!args.lost.empty()) {
    RS_ASSIGN_OR_RETURN(files.lost, CreateOutput(context, args.lost, kTraceOutput, args.force));
    context.console.Say(
        fmt::format("{} gets the packets that were lost, up to about {} (--lost-limit)", args.lost,
                    HumanSize(args.lost_limit.value_or(kLostLimit))));
  }
  return files;
}

Status CommitOutput(const std::unique_ptr<OutputFile>& file, Context& context,
                    const std::string& what = {}) {
  if (!file) return {};
  RS_RETURN_IF_ERROR(file->Commit());
  if (file->path() != "-")
    context.console.Say(fmt::format("wrote {}{}{}", file->path(), what.empty() ? "" : ": ", what));
  return {};
}

/// What the trace of lost packets lacks; may be empty.
std::string LeftOutText(const ReplayArgs& args, const LostTrace::Counts& lost) {
  std::vector<std::string> parts;
  if (lost.beyond_limit.packets > 0)
    parts.push_back(fmt::format(
        "{} ({}) beyond {}, which --lost-limit can raise", WithCommas(lost.beyond_limit.packets),
        HumanSize(lost.beyond_limit.bytes), HumanSize(args.lost_limit.value_or(kLostLimit))));
  std::vector<std::string> fates;
  for (size_t i = 0; i < kFates; ++i)
    if (const uint64_t count = lost.unwritable[i].packets; count > 0)
      fates.push_back(fmt::format("{} {}", WithCommas(count), Name(static_cast<Fate>(i))));
  if (!fates.empty())
    parts.push_back(fmt::format("{} that are incomplete or not well-formed ({})",
                                WithCommas(lost.unwritable.all().packets), Joined(fates)));
  return Joined(parts, "; ");
}

void ReportLostTrace(Report& report, const ReplayArgs& args, const LostTrace::Counts& lost) {
  std::string text = fmt::format(
      "\n{}: {} of {} lost packets ({})\n", args.lost, WithCommas(lost.written.packets),
      WithCommas(lost.written.packets + lost.beyond_limit.packets + lost.unwritable.all().packets),
      HumanSize(lost.written.bytes));
  if (const std::string left_out = LeftOutText(args, lost); !left_out.empty())
    text += fmt::format("  left out: {}\n", left_out);
  report.Print(text);
  report.AddObject("lost_trace", [&] {
    report.Data({{"path", args.lost},
                 {"limit_bytes", args.lost_limit.value_or(kLostLimit)},
                 {"packets", lost.written.packets},
                 {"bytes", lost.written.bytes},
                 {"packets_beyond_limit", lost.beyond_limit.packets},
                 {"bytes_beyond_limit", lost.beyond_limit.bytes},
                 {"packets_not_whole", lost.unwritable.all().packets}});
  });
}

/// Results of a replay beside its files.
struct SessionReplay {
  ReplayOutcome outcome;
  std::optional<FoundReads> found;            // with --reads like=
  std::map<BufferId, LedgerTotals> accounts;  // if there is a summary
};

/// Replays the reader's current session into the files.
/// @param lost_counts get what went into the file of lost packets
Result<SessionReplay> ReplayInto(const OutputFiles& files, const ReplayArgs& args,
                                 SessionReader& sessions, Context& context,
                                 std::optional<LostTrace::Counts>& lost_counts) {
  ReplayChoices choices = args.choices;
  choices.plain_streams_as_recorded = files.events != nullptr;
  ReplayRun run(context, sessions, choices);
  TraceWriter* trace = nullptr;
  if (files.trace) {
    trace = &run.Add<TraceWriter>(*files.trace, args.input.clone);
    trace->AddTool();
  }
  EventsWriter* events = files.events ? &run.Add<EventsWriter>(*files.events) : nullptr;
  LostTrace* const lost =
      files.lost ? &run.Add<LostTrace>(*files.lost, args.lost_limit.value_or(kLostLimit)) : nullptr;
  // Accounts take as long as the trace itself, and memory.
  if (HasSummary(args) && trace == nullptr) run.KeepAccounts();
  RS_ASSIGN_OR_RETURN(ReplayOutcome outcome, run.ToEnd());
  if (trace != nullptr) RS_RETURN_IF_ERROR(trace->Finish());
  if (events != nullptr) RS_RETURN_IF_ERROR(events->Finish());
  if (lost != nullptr) {
    RS_RETURN_IF_ERROR(lost->Finish());
    lost_counts = lost->counts();
  }
  return SessionReplay{std::move(outcome), run.found(), run.totals()};
}

Result<ExitCode> RunReplay(const ReplayArgs& args, Context& context) {
  if (!args.choices.descriptor.empty() && args.choices.config.empty())
    return Fail(ErrorCode::kUsage, "--descriptor is for a trace config", {},
                "name the config with --config");
  SessionReader sessions(context, args.input, "replaying");
  Report report(context.console, args.format, "replay");

  RS_ASSIGN_OR_RETURN(const OutputFiles files, CreateOutputs(args, context));
  std::optional<LostTrace::Counts> lost;
  const auto task = [&]() -> Result<ExitCode> {
    if (files.trace || files.lost) RS_RETURN_IF_ERROR(ExpectPayload(sessions, "a trace"));
    RS_ASSIGN_OR_RETURN(const SessionReplay replay,
                        ReplayInto(files, args, sessions, context, lost));
    const auto& [outcome, found, accounts] = replay;
    if (files.trace) RS_RETURN_IF_ERROR(ExpectNoFurtherSession(sessions, "a trace"));
    if (files.events) RS_RETURN_IF_ERROR(ExpectNoFurtherSession(sessions, "a file of events"));
    if (files.lost) RS_RETURN_IF_ERROR(ExpectNoFurtherSession(sessions, "a trace"));
    const ExitCode code = found && found->unexplained ? ExitCode::kNotice : ExitCode::kClean;
    if (!HasSummary(args)) return code;
    ReportReplay(report, outcome, accounts);
    if (lost) ReportLostTrace(report, args, *lost);
    if (accounts.empty() && !outcome.buffers.empty())
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
  if (lost) {
    RS_RETURN_IF_ERROR(
        CommitOutput(files.lost, context, Count(lost->written.packets, "lost packet")));
    const std::string left_out = LeftOutText(args, *lost);
    if (!HasSummary(args) && !left_out.empty())
      context.console.Warn(fmt::format("{} lacks lost packets: {}", args.lost, left_out));
  }
  return code;
}

}  // namespace

Command ReplayCommand() {
  return {
      "replay",
      "Replay",
      "Replay a log through a trace buffer, and write the trace",
      "Feeds what producers committed into a reimplementation of the trace buffer and reads it as "
      "the tracing service did, or as you choose. By default engine, sizes and policies are those "
      "of the log, so that the packets are those of the recorded session; change them to see what "
      "another buffer would have kept. A value for one buffer is written BUFFER=VALUE, with the "
      "buffer's id in the log. The summary shows what each buffer wrote, returned and lost.",
      {{"ringscope replay session.tblog -o session.pftrace", "Get the session's trace"},
       {"ringscope replay session.tblog --size 16MiB", "What if all buffers had been that large?"},
       {"ringscope replay session.tblog --size 1=64k --reads every=500ms",
        "Make buffer 1 smaller, and read it twice a second"},
       {"ringscope replay session.tblog --events - | head", "See the events"},
       {"ringscope replay session.tblog --lost lost.pftrace", "Get what is missing in the trace"}},
      Bind(SetUp, RunReplay)};
}

}  // namespace ringscope
