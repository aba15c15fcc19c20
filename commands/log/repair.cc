#include <fmt/format.h>

#include <string>

#include "commands/log/info_report.h"
#include "commands/replays/damage_report.h"
#include "commands/replays/log_words.h"
#include "commands/shell/commands.h"
#include "commands/shell/input.h"
#include "commands/shell/options.h"
#include "commands/shell/output.h"
#include "commands/shell/text.h"
#include "formats/inputs/log_check.h"
#include "formats/inputs/log_parts.h"
#include "formats/log/commit_log_writer.h"

namespace ringscope {
namespace {

struct RepairArgs {
  std::string log;
  std::string output;
  bool force = false;
};

void SetUp(CLI::App& app, RepairArgs& args) {
  AddLog(app, args.log, Traces::kRefused);
  InGroup(app, kOutputGroup);
  AddText(app, "-o,--output", args.output, kFileType, "Clean copy to write (.tblog)",
          Need::kRequired);
  AddForce(app, args.force);
}

/// Verifies the copy before it is in its place: one that is not clean would be trusted.
Result<LogInfo> VerifyCopy(const OutputFile& file) {
  RS_ASSIGN_OR_RETURN(std::unique_ptr<ByteSource> source, OpenByteSource(file.written_to()));
  Result<LogInfo> copy = VerifyLog(std::move(source));
  if (!copy || (copy->damage_count == 0 && copy->cleanly_closed)) return copy;
  return Fail(ErrorCode::kIo,
              copy->damage.empty()
                  ? "the copy did not verify: it has no index"
                  : fmt::format("the copy did not verify: {}", copy->damage.front().ToString()),
              {file.path(), {}, {}}, "it was removed; check the file system and try again");
}

Result<ExitCode> RunRepair(const RepairArgs& args, Context& context) {
  if (args.output == "-") {
    return Fail(ErrorCode::kUsage, "the copy is verified, so it cannot go to standard output", {},
                "name a file");
  }
  const LogParts parts = FindLogParts({args.log}, *context.folders);
  Console& console = context.console;
  RS_ASSIGN_OR_RETURN(const std::unique_ptr<OutputFile> file,
                      CreateOutput(context, args.output, kLogOutput, args.force));
  if (file->written_to().empty()) {
    return Fail(ErrorCode::kUsage, "the copy is verified, so it must be a file",
                {args.output, {}, {}}, "name a file to write");
  }
  std::optional<LogInfo> original;
  {
    Progress progress(console, fmt::format("repairing {}", Printable(args.log)));
    std::unique_ptr<ByteSource> source;
    if (parts.paths.size() == 1) {
      RS_ASSIGN_OR_RETURN(source, OpenInput(context, parts.paths.front()));
    } else {
      RS_ASSIGN_OR_RETURN(source, OpenJoined(parts.paths, args.log));
    }
    RS_ASSIGN_OR_RETURN(
        original, RepairLog(std::move(source), *file,
                            [&](uint64_t done, uint64_t total) { progress.Update(done, total); }));
  }
  RS_ASSIGN_OR_RETURN(const LogInfo copy, VerifyCopy(*file));
  RS_RETURN_IF_ERROR(file->Commit());

  Report report(console, "text", "repair");
  report.Title(Printable(args.output), "verified: " + ExtentText(copy));
  if (parts.paths.size() > 1)
    report.Paragraph(fmt::format("It has all {}: {}.", Count(parts.paths.size(), "part"),
                                 Shortened(parts.paths)));
  for (const std::string& problem : parts.problems)
    report.Paragraph("Parts: " + Printable(problem) + ".");
  if (IsCutOff(copy))
    report.Paragraph(original->closed
                         ? std::string("The end is missing. The copy is marked as cut off.")
                         : fmt::format("Not complete: {} The copy is marked as cut off.",
                                       IncompleteText(parts.paths.back(), *original)));
  if (original->damage_count == 0) {
    if (!IsCutOff(copy) && parts.problems.empty()) {
      report.Print("Nothing was lost.\n");
      return ExitCode::kClean;
    }
    report.Print("Nothing of what was there was lost.\n");
    return ExitCode::kNotice;
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
          "notes where records are missing, and verifies the copy. Then lists what was lost. All "
          "parts of a recording become one file. The copy of a log that was not closed is marked "
          "as cut off.",
          {{"ringscope repair torn.tblog -o clean.tblog", "Save the readable parts of a log"}},
          Bind(SetUp, RunRepair),
          {.clean = "Done; the log was complete.", .notice = "Done, and something was lost."}};
}

}  // namespace ringscope
