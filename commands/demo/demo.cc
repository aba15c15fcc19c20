#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "commands/demo/demo_session.h"
#include "commands/shell/commands.h"
#include "commands/shell/options.h"
#include "commands/shell/output.h"
#include "commands/shell/text.h"
#include "commands/shell/values.h"
#include "formats/trace/service_packets.h"

namespace ringscope {
namespace {

struct DemoArgs {
  demo::DemoOptions options;
  std::string trace;  // empty: beside the log
};

constexpr uint64_t kLeastDemoBytes = 16 * 1024, kMostBufferBytes = 64 * 1024 * 1024;
constexpr uint64_t kMostDurationNs = 60'000'000'000;

Result<uint64_t> ParseDemoSize(std::string_view text) {
  RS_ASSIGN_OR_RETURN(const uint64_t bytes, ParseSize(text));
  if (bytes >= kLeastDemoBytes && bytes <= kMostBufferBytes) return bytes;
  return Fail(ErrorCode::kUsage, fmt::format("'{}' is not 16 KiB to 64 MiB", text));
}

Result<uint64_t> ParseDemoDuration(std::string_view text) {
  RS_ASSIGN_OR_RETURN(const uint64_t time_ns, ParseDuration(text));
  if (time_ns <= kMostDurationNs) return time_ns;
  return Fail(ErrorCode::kUsage, fmt::format("'{}' is more than a minute", text));
}

void SetUpDemo(CLI::App& app, DemoArgs& args) {
  InGroup(app, "Session");
  AddNumber(app, "--producers", args.options.producers, {1, 16}, "N",
            "Apps that draw frames, 1 to 16 (default: 3); two more producers lose packets in ways "
            "of their own");
  AddParsed(app, "--duration", args.options.duration_ns, ParseDemoDuration, "TIME",
            "How long the session takes, at most 60s (default: 2s)");
  AddParsed(app, "--size", args.options.buffer_bytes, ParseDemoSize, "SIZE",
            "Size of the ring buffer of the apps (default: 64KiB)");
  AddNumber(app, "--seed", args.options.seed, {0, 1'000'000}, "N",
            "What the apps do: equal numbers, equal sessions (default: 1)");
  InGroup(app, kOutputGroup);
  AddText(app, "-o,--output", args.options.log_path, kFileType, "Log to write (.tblog)",
          Need::kRequired);
  AddText(app, "-t,--trace", args.trace, kFileType,
          "Trace that the consumer receives (.pftrace; default: beside the log)");
  AddForce(app, args.options.replace);
}

std::string TracePathOf(const std::string& log_path) {
  constexpr std::string_view kSuffix = ".tblog";
  const bool has_suffix = log_path.ends_with(kSuffix);
  return log_path.substr(0, log_path.size() - (has_suffix ? kSuffix.size() : 0)) + ".pftrace";
}

Result<ExitCode> RunDemo(const DemoArgs& args, Context& context) {
  const std::string trace_path =
      args.trace.empty() ? TracePathOf(args.options.log_path) : args.trace;
  RS_ASSIGN_OR_RETURN(const auto trace,
                      CreateOutput(context, trace_path, kTraceOutput, args.options.replace));
  RS_RETURN_IF_ERROR(trace->Write(ToolPacket()));
  RS_ASSIGN_OR_RETURN(const demo::DemoOutcome outcome, demo::RunDemoSession(args.options));
  RS_RETURN_IF_ERROR(trace->Write(wire::AsBytes(outcome.trace)));
  RS_RETURN_IF_ERROR(trace->Commit());
  for (const std::string& warning : outcome.warnings) context.console.Warn(warning);
  const uint64_t flagged = static_cast<uint64_t>(std::ranges::count_if(
      outcome.content.packets, [](const ContentPacket& packet) { return packet.dropped != 0; }));
  const std::string& log = args.options.log_path;
  std::string text = fmt::format(
      "Recorded a live session of {} with {}.\n"
      "  {}: what they committed: {} in {}\n"
      "  {}: what the consumer received: {}, {} with loss flags\n\n",
      Count(outcome.producers, "producer"), Count(outcome.sequences, "sequence"), log,
      Count(outcome.packets_written, "whole packet"), Count(outcome.chunks, "chunk"), trace_path,
      Count(outcome.content.packets.size(), "packet"), WithCommas(flagged));
  if (outcome.difference.empty()) {
    text +=
        "The replay of the log equals the trace: packets, their order, loss flags, and\n"
        "the counters of the buffers.\n\n";
  } else {
    text +=
        fmt::format("The replay of the log differs from the trace: {}.\n\n", outcome.difference);
  }
  text += "Lost on purpose:\n";
  const uint64_t overwritten = outcome.content.stats.front().chunks_overwritten;
  if (overwritten > 0)
    text += fmt::format("  the ring buffer of the apps wrapped: {} overwritten\n",
                        Count(overwritten, "chunk"));
  if (outcome.packets_dropped > 0)
    text += fmt::format("  the shared memory of 'burst' was full: {} dropped\n",
                        Count(outcome.packets_dropped, "packet"));
  text +=
      "  a packet of 'loader' was never completed: those after it wait for its patch\n\n"
      "What became of all this:\n";
  for (const char* command : {"gaps {}", "info {}", "replay {} --size 1MiB", "graph {}"})
    text += "  ringscope " + fmt::format(fmt::runtime(command), log) + "\n";
  context.console.Print(text);
  return outcome.difference.empty() ? ExitCode::kClean : ExitCode::kNotice;
}

}  // namespace

Command DemoSessionCommand() {
  return {"demo-session",
          "Record",
          "Record a session of a built-in service and its producers",
          "Starts a small tracing service, producers and a consumer, and records the session "
          "between them as 'record' does: over real sockets and with real shared memory. Nothing "
          "else is needed. The session loses packets in three ways, so that 'gaps' has something "
          "to explain. Then the log is replayed and compared with the trace that the consumer "
          "received.",
          {{"ringscope demo-session -o demo.tblog", "Record two seconds"},
           {"ringscope demo-session -o demo.tblog --size 1MiB --duration 5s",
            "Record five seconds with a larger buffer"}},
          Bind(SetUpDemo, RunDemo),
          {.notice = "Done, but the replay of the log differs from the trace."}};
}

}  // namespace ringscope
