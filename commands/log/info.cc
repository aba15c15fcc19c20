#include <fmt/format.h>

#include <optional>
#include <string>

#include "commands/log/info_report.h"
#include "commands/replays/input_notes.h"
#include "commands/replays/session_reader.h"
#include "commands/shell/commands.h"
#include "commands/shell/input.h"
#include "commands/shell/options.h"
#include "commands/shell/text.h"
#include "formats/inputs/log_check.h"
#include "formats/inputs/log_parts.h"

namespace ringscope {
namespace {

struct InfoArgs {
  std::string log;
  std::string format = "text";
  std::optional<uint64_t> session;
};

void SetUp(CLI::App& app, InfoArgs& args) {
  AddLog(app, args.log);
  AddSession(app, args.session);
  AddFormat(app, args.format, {"text", "json"});
}

Result<ExitCode> RunInfo(const InfoArgs& args, Context& context) {
  const LogParts parts = FindLogParts({args.log});
  std::optional<LogInfo> info;
  {
    Progress progress(context.console, fmt::format("reading {}", Printable(args.log)));
    RS_ASSIGN_OR_RETURN(std::unique_ptr<ByteSource> source, OpenParts(context, parts, args.log));
    RS_ASSIGN_OR_RETURN(info, ReadLogInfo(std::move(source), [&](uint64_t done, uint64_t total) {
                          progress.Update(done, total);
                        }));
  }
  if (args.session && *args.session > info->sessions.size())
    return tl::unexpected(NoSession(*args.session, info->sessions.size(), args.log));
  Report report(context.console, args.format, "info");
  ReportInfo(report, args.log, parts, *info, args.session);
  RS_RETURN_IF_ERROR(report.Finish());
  WarnOfDamage(context.console, args.log, info->damage, info->damage_count);
  const bool complete = info->damage_count == 0 && info->closed && !IsCutOff(*info) &&
                        !StartIsMissing(*info) && parts.problems.empty();
  return complete ? ExitCode::kClean : ExitCode::kNotice;
}

}  // namespace

Command InfoCommand() {
  return {"info",
          "Logs",
          "Summarize a log: sessions, buffers, producers, sequences",
          "Shows a log's sessions: what recorded them and when, the buffers, the producers, what "
          "happened in order (tracing sessions, data sources, flushes, triggers, clones, reads), "
          "how fast producers acknowledge flushes, each "
          "sequence with its packets, bytes and rates, the number of records of each kind, and "
          "whether the log is complete. A commit log is answered from its index at once; a log "
          "without an index is read to its end, with the same results.",
          {{"ringscope info session.tblog", "What does this log contain?"},
           {"ringscope info --format json session.tblog", "The same for a script"}},
          Bind(SetUp, RunInfo)};
}

}  // namespace ringscope
