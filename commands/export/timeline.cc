#include <fmt/format.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "commands/replays/replay_run.h"
#include "commands/replays/session_reads.h"
#include "commands/shell/commands.h"
#include "commands/shell/input.h"
#include "commands/shell/options.h"
#include "commands/shell/text.h"
#include "core/base/wire.h"
#include "formats/io/compressed_source.h"
#include "formats/trace/service_packets.h"
#include "formats/trace/timeline_trace.h"
#include "formats/trace/trace_file_scan.h"
#include "formats/trace/trace_holes.h"

namespace ringscope {
namespace {

struct TimelineArgs {
  SessionSelection input;
  std::string output;  // .pftrace; "-": standard output
  bool force = false;
  ReplayChoices choices;
};

void SetUp(CLI::App& app, TimelineArgs& args) {
  AddInput(app, args.input, Logs::kOne, Traces::kTaken);
  AddReplayOptions(app, args.choices);
  InGroup(app, kOutputGroup);
  AddText(app, "-o,--output", args.output, kFileType,
          "The trace to write (.pftrace); - for standard output", Need::kRequired);
  AddForce(app, args.force);
}

/// Copies what a trace has, decompressed, up to a packet that is cut off.
Status CopyTrace(Context& context, const std::string& path, uint64_t most, ByteSink& sink) {
  RS_ASSIGN_OR_RETURN(KnownInput input, OpenOneInput(context, path));
  std::unique_ptr<ByteSource> source = std::move(input.source);
  if (auto unpacked = MakeSourceFor(wire::AsBytes(input.start), source))
    source = std::move(unpacked);
  std::vector<uint8_t> part(kReadBytes);
  while (most > 0) {
    RS_ASSIGN_OR_RETURN(const size_t size,
                        source->Read(std::span(part).first(std::min<uint64_t>(most, part.size()))));
    if (size == 0) break;
    most -= size;
    RS_RETURN_IF_ERROR(sink.Write(Bytes(part.data(), size)));
  }
  return {};
}

/// Writes a trace as it is, followed by tracks with what it lacks.
Result<ExitCode> DrawHoles(const TimelineArgs& args, Context& context) {
  const std::string& path = args.input.paths.front();
  RS_ASSIGN_OR_RETURN(KnownInput input, OpenOneInput(context, path));
  Progress progress(context.console, fmt::format("reading {}", Printable(path)));
  const auto update = [&](uint64_t done, uint64_t total) { progress.Update(done, total); };
  RS_ASSIGN_OR_RETURN(const ScannedTrace scanned,
                      InFile(path, ScanTraceFile(std::move(input.source), update)));
  RS_ASSIGN_OR_RETURN(const std::unique_ptr<OutputFile> file,
                      CreateOutput(context, args.output, kTraceOutput, args.force));
  RS_RETURN_IF_ERROR(CopyTrace(context, path, scanned.cut_off_at.value_or(UINT64_MAX), *file));
  RS_ASSIGN_OR_RETURN(const WrittenHoles holes, WriteTraceHoles(scanned.sessions, *file));
  RS_RETURN_IF_ERROR(file->Commit());
  if (scanned.cut_off_at)
    context.console.Warn(fmt::format("{}: the packet at byte {} is cut off, and left out",
                                     Printable(path), *scanned.cut_off_at));
  context.console.Say(fmt::format(
      "{}: the trace, followed by {} over what is missing{}", file->path(),
      Count(holes.shown, "slice"),
      holes.left_out == 0 ? ""
                          : fmt::format("; {} left out, as the UI sorts this trace in windows",
                                        WithCommas(holes.left_out))));
  return scanned.cut_off_at ? ExitCode::kNotice : ExitCode::kClean;
}

Result<ExitCode> RunTimeline(const TimelineArgs& args, Context& context) {
  RS_RETURN_IF_ERROR(CheckOutputName(args.output, "a trace", {".pftrace"}));
  std::unique_ptr<SpooledInput> standard_input;
  if (args.input.paths.front() == "-") {
    RS_ASSIGN_OR_RETURN(standard_input, SpooledInput::Read(context));
  }
  const auto input = OpenOneInput(context, args.input.paths.front());
  if (input && input->kind == InputKind::kTrace) return DrawHoles(args, context);
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
      "Draw the buffers over time, or the holes of a trace, as a trace",
      "Replays like 'ringscope replay' and writes a trace about the buffers themselves, for "
      "the Perfetto UI and trace processor. Each buffer has counters of its fill level and its "
      "unread bytes, read passes and wraps, and below it a track of each sequence with its "
      "losses and their causes; changes of the tracing session, flushes and clones have a "
      "track of their own. A trace is written as it is, followed by tracks with its holes: below "
      "each thread what is missing, since when and why, and which packets are unusable.",
      {{"ringscope timeline session.tblog -o buffers.pftrace", "Then open it in ui.perfetto.dev"},
       {"ringscope timeline trace.pftrace -o holes.pftrace",
        "The same trace with its holes, below the threads that they are of"},
       {"ringscope timeline --size 1MiB session.tblog -o buffers.pftrace",
        "The same for a buffer of another size"}},
      Bind(SetUp, RunTimeline)};
}

}  // namespace ringscope
