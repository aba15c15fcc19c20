#include "commands/repair.h"

#include <fmt/format.h>

#include <filesystem>

#include "commands/damage_report.h"
#include "commands/info_report.h"
#include "commands/options.h"
#include "commands/output.h"
#include "commands/text.h"
#include "formats/commit_log_check.h"

namespace ringscope {
namespace {

void SetUp(CLI::App& app, RepairArgs& args) {
  AddLog(app, args.log);
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
  Result<LogInfo> copy = VerifyLog(path);
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

}  // namespace

Result<ExitCode> RunRepair(const RepairArgs& args, Context& context) {
  RS_RETURN_IF_ERROR(CheckPaths(args));
  Console& console = context.console;
  RS_ASSIGN_OR_RETURN(const std::unique_ptr<OutputFile> file, OutputFile::Create(args.output));
  std::optional<LogInfo> original;
  {
    Progress progress(console, fmt::format("repairing {}", Printable(args.log)));
    RS_ASSIGN_OR_RETURN(original, RepairLog(args.log, *file, [&](uint64_t done, uint64_t total) {
                          progress.Update(done, total);
                        }));
  }
  RS_RETURN_IF_ERROR(file->Commit());
  RS_ASSIGN_OR_RETURN(const LogInfo copy, VerifyCopy(args.output));

  console.Print(
      fmt::format("{}: verified: {}\n", console.Bold(Printable(args.output)), ExtentText(copy)));
  if (original->damage_count == 0) {
    console.Print("Nothing was lost.\n");
    return ExitCode::kClean;
  }
  console.Print(fmt::format("Lost from {}:\n", Printable(args.log)));
  PrintDamage(console, *original);
  return ExitCode::kNotice;
}

Command RepairCommand() {
  return {"repair",
          "Logs",
          "Write a clean copy of what is readable of a damaged log",
          "Copies every record that can be read into a new log with checksums, index and seek "
          "table, notes in it where something is missing, and verifies the copy. Then lists what "
          "was lost. Exit status 3 if anything was.",
          {{"ringscope repair torn.tblog -o clean.tblog", "Save what is left of a log"}},
          Bind(SetUp, RunRepair)};
}

}  // namespace ringscope
