#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>

#include "commands/log/log_copy.h"
#include "commands/session/replay_run.h"
#include "commands/session/session_reader.h"
#include "commands/shell/commands.h"
#include "commands/shell/options.h"
#include "commands/shell/text.h"

namespace ringscope {
namespace {

struct ImportArgs {
  std::string log;
  std::string output;
  bool force = false;
  std::string reads_from;     // a trace whose reads go into the log; empty: none
  int level = kDefaultLevel;  // zstd's
  bool no_payload = false;
};

constexpr int kMaxLevel = 19;  // above, zstd needs memory out of proportion
constexpr const char* kTraceType = "TRACE";

/// Finds the reads, and reports them.
Result<FoundReads> FindReadsToStore(const ImportArgs& args, const SessionReader& sessions,
                                    Context& context) {
  RS_ASSIGN_OR_RETURN(FoundReads found, FindSessionReads(context, sessions, args.reads_from));
  if (args.output == "-") return found;
  Report report(context.console, Format::kText, "import");
  report.Title(Printable(args.log), fmt::format("reads found in {}", Printable(args.reads_from)));
  ReportFoundReads(report, found, sessions.first_record());
  RS_RETURN_IF_ERROR(report.Finish());
  return found;
}

void SetUp(CLI::App& app, ImportArgs& args) {
  InGroup(app, kInputGroup);
  AddText(app, "LOG", args.log, kLogType,
          "Operations (.ops.jsonl) or a commit log (.tblog), plain or compressed; - reads standard "
          "input",
          Need::kRequired);
  AddText(app, "--reads-from", args.reads_from, kTraceType,
          "A trace (.pftrace) that the service wrote into a file in this session: find the reads "
          "that make a replay equal to it, and store them in the log instead of its own");
  InGroup(app, kOutputGroup);
  AddText(app, "-o,--output", args.output, kFileType,
          "Log to write (.tblog); - for standard output", Need::kRequired);
  AddForce(app, args.force);
  AddFlag(app, "--no-payload", args.no_payload,
          "Leave out the content of packets, and keep their sizes, kinds, times and flags: losses, "
          "counters and sizes can still be examined, traces cannot be made");
  AddNumber(app, "--level", args.level, {1, kMaxLevel}, "N",
            "Compression level of zstd, 1 to 19 (default: 1)");
}

Result<ExitCode> RunImport(const ImportArgs& args, Context& context) {
  SessionReader sessions(context, {{args.log}, std::nullopt}, "importing");
  RS_ASSIGN_OR_RETURN(const bool more, sessions.NextSession());
  LogCopyOptions options{.level = args.level, .without_payload = args.no_payload};
  if (more && !args.reads_from.empty()) {
    options.reads_from = args.reads_from;
    RS_ASSIGN_OR_RETURN(options.reads, FindReadsToStore(args, sessions, context));
  }
  RS_ASSIGN_OR_RETURN(const std::unique_ptr<OutputFile> file,
                      CreateOutput(context, args.output, kLogOutput, args.force));
  RS_ASSIGN_OR_RETURN(const LogCopy copy, CopyLog(sessions, more, *file, options));
  RS_RETURN_IF_ERROR(file->Commit());
  if (args.output != "-")
    context.console.Say(fmt::format("wrote {}: {}, {}, {}", args.output,
                                    Count(copy.sessions, "session"), Count(copy.records, "record"),
                                    HumanSize(copy.bytes)));
  const std::string left_out = copy.LeftOut();
  if (!left_out.empty()) context.console.Warn(Printable(args.log) + ": " + left_out);
  const bool is_notice = !left_out.empty() || (options.reads && options.reads->unexplained);
  return Worse(sessions.Finish(), is_notice ? ExitCode::kNotice : ExitCode::kClean);
}

}  // namespace

Command ImportCommand() {
  return {
      "import",
      "Write operations or another log as a commit log",
      "Reads a log in any format that ringscope knows and writes it as a .tblog: compressed, "
      "with checksums and an index. Every record is kept, including malformed requests. A log "
      "without a header gets one that marks it as imported. A Perfetto trace has no commits, so "
      "no log can be made of it. If anything fails, no output file is left.",
      {{"ringscope import session.ops.jsonl.zst -o session.tblog",
        "Make a commit log from a text of operations"},
       {"ringscope import session.tblog --reads-from session.pftrace -o exact.tblog",
        "Add the reads of a session that was written into a file"},
       {"ringscope import session.tblog --no-payload -o shapes.tblog",
        "Make a log that can be given away: it has no content of packets"},
       {"ringscope dump --format ops a.tblog | ringscope import - -o b.tblog",
        "Convert a log to text and back"}},
      Bind(SetUp, RunImport)};
}

}  // namespace ringscope
