#include <fmt/format.h>

#include <string>
#include <vector>

#include "commands/log/info_report.h"
#include "commands/replays/damage_report.h"
#include "commands/replays/log_words.h"
#include "commands/shell/commands.h"
#include "commands/shell/input.h"
#include "commands/shell/options.h"
#include "commands/shell/text.h"
#include "formats/inputs/log_check.h"
#include "formats/inputs/log_parts.h"

namespace ringscope {
namespace {

struct VerifyArgs {
  std::vector<std::string> logs;
  std::string format = "text";
};

void SetUp(CLI::App& app, VerifyArgs& args) {
  AddLogs(app, args.logs, Traces::kRefused);
  AddFormat(app, args.format, {"text", "json"});
}

void ReportVerdict(Report& report, const std::string& path, const LogInfo& info) {
  const bool good = info.damage_count == 0;
  report.Title(Printable(path),
               fmt::format("{}: {}",
                           good ? "no damage"
                                : fmt::format("damaged in {}", Count(info.damage_count, "place")),
                           ExtentText(info)));
  AddLogData(report, path, info);
  PrintDamage(report, info);
  report.Data("unsound_requests", info.unsound_requests);
  if (info.unsound_requests > 0) {
    report.Print(fmt::format(
        "  {} malformed as the producer sent {}: no service would accept {}, but this is not "
        "damage.\n",
        Count(info.unsound_requests, "request") + (info.unsound_requests == 1 ? " is" : " are"),
        info.unsound_requests == 1 ? "it" : "them", info.unsound_requests == 1 ? "it" : "them"));
  }
  if (!info.closed && !info.sessions.empty()) {
    report.Paragraph("Not complete: " + IncompleteText(path, info) +
                         " 'ringscope repair' writes a copy that is closed.",
                     2);
  } else if (IsCutOff(info)) {
    report.Paragraph("Not complete: " + std::string(kCutOffText) + ".", 2);
  } else if (good && info.format == LogFormat::kCommitLog && !info.cleanly_closed) {
    report.Print(
        "  It has no index for the whole file, as logs were concatenated.\n  'ringscope repair' "
        "writes a copy that has one.\n");
  }
}

Result<ExitCode> RunVerify(const VerifyArgs& args, Context& context) {
  Report report(context.console, args.format, "verify");
  const LogParts parts = FindLogParts(args.logs, *context.folders);
  bool notice = !parts.problems.empty();
  for (const std::string& path : parts.paths) {
    std::optional<LogInfo> info;
    {
      Progress progress(context.console, fmt::format("verifying {}", Printable(path)));
      RS_ASSIGN_OR_RETURN(std::unique_ptr<ByteSource> source, OpenInput(context, path));
      RS_ASSIGN_OR_RETURN(info, VerifyLog(std::move(source), [&](uint64_t done, uint64_t total) {
                            progress.Update(done, total);
                          }));
    }
    notice = notice || info->damage_count > 0 || !info->closed || IsCutOff(*info);
    report.AddItem("logs", [&] { ReportVerdict(report, path, *info); });
  }
  report.Data("parts_problems", Json(parts.problems));
  for (const std::string& problem : parts.problems)
    report.Paragraph("Parts: " + Printable(problem) + ".");
  RS_RETURN_IF_ERROR(report.Finish());
  return notice ? ExitCode::kNotice : ExitCode::kClean;
}

}  // namespace

Command VerifyCommand() {
  return {"verify",
          "Logs",
          "Check a log for damage, down to each record",
          "Reads logs to their end and checks frames, checksums, seek table, index, summary, "
          "record numbers, and that every record parses. Lists the damage: where, how many bytes, "
          "which records. If one part of a recording is named, all of its parts are verified, and "
          "parts that are missing or of another recording are reported.",
          {{"ringscope verify *.tblog", "Are these logs undamaged?"}},
          Bind(SetUp, RunVerify),
          {.clean = "Done; there is no damage.",
           .notice = "There is damage, a log was not closed, or parts are missing."}};
}

}  // namespace ringscope
