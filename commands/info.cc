#include "commands/info.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "commands/info_report.h"
#include "commands/json_output.h"
#include "commands/options.h"
#include "commands/session_reader.h"
#include "commands/text.h"
#include "formats/commit_log_check.h"

namespace ringscope {
namespace {

void SetUp(CLI::App& app, InfoArgs& args) {
  AddLog(app, args.log);
  AddFormat(app, args.format, {"table", "json"});
  AddSession(app, args.session);
}

}  // namespace

Result<ExitCode> RunInfo(const InfoArgs& args, Context& context) {
  std::optional<LogInfo> info;
  {
    Progress progress(context.console, fmt::format("reading {}", Printable(args.log)));
    RS_ASSIGN_OR_RETURN(info, ReadLogInfo(args.log, [&](uint64_t done, uint64_t total) {
                          progress.Update(done, total);
                        }));
  }
  if (args.session && *args.session > info->sessions.size()) {
    return Fail(ErrorCode::kUsage,
                fmt::format("no session {}: the log has {}", *args.session,
                            Count(info->sessions.size(), "session")),
                {args.log, {}, {}});
  }
  if (args.format == "json") {
    PrintJson(context.console, InfoJson(args.log, *info, args.session));
  } else {
    PrintInfo(context.console, args.log, *info, args.session);
  }
  WarnOfDamage(context.console, args.log, info->damage, info->damage_count);
  return info->damage_count > 0 ? ExitCode::kNotice : ExitCode::kClean;
}

Command InfoCommand() {
  return {"info",
          "Logs",
          "Say what a log holds",
          "Shows a log's sessions: who recorded what and when, the buffers, the producers, each "
          "sequence with its packets, bytes and rates, the records by kind, and whether the log is "
          "whole. A commit log answers from its index at once; without one the log is read "
          "through, with the same answers.",
          {{"ringscope info session.tblog", "What is in there?"},
           {"ringscope info --format json session.tblog", "The same for a script"}},
          Bind(SetUp, RunInfo)};
}

}  // namespace ringscope
