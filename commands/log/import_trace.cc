#include "commands/log/import_trace.h"

#include <fmt/format.h>

#include <filesystem>

#include "commands/common/session_reader.h"
#include "commands/shell/output.h"
#include "commands/shell/text.h"
#include "core/perfetto/packet_facts.h"
#include "formats/io/temporary_file.h"
#include "formats/log/commit_log_writer.h"

namespace ringscope {
namespace {

/// The folder in which packets that do not fit in memory are sorted: TMPDIR, else the output's.
std::string FolderForSorting(const std::string& output) {
  if (output == "-") return TemporaryFolder();
  const std::filesystem::path folder = std::filesystem::path(output).parent_path();
  return TemporaryFolder(folder.empty() ? "." : folder.string());
}

std::string NameOf(const std::string& path) {
  if (path == "-") return "on standard input";
  return std::filesystem::path(path).filename().string();
}

/// Adds the trace's packets. @return whether some of the file could not be read
Result<bool> ReadTrace(const ImportArgs& args, TraceReader& reader, TraceImport& import,
                       Context& context) {
  Progress progress(context.console, fmt::format("reading {}", Printable(args.log)));
  while (true) {
    RS_ASSIGN_OR_RETURN(const std::optional<TracePacket> packet, reader.Next());
    if (!packet) break;
    RS_RETURN_IF_ERROR(import.Add(*packet));
    progress.Update(reader.position(), reader.size().value_or(0));
  }
  const TraceImportReport& report = import.report();
  // Bytes without any packet are not a trace.
  if (reader.damage_count() > 0 && report.packets == 0) {
    const Damage& damage = reader.damage().front();
    return Fail(ErrorCode::kCorrupt, damage.what, Where{args.log, damage.offset, {}},
                "no packets could be read from this trace");
  }
  WarnOfDamage(context.console, args.log, reader.damage(), reader.damage_count());
  return reader.damage_count() > 0;
}

/// "11 synchronization_marker, 1 field 89"
std::string LeftOutText(const TraceImportReport& report) {
  std::string text;
  for (const auto& [content, count] : report.left_out)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, ContentName(content));
  return text;
}

void WarnOfPackets(const TraceImportReport& report, Console& console) {
  if (report.malformed > 0) {
    console.Warn(fmt::format("{} left out: not well-formed, or with fields that no producer writes",
                             Count(report.malformed, "packet")));
  }
  if (report.beyond_limits > 0) {
    console.Warn(fmt::format("{} left out: at most {} sequences are possible",
                             Count(report.beyond_limits, "packet"),
                             WithCommas(TraceImport::kMaxSequences)));
  }
  if (report.packets == 0) console.Warn("the trace has no packets of producers");
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

Result<TraceLog> WriteTraceLog(const ImportArgs& args, std::unique_ptr<ByteSource> source,
                               ByteSink& sink, Context& context) {
  RS_ASSIGN_OR_RETURN(const std::unique_ptr<TraceReader> reader,
                      TraceReader::Open(std::move(source), TraceReader::OnDamage::kSkip));
  TraceImport import(
      {.name = NameOf(args.log), .sorter = {.folder = FolderForSorting(args.output)}});
  RS_ASSIGN_OR_RETURN(const bool damaged, ReadTrace(args, *reader, import, context));

  CommitLogWriterOptions options;
  options.level = args.level;
  RS_ASSIGN_OR_RETURN(const std::unique_ptr<CommitLogWriter> writer,
                      CommitLogWriter::Create(sink, options));
  {
    Progress progress(context.console, fmt::format("writing {}", Printable(args.output)));
    RS_RETURN_IF_ERROR(import.Write([&](const Op& op) {
      progress.Update(import.written_bytes(), import.total_bytes());
      return writer->Append(op);
    }));
  }
  RS_RETURN_IF_ERROR(writer->Close());
  const TraceImportReport& report = import.report();
  WarnOfPackets(report, context.console);
  const bool notice = damaged || report.malformed > 0 || report.beyond_limits > 0;
  return TraceLog{report, writer->records(), writer->bytes_written(),
                  notice ? ExitCode::kNotice : ExitCode::kClean};
}

Result<ExitCode> RunTraceImport(const ImportArgs& args, std::unique_ptr<ByteSource> source,
                                Context& context) {
  RS_ASSIGN_OR_RETURN(const std::unique_ptr<OutputFile> file,
                      CreateOutput(context, args.output, /*binary=*/true));
  RS_ASSIGN_OR_RETURN(const TraceLog log, WriteTraceLog(args, std::move(source), *file, context));
  RS_RETURN_IF_ERROR(file->Commit());
  if (args.output != "-") {
    ReportLosses(log.report, context.console);
    context.console.Say(fmt::format("wrote {}: {}, {}", args.output, Count(log.records, "record"),
                                    HumanSize(log.bytes)));
  }
  return log.code;
}

}  // namespace ringscope
