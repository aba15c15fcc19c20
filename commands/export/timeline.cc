#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <string>

#include "commands/replays/replay_run.h"
#include "commands/replays/session_reads.h"
#include "commands/shell/commands.h"
#include "commands/shell/config_file.h"
#include "commands/shell/options.h"
#include "commands/shell/output.h"
#include "commands/shell/text.h"
#include "formats/trace/service_packets.h"
#include "formats/trace/timeline_trace.h"

namespace ringscope {
namespace {

struct TimelineArgs {
  SessionSelection input;
  std::string output;  // .pftrace; "-": standard output
  bool force = false;
  ReplayChoices choices;
};

void SetUp(CLI::App& app, TimelineArgs& args) {
  AddInput(app, args.input, Logs::kOne);
  AddReplayOptions(app, args.choices);
  InGroup(app, kOutputGroup);
  AddText(app, "-o,--output", args.output, kFileType,
          "The trace to write (.pftrace); - for standard output", Need::kRequired);
  AddForce(app, args.force);
}

Result<ExitCode> RunTimeline(const TimelineArgs& args, Context& context) {
  RS_RETURN_IF_ERROR(CheckOutputName(args.output, "a trace", {".pftrace"}));
  SessionReader sessions(context, args.input, "drawing");
  RS_ASSIGN_OR_RETURN(const std::unique_ptr<OutputFile> file,
                      CreateOutput(context, args.output, kTraceOutput, args.force));
  TimelineTrace::Counts counts;
  std::string reads;
  RS_ASSIGN_OR_RETURN(bool more, sessions.NextSession());
  while (more) {
    ReplayRun run(context, sessions, args.choices);
    auto& timeline = run.Add<TimelineTrace>(*file);
    RS_ASSIGN_OR_RETURN(const ReplayOutcome outcome, run.ToEnd());
    RS_RETURN_IF_ERROR(ExpectNoFurtherSession(sessions, "a trace"));
    reads = ReadsText(outcome.reads);
    RS_RETURN_IF_ERROR(timeline.Finish("buffers were read " + reads));
    counts = timeline.counts();
    RS_ASSIGN_OR_RETURN(more, sessions.NextSession());
  }
  RS_RETURN_IF_ERROR(file->Commit());
  if (file->path() != "-")
    context.console.Say(fmt::format("wrote {}: {}, {}; buffers were read {}", file->path(),
                                    Count(counts.passes, "read"),
                                    Count(counts.lost_packets, "lost packet"), reads));
  return sessions.Finish();
}

}  // namespace

Command TimelineCommand() {
  return {
      "timeline",
      "Explain",
      "Draw the buffers over time as a Perfetto trace",
      "Replays like 'ringscope replay' and writes a trace about the buffers themselves, for "
      "the Perfetto UI and trace processor. Each buffer has counters of its fill level and its "
      "unread bytes, read passes and wraps, and below it a track of each sequence with its "
      "losses and their causes; changes of the tracing session, flushes and clones have a "
      "track of their own.",
      {{"ringscope timeline session.tblog -o buffers.pftrace", "Then open it in ui.perfetto.dev"},
       {"ringscope timeline --size 1MiB session.tblog -o buffers.pftrace",
        "The same for a buffer of another size"}},
      Bind(SetUp, RunTimeline)};
}

}  // namespace ringscope
