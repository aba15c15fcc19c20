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

/// Where the packets are sorted that do not fit in memory: TMPDIR, else beside the output.
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
  // Bytes of which nothing is a packet are no trace.
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

/// What came of the trace, and what the log can not know.
void ReportLosses(const TraceImportReport& report, Console& console) {
  console.Say(fmt::format("{} ({}) of {} by {}, in {}", Count(report.packets, "packet"),
                          HumanSize(report.packet_bytes), Count(report.sequences, "sequence"),
                          Count(report.producers, "producer"), Count(report.chunks, "chunk")));
  if (report.untimed > 0) {
    console.Say(
        fmt::format("{} without a known time: put after the one before in the "
                    "sequence",
                    Count(report.untimed, "packet")));
  }
  if (report.late > 0) {
    console.Say(
        fmt::format("{} with an earlier time than the one before in the sequence: put "
                    "behind it",
                    Count(report.late, "packet")));
  }
  if (!report.has_config) console.Say("the trace has no config, which would describe its buffers");
  if (report.guessed_sizes > 0) {
    console.Say(fmt::format("the trace does not have the size of {}: {} assumed",
                            Count(report.guessed_sizes, "buffer"),
                            HumanSize(TraceSession::kDefaultBufferSize)));
  }
  if (report.guessed_sequences > 0) {
    console.Say(fmt::format("the trace does not have the buffer of {}: buffer 0 assumed",
                            Count(report.guessed_sequences, "sequence")));
  }
  if (report.empty > 0)
    console.Say(fmt::format("{} without content left out", Count(report.empty, "packet")));
  if (!report.left_out.empty())
    console.Say("packets of the service left out: " + LeftOutText(report));
  if (report.gaps + report.counted_losses > 0) {
    console.Say(
        fmt::format("the trace itself reports losses, {} within its sequences and {} in its "
                    "statistics: they are gaps in the log",
                    WithCommas(report.gaps), WithCommas(report.counted_losses)));
  }
  console.Say("what was lost before the trace was written cannot be known from it");
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
