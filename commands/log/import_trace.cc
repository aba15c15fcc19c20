#include "commands/log/import_trace.h"

#include <fmt/format.h>

#include <filesystem>
#include <optional>

#include "commands/replays/damage_report.h"
#include "commands/replays/imported_trace.h"
#include "commands/shell/output.h"
#include "commands/shell/text.h"
#include "formats/log/commit_log_writer.h"

namespace ringscope {
namespace {

/// The folder in which packets that do not fit in memory are sorted: TMPDIR, else the output's.
std::string FolderForSorting(const std::string& output) {
  if (output == "-") return TemporaryFolder();
  const std::filesystem::path folder = std::filesystem::path(output).parent_path();
  return TemporaryFolder(folder.empty() ? "." : folder.string());
}

}  // namespace

Result<ExitCode> RunTraceImport(const ImportArgs& args, std::unique_ptr<ByteSource> source,
                                Context& context) {
  RS_ASSIGN_OR_RETURN(const std::unique_ptr<OutputFile> file,
                      CreateOutput(context, args.output, kLogOutput, args.force));
  std::optional<Progress> reading, writing;
  const auto on_read = [&](uint64_t done, uint64_t total) {
    writing.reset();  // that of the session before
    if (!reading) reading.emplace(context.console, fmt::format("reading {}", Printable(args.log)));
    reading->Update(done, total);
  };
  const auto on_write = [&](uint64_t done, uint64_t total) {
    reading.reset();
    if (!writing)
      writing.emplace(context.console, fmt::format("writing {}", Printable(args.output)));
    writing->Update(done, total);
  };
  RS_ASSIGN_OR_RETURN(const TraceLog log, WriteTraceLog({.path = args.log,
                                                         .folder = FolderForSorting(args.output),
                                                         .level = args.level,
                                                         .without_payload = args.no_payload,
                                                         .on_read = on_read,
                                                         .on_write = on_write},
                                                        std::move(source), *file));
  reading.reset();
  writing.reset();
  const ExitCode code = WarnOfTraceLog(context.console, args.log, log);
  RS_RETURN_IF_ERROR(file->Commit());
  if (args.output != "-") {
    SayImported(log, context.console);
    context.console.Say(fmt::format("wrote {}: {}, {}", args.output, Count(log.records, "record"),
                                    HumanSize(log.bytes)));
  }
  return code;
}

}  // namespace ringscope
