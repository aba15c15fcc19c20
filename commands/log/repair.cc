#include <fmt/format.h>

#include <filesystem>
#include <string>

#include "commands/common/damage_report.h"
#include "commands/log/info_report.h"
#include "commands/shell/commands.h"
#include "commands/shell/input.h"
#include "commands/shell/options.h"
#include "commands/shell/output.h"
#include "commands/shell/text.h"
#include "formats/inputs/log_check.h"

namespace ringscope {
namespace {

struct RepairArgs {
  std::string log;
  std::string output;
};

void SetUp(CLI::App& app, RepairArgs& args) {
  AddLog(app, args.log);
  InGroup(app, kOutputGroup);
  AddText(app, "-o,--output", args.output, kFileType, "Clean copy to write (.tblog)",
          Need::kRequired);
}

Status CheckPaths(const RepairArgs& args) {
  if (args.output == "-") {
    return Fail(ErrorCode::kUsage, "the copy is verified, so it cannot go to standard output", {},
                "name a file");
  }
  std::error_code ignored;  // a path that does not exist is not the same as another
  if (std::filesystem::equivalent(args.log, args.output, ignored)) {
    return Fail(ErrorCode::kUsage, "the copy would replace the damaged log", {args.output, {}, {}},
                "name another file");
  }
  return {};
}

/// Verifies the copy. One that is not clean is removed: it would be trusted.
Result<LogInfo> VerifyCopy(const std::string& path) {
  RS_ASSIGN_OR_RETURN(std::unique_ptr<ByteSource> source, OpenByteSource(path));
  Result<LogInfo> copy = VerifyLog(std::move(source));
  if (copy && copy->damage_count == 0 && copy->cleanly_closed) return copy;
  std::error_code ignored;
  std::filesystem::remove(path, ignored);
  if (!copy) return copy;
  return Fail(ErrorCode::kIo,
              copy->damage.empty()
                  ? "the copy did not verify: it has no index"
                  : fmt::format("the copy did not verify: {}", copy->damage.front().ToString()),
              {path, {}, {}}, "it was removed; check the file system and try again");
}

Result<ExitCode> RunRepair(const RepairArgs& args, Context& context) {
  RS_RETURN_IF_ERROR(CheckPaths(args));
  Console& console = context.console;
  RS_ASSIGN_OR_RETURN(const std::unique_ptr<OutputFile> file, OutputFile::Create(args.output));
  std::optional<LogInfo> original;
  {
    Progress progress(console, fmt::format("repairing {}", Printable(args.log)));
    RS_ASSIGN_OR_RETURN(std::unique_ptr<ByteSource> source, OpenInput(context, args.log));
    RS_ASSIGN_OR_RETURN(
        original, RepairLog(std::move(source), *file,
                            [&](uint64_t done, uint64_t total) { progress.Update(done, total); }));
  }
  RS_RETURN_IF_ERROR(file->Commit());
  RS_ASSIGN_OR_RETURN(const LogInfo copy, VerifyCopy(args.output));

  Report report(console, "text", "repair");
  report.Title(Printable(args.output), "verified: " + ExtentText(copy));
  if (original->damage_count == 0) {
    report.Print("Nothing was lost.\n");
    return ExitCode::kClean;
  }
  report.Print(fmt::format("Lost from {}:\n", Printable(args.log)));
  PrintDamage(report, *original);
  return ExitCode::kNotice;
}

}  // namespace

Command RepairCommand() {
  return {"repair",
          "Logs",
          "Write a clean copy of the readable parts of a damaged log",
          "Copies every readable record into a new log with checksums, index and seek table, adds "
          "notes where records are missing, and verifies the copy. Then lists what was lost.",
          {{"ringscope repair torn.tblog -o clean.tblog", "Save the readable parts of a log"}},
          Bind(SetUp, RunRepair),
          {.clean = "Done; the log was complete.", .notice = "Done, and something was lost."}};
}

}  // namespace ringscope
