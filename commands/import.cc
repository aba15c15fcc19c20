#include "commands/import.h"

#include <fmt/format.h>

#include "commands/options.h"
#include "commands/output.h"
#include "commands/session_reader.h"
#include "commands/text.h"
#include "formats/commit_log_writer.h"

namespace ringscope {
namespace {

constexpr int kMaxLevel = 19;  // above, zstd needs memory out of proportion

void SetUp(CLI::App& app, ImportArgs& args) {
  AddLog(app, args.log);
  app.add_option("-o,--output", args.output, "Log to write (.tblog); - for standard output")
      ->type_name(kFileType)
      ->required();
  app.add_option("--level", args.level, "Compression level of zstd, 1 to 19 (default: 3)")
      ->type_name("N")
      ->check(CLI::Range(1, kMaxLevel));
}

}  // namespace

Result<ExitCode> RunImport(const ImportArgs& args, Context& context) {
  SessionReader sessions(context, {{args.log}, std::nullopt}, "importing");
  RS_ASSIGN_OR_RETURN(bool more, sessions.NextSession());
  RS_ASSIGN_OR_RETURN(const std::unique_ptr<OutputFile> file,
                      CreateOutput(context, args.output, /*binary=*/true));
  CommitLogWriterOptions options;
  options.level = args.level;
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

Command ImportCommand() {
  return {"import",
          "Logs",
          "Write operations, or any other log, as a commit log",
          "Reads a log in any format that ringscope knows and writes it as a .tblog: compressed, "
          "checked, with an index. Every record is kept, malformed requests included. A log "
          "without a header gets one that says it was imported. If anything fails, no output file "
          "is left behind.",
          {{"ringscope import session.ops.jsonl.zst -o session.tblog",
            "Turn a text of operations into a commit log"},
           {"ringscope dump --format ops a.tblog | ringscope import - -o b.tblog",
            "Take a log apart and put it together again"}},
          Bind(SetUp, RunImport)};
}

}  // namespace ringscope
