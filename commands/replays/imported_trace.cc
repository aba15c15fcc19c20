#include "commands/replays/imported_trace.h"

#include <fmt/format.h>

#include <memory>
#include <utility>

#include "commands/replays/damage_report.h"
#include "commands/replays/session_reader.h"
#include "commands/shell/text.h"
#include "core/perfetto/packet_facts.h"
#include "formats/inputs/input_kind.h"
#include "formats/trace/trace_log.h"

namespace ringscope {
namespace {

/// "11 synchronization_marker, 1 trace_uuid"
std::string LeftOutText(const TraceImportReport& report) {
  std::string text;
  for (const auto& [content, count] : report.left_out)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, ContentName(content));
  return text;
}

}  // namespace

Result<ScannedTrace> ScanTrace(Context& context, std::unique_ptr<ByteSource> source) {
  const std::string path = source->path();
  Progress progress(context.console, fmt::format("examining {}", Printable(path)));
  const auto update = [&](uint64_t done, uint64_t total) { progress.Update(done, total); };
  return InFile(path, ScanTraceFile(std::move(source), update,
                                    context.threads == 1 ? ReadAhead::kNo : ReadAhead::kYes));
}

namespace {

/// What was imported of a session.
void SaySession(const TraceImportReport& report, const std::string& session, Console& console) {
  console.Say(session +
              fmt::format("{} ({}) of {} by {}, in {}", Count(report.packets, "packet"),
                          HumanSize(report.packet_bytes), Count(report.sequences, "sequence"),
                          Count(report.producers, "producer"), Count(report.chunks, "chunk")));
  if (report.untimed > 0) {
    console.Say(
        fmt::format("{} without a timestamp: placed after the previous packet of the sequence",
                    Count(report.untimed, "packet")));
  }
  if (report.late > 0) {
    console.Say(
        fmt::format("{} with an earlier timestamp than the previous packet of the sequence: placed "
                    "after it",
                    Count(report.late, "packet")));
  }
  if (!report.has_config)
    console.Say("the trace has no trace config, so its buffers are not described");
  if (report.guessed_sizes > 0) {
    console.Say(fmt::format("the trace does not contain the size of {}: assumed {}",
                            Count(report.guessed_sizes, "buffer"),
                            HumanSize(TraceSession::kDefaultBufferSize)));
  }
  if (report.guessed_sequences > 0) {
    console.Say(fmt::format("the trace does not show which buffer {} wrote to: assumed buffer 0",
                            Count(report.guessed_sequences, "sequence")));
  }
  if (report.empty > 0)
    console.Say(fmt::format("left out {} without content", Count(report.empty, "packet")));
  if (!report.left_out.empty())
    console.Say("left out packets that the service wrote: " + LeftOutText(report));
  if (report.gaps + report.counted_losses > 0) {
    console.Say(
        fmt::format("the trace reports losses, {} within its sequences and {} in its statistics: "
                    "they are gaps in the log",
                    WithCommas(report.gaps), WithCommas(report.counted_losses)));
  }
}

}  // namespace

void SayImported(const TraceLog& log, Console& console) {
  const size_t sessions = log.sessions.size();
  if (sessions > 1)
    console.Say(
        fmt::format("the trace has {}: each is a session of the log", Count(sessions, "session")));
  for (size_t i = 0; i < sessions; ++i)
    SaySession(log.sessions[i], sessions > 1 ? fmt::format("session {}: ", i + 1) : "", console);
  console.Say("packets that were lost before the trace was written are unknown");
}

Result<std::unique_ptr<ByteSource>> AsLog(Context& context, const std::string& path,
                                          std::unique_ptr<ByteSource> source, bool quiet) {
  RS_ASSIGN_OR_RETURN(KnownInput input, FindInputKind(std::move(source)));
  if (input.kind != InputKind::kTrace) return std::move(input.source);
  const auto import = [&](ByteSink& sink) -> Result<bool> {
    auto progress =
        std::make_unique<Progress>(context.console, fmt::format("importing {}", Printable(path)));
    const auto update = [&](uint64_t done, uint64_t total) { progress->Update(done, total); };
    RS_ASSIGN_OR_RETURN(const TraceLog log, WriteTraceLog({.path = path, .on_read = update},
                                                          std::move(input.source), sink));
    progress.reset();
    if (quiet) return IsComplete(log);
    context.console.Say(
        fmt::format("{} is a trace: it is read as a log in which its packets are "
                    "committed at their timestamps",
                    Printable(path)));
    SayImported(log, context.console);
    return WarnOfTraceLog(context.console, path, log) == ExitCode::kClean;
  };
  return context.imported->Open(path, import);
}

}  // namespace ringscope
