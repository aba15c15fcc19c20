#include "commands/verify.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "commands/damage_report.h"
#include "commands/info_report.h"
#include "commands/json_output.h"
#include "commands/options.h"
#include "commands/output.h"
#include "commands/text.h"
#include "formats/commit_log_check.h"

namespace ringscope {
namespace {

void SetUp(CLI::App& app, VerifyArgs& args) {
  AddLogs(app, args.logs);
  AddFormat(app, args.format, {"table", "json"});
}

void PrintVerdict(Console& console, const std::string& path, const LogInfo& info) {
  const bool good = info.damage_count == 0;
  console.Print(fmt::format(
      "{}: {}: {}\n", console.Bold(Printable(path)),
      good ? "no damage" : fmt::format("damaged in {}", Count(info.damage_count, "place")),
      ExtentText(info)));
  PrintDamage(console, info);
  if (info.unsound_requests > 0) {
    console.Print(fmt::format(
        "  {} that no service would understand: kept as the producer sent {}, and no damage.\n",
        Count(info.unsound_requests, "request"), info.unsound_requests == 1 ? "it" : "them"));
  }
  if (good && info.format == LogFormat::kCommitLog && !info.cleanly_closed) {
    console.Print(
        "  It has no index for the whole file: it was not closed, or logs were joined. "
        "'ringscope repair'\n  writes a copy that has one.\n");
  }
}

}  // namespace

Result<ExitCode> RunVerify(const VerifyArgs& args, Context& context) {
  Json document = JsonDocument("verify");
  document["logs"] = Json::array();
  bool damaged = false;
  for (const std::string& path : args.logs) {
    std::optional<LogInfo> info;
    {
      Progress progress(context.console, fmt::format("verifying {}", Printable(path)));
      RS_ASSIGN_OR_RETURN(info, VerifyLog(path, [&](uint64_t done, uint64_t total) {
                            progress.Update(done, total);
                          }));
    }
    damaged = damaged || info->damage_count > 0;
    if (args.format == "json") {
      Json log = InfoJson(path, *info, std::nullopt);
      log.erase("schema");
      log.erase("sessions");
      log["unsound_requests"] = info->unsound_requests;
      document["logs"].push_back(std::move(log));
    } else {
      PrintVerdict(context.console, path, *info);
    }
  }
  if (args.format == "json") PrintJson(context.console, document);
  return damaged ? ExitCode::kNotice : ExitCode::kClean;
}

Command VerifyCommand() {
  return {"verify",
          "Logs",
          "Check a log for damage, down to each record",
          "Reads logs whole and checks all that can be checked: frames, checksums, seek table, "
          "index, summary, record numbers, and that every record parses. "
          "Lists what is damaged: where, how many bytes, which records. Exit status 3 if there is "
          "damage.",
          {{"ringscope verify *.tblog", "Are these logs whole?"}},
          Bind(SetUp, RunVerify)};
}

}  // namespace ringscope
