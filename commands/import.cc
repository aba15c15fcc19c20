#include "commands/import.h"

#include <fmt/format.h>

#include "commands/import_trace.h"
#include "commands/options.h"
#include "commands/output.h"
#include "commands/session_reader.h"
#include "commands/text.h"
#include "formats/commit_log_writer.h"
#include "formats/input_kind.h"
#include "formats/zstd_source.h"

namespace ringscope {
namespace {

constexpr int kMaxLevel = 19;  // above, zstd needs memory out of proportion

void SetUp(CLI::App& app, ImportArgs& args) {
  AddLog(app, args.log);
  AddText(app, "-o,--output", args.output, kFileType,
          "Log to write (.tblog); - for standard output", Need::kRequired);
  AddNumber(app, "--level", args.level, {1, kMaxLevel}, "N",
            "Compression level of zstd, 1 to 19 (default: 1)");
}

Result<std::unique_ptr<ByteSource>> OpenInput(const ImportArgs& args, Context& context) {
  const auto& open_input = context.console.streams().open_input;
  return args.log == "-" && open_input ? open_input() : OpenByteSource(args.log);
}

/// @param source the log's bytes
Result<ExitCode> RunLogImport(const ImportArgs& args, std::unique_ptr<ByteSource> source,
                              Context& context) {
  SessionReader sessions(context, {{args.log}, std::nullopt}, "importing");
  sessions.UseOpened(std::move(source));
  RS_ASSIGN_OR_RETURN(bool more, sessions.NextSession());
  RS_ASSIGN_OR_RETURN(const std::unique_ptr<OutputFile> file,
                      CreateOutput(context, args.output, /*binary=*/true));
  CommitLogWriterOptions options;
  options.level = args.level;
  options.threads = CompressionThreads();
  RS_ASSIGN_OR_RETURN(const std::unique_ptr<CommitLogWriter> writer,
                      CommitLogWriter::Create(*file, options));
  uint64_t count = 0;
  if (!more) RS_RETURN_IF_ERROR(writer->Append({std::nullopt, ImportHeader()}));
  while (more) {
    ++count;
    bool first = true;
    while (true) {
      RS_ASSIGN_OR_RETURN(const std::optional<Op> op, sessions.Next());
      if (!op) break;
      if (first && !std::holds_alternative<LogHeader>(op->body))
        RS_RETURN_IF_ERROR(writer->Append({std::nullopt, ImportHeader()}));
      first = false;
      RS_RETURN_IF_ERROR(writer->Append(*op));
    }
    RS_ASSIGN_OR_RETURN(more, sessions.NextSession());
  }
  RS_RETURN_IF_ERROR(writer->Close());
  RS_RETURN_IF_ERROR(file->Commit());
  if (args.output != "-") {
    context.console.Say(fmt::format("wrote {}: {}, {}, {}", args.output, Count(count, "session"),
                                    Count(writer->records(), "record"),
                                    HumanSize(writer->bytes_written())));
  }
  return sessions.Finish();
}

}  // namespace

Result<ExitCode> RunImport(const ImportArgs& args, Context& context) {
  RS_ASSIGN_OR_RETURN(std::unique_ptr<ByteSource> source, OpenInput(args, context));
  RS_ASSIGN_OR_RETURN(std::string start, ReadStart(*source, kKindBytes));
  const InputKind kind = KindOfStart(start);
  source = MakePrefixedSource(std::move(start), std::move(source));
  if (kind == InputKind::kTrace) return RunTraceImport(args, std::move(source), context);
  return RunLogImport(args, std::move(source), context);
}

Command ImportCommand() {
  return {"import",
          "Logs",
          "Write operations, a Perfetto trace or another log as a commit log",
          "Reads a log in any format that ringscope knows and writes it as a .tblog: compressed, "
          "checked, with an index. Every record is kept, malformed requests included. A log "
          "without a header gets one that says it was imported. Of a Perfetto trace, plain or "
          "compressed, it makes a log as if its packets had just been committed, in chunks of "
          "4 KiB and at their timestamps; what the trace has lost, the log lacks too. If anything "
          "fails, no output file is left behind.",
          {{"ringscope import session.ops.jsonl.zst -o session.tblog",
            "Turn a text of operations into a commit log"},
           {"ringscope import trace.pftrace -o trace.tblog",
            "Make a log of a trace, to try buffer sizes with"},
           {"ringscope dump --format ops a.tblog | ringscope import - -o b.tblog",
            "Take a log apart and put it together again"}},
          Bind(SetUp, RunImport)};
}

}  // namespace ringscope
