#include "commands/log/import_trace.h"

#include <fmt/format.h>

#include <filesystem>
#include <optional>

#include "commands/common/damage_report.h"
#include "commands/shell/output.h"
#include "commands/shell/text.h"
#include "core/perfetto/packet_facts.h"

namespace ringscope {
namespace {

/// The folder in which packets that do not fit in memory are sorted: TMPDIR, else the output's.
std::string FolderForSorting(const std::string& output) {
  if (output == "-") return TemporaryFolder();
  const std::filesystem::path folder = std::filesystem::path(output).parent_path();
  return TemporaryFolder(folder.empty() ? "." : folder.string());
}

/// "11 synchronization_marker, 1 field 89"
std::string LeftOutText(const TraceImportReport& report) {
  std::string text;
  for (const auto& [content, count] : report.left_out)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, ContentName(content));
  return text;
}

/// What was imported, what had to be assumed, and what the log cannot show.
void ReportLosses(const TraceImportReport& report, Console& console) {
  console.Say(fmt::format("{} ({}) of {} by {}, in {}", Count(report.packets, "packet"),
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
  console.Say("packets that were lost before the trace was written are unknown");
}

}  // namespace

Result<ExitCode> RunTraceImport(const ImportArgs& args, std::unique_ptr<ByteSource> source,
                                Context& context) {
  RS_ASSIGN_OR_RETURN(const std::unique_ptr<OutputFile> file,
                      CreateOutput(context, args.output, /*binary=*/true));
  std::optional<Progress> reading, writing;
  reading.emplace(context.console, fmt::format("reading {}", Printable(args.log)));
  const auto on_read = [&](uint64_t done, uint64_t total) { reading->Update(done, total); };
  const auto on_write = [&](uint64_t done, uint64_t total) {
    reading.reset();
    if (!writing)
      writing.emplace(context.console, fmt::format("writing {}", Printable(args.output)));
    writing->Update(done, total);
  };
  RS_ASSIGN_OR_RETURN(const TraceLog log, WriteTraceLog({.path = args.log,
                                                         .folder = FolderForSorting(args.output),
                                                         .level = args.level,
                                                         .on_read = on_read,
                                                         .on_write = on_write},
                                                        std::move(source), *file));
  reading.reset();
  writing.reset();
  const ExitCode code = WarnOfTraceLog(context.console, args.log, log);
  RS_RETURN_IF_ERROR(file->Commit());
  if (args.output != "-") {
    ReportLosses(log.report, context.console);
    context.console.Say(fmt::format("wrote {}: {}, {}", args.output, Count(log.records, "record"),
                                    HumanSize(log.bytes)));
  }
  return code;
}

}  // namespace ringscope
