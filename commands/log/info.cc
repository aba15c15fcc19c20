#include <fmt/format.h>

#include <optional>
#include <string>

#include "commands/log/info_report.h"
#include "commands/replays/imported_trace.h"
#include "commands/replays/muted_context.h"
#include "commands/replays/session_reader.h"
#include "commands/shell/commands.h"
#include "commands/shell/input.h"
#include "commands/shell/options.h"
#include "commands/shell/spooled_input.h"
#include "commands/shell/text.h"
#include "commands/smb/chunk_latency.h"
#include "formats/inputs/log_check.h"
#include "formats/inputs/log_parts.h"

namespace ringscope {
namespace {

struct InfoArgs {
  std::string log;
  std::string format = "text";
  bool latency = false;
  std::optional<uint64_t> session;
};

/// Of a log up to this size, looks at shared memory are read without being asked for.
constexpr uint64_t kReadUnasked = uint64_t{64} << 20;

void SetUp(CLI::App& app, InfoArgs& args) {
  AddLog(app, args.log);
  AddSession(app, args.session);
  AddFlag(
      app, "--latency", args.latency,
      "Also how long chunks took for each step of their way, by producer: in the shared memory, "
      "by the looks of the log, and in the buffers, by a replay");
  AddFormat(app, args.format, {"text", "json"});
}

/// Reports of sessions what their summaries do not have, one session after the other.
class SessionDetails {
 public:
  SessionDetails(const InfoArgs& args, const LogInfo& info, Context& context, Report& report)
      : args_(args),
        info_(info),
        context_(context),
        report_(report),
        sessions_(context, {.paths = {args.log}, .only = args.session, .quiet = true},
                  args.latency ? "replaying" : "reading") {}

  Status Add(const SessionSummary& session, uint64_t number) {
    const uint64_t looks = session.counts[OpKindOf<SharedMemoryLook>()];
    if (!args_.latency && looks == 0) return {};
    if (!args_.latency && (args_.log == "-" || info_.file_bytes > kReadUnasked)) {
      report_.Print("\n");
      report_.Paragraph(
          fmt::format("{} in this log show{} how full the shared memory was; --latency reads them.",
                      Count(looks, "look"), looks == 1 ? "s" : ""));
      return {};
    }
    do {
      RS_ASSIGN_OR_RETURN(const bool more, sessions_.NextSession());
      if (!more) return {};
    } while (sessions_.session() < number);
    return args_.latency ? ReportLatency(context_, sessions_, report_)
                         : ReportOccupancy(sessions_, report_);
  }

 private:
  const InfoArgs& args_;
  const LogInfo& info_;
  Context& context_;
  Report& report_;
  SessionReader sessions_;
};

Result<ExitCode> RunInfo(const InfoArgs& args, Context& context) {
  std::unique_ptr<SpooledInput> standard_input;
  if (args.latency && args.log == "-") {
    RS_ASSIGN_OR_RETURN(standard_input, SpooledInput::Read(context));
  }
  const LogParts parts = FindLogParts({args.log}, *context.folders);
  std::optional<LogInfo> info;
  {
    Progress progress(context.console, fmt::format("reading {}", Printable(args.log)));
    std::unique_ptr<ByteSource> source;
    if (parts.paths.size() == 1) {
      RS_ASSIGN_OR_RETURN(source, OpenInput(context, parts.paths.front()));
      RS_ASSIGN_OR_RETURN(source, AsLog(context, parts.paths.front(), std::move(source)));
    } else {
      RS_ASSIGN_OR_RETURN(source, OpenJoined(parts.paths, args.log));
    }
    RS_ASSIGN_OR_RETURN(info, ReadLogInfo(std::move(source), [&](uint64_t done, uint64_t total) {
                          progress.Update(done, total);
                        }));
  }
  if (args.session && *args.session > info->sessions.size()) {
    return Fail(ErrorCode::kUsage,
                fmt::format("no session {}: the log has {}", *args.session,
                            Count(info->sessions.size(), "session")),
                {args.log, {}, {}});
  }
  Report report(context.console, args.format, "info");
  const ImportedTrace trace = context.imported->Find(parts.paths.front());
  // What is damaged is reported once.
  MutedContext muted(context, MutedContext::Progress::kShown);
  SessionDetails details(args, *info, muted.context(), report);
  RS_RETURN_IF_ERROR(ReportInfo(report, args.log, parts, *info, args.session, trace,
                                [&](const SessionSummary& session, uint64_t number) {
                                  return details.Add(session, number);
                                }));
  RS_RETURN_IF_ERROR(report.Finish());
  WarnOfDamage(context.console, args.log, info->damage, info->damage_count);
  const bool complete = info->damage_count == 0 && info->closed && !IsCutOff(*info) &&
                        !StartIsMissing(*info) && parts.problems.empty() &&
                        trace != ImportedTrace::kDamaged;
  return complete ? ExitCode::kClean : ExitCode::kNotice;
}

}  // namespace

Command InfoCommand() {
  return {
      "info",
      "Logs",
      "Summarize a log: sessions, buffers, producers, sequences",
      "Shows a log's sessions: what recorded them and when, the buffers, the producers, what "
      "happened in order (tracing sessions, data sources, flushes, triggers, clones), data "
      "sources and producers without data, how fast producers acknowledge flushes, each "
      "sequence with its packets, bytes and rates, the number of records of each kind, and "
      "whether the log is complete. A commit log is answered from its index at once; a log "
      "without an index is read to its end, with the same results. Looks at the producers' "
      "shared memory are read where the log has at most 64 MiB: how it was divided, and how full "
      "it was.",
      {{"ringscope info session.tblog", "What does this log contain?"},
       {"ringscope info --format json session.tblog", "The same for a script"},
       {"ringscope info --latency session.tblog",
        "How long did chunks take from their writer until they were read?"}},
      Bind(SetUp, RunInfo)};
}

}  // namespace ringscope
