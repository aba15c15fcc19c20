#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "commands/log/log_copy.h"
#include "commands/replays/replay_run.h"
#include "commands/replays/session_reader.h"
#include "commands/shell/commands.h"
#include "commands/shell/input.h"
#include "commands/shell/options.h"
#include "commands/shell/text.h"
#include "core/perfetto/packet_facts.h"
#include "formats/inputs/input_kind.h"
#include "formats/trace/trace_import.h"

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

/// Messages on what was counted, each if there is any.
struct ImportNote {
  uint64_t TraceImportReport::*count;
  const char* noun;
  const char* text;
};
constexpr ImportNote kImportNotes[] = {
    {&TraceImportReport::untimed, "packet",
     "{} without a timestamp: placed after the previous packet of the sequence"},
    {&TraceImportReport::late, "packet",
     "{} with an earlier timestamp than the previous packet of the sequence: placed after it"},
    {&TraceImportReport::guessed_sizes, "buffer",
     "the trace does not contain the size of {}: assumed {}"},
    {&TraceImportReport::guessed_sequences, "sequence",
     "the trace does not show which buffer {} wrote to: assumed buffer 0"},
    {&TraceImportReport::empty, "packet", "left out {} without content"},
};

/// Prints what was imported of a session.
void SaySession(const TraceImportReport& report, const std::string& session, Console& console) {
  console.Say(session +
              fmt::format("{} ({}) of {} by {}, in {}", Count(report.packets, "packet"),
                          HumanSize(report.packet_bytes), Count(report.sequences, "sequence"),
                          Count(report.producers, "producer"), Count(report.chunks, "chunk")));
  if (!report.has_config)
    console.Say("the trace has no trace config, so its buffers are not described");
  for (const ImportNote& note : kImportNotes)
    if (report.*note.count > 0)
      console.Say(fmt::format(fmt::runtime(note.text), Count(report.*note.count, note.noun),
                              HumanSize(TraceSession::kDefaultBufferSize)));
  std::vector<std::string> left_out;
  for (const auto& [content, count] : report.left_out)
    left_out.push_back(fmt::format("{} {}", count, ContentName(content)));
  if (!left_out.empty())
    console.Say("left out packets that the service wrote: " + Joined(left_out));
  if (report.gaps + report.counted_losses > 0)
    console.Say(
        fmt::format("the trace reports losses, {} within its sequences and {} in its statistics: "
                    "they are gaps in the log",
                    WithCommas(report.gaps), WithCommas(report.counted_losses)));
}

/// Prints what was imported of a trace, what had to be assumed, and what its log cannot show.
void SayImported(const TraceLog& log, Console& console) {
  const size_t sessions = log.sessions.size();
  if (sessions > 1)
    console.Say(
        fmt::format("the trace has {}: each is a session of the log", Count(sessions, "session")));
  for (size_t i = 0; i < sessions; ++i)
    SaySession(log.sessions[i], sessions > 1 ? fmt::format("session {}: ", i + 1) : "", console);
  console.Say("packets that were lost before the trace was written are unknown");
}

/// Warns of what of a trace is not in the log that was made of it.
/// @return kNotice if anything is missing
ExitCode WarnOfTraceLog(Console& console, const std::string& path, const TraceLog& log) {
  WarnOfDamage(console, path, log.damage, log.damage_count);
  uint64_t malformed = 0, beyond_limits = 0, packets = 0;
  for (const TraceImportReport& session : log.sessions) {
    malformed += session.malformed;
    beyond_limits += session.beyond_limits;
    packets += session.packets;
  }
  if (malformed > 0)
    console.Warn(fmt::format("{} left out: not well-formed, or with fields that no producer writes",
                             Count(malformed, "packet")));
  if (beyond_limits > 0)
    console.Warn(fmt::format("{} left out: at most {} sequences are possible",
                             Count(beyond_limits, "packet"),
                             WithCommas(TraceImport::kMaxSequences)));
  if (packets == 0) console.Warn("the trace has no packets of producers");
  const bool is_complete = log.damage_count == 0 && malformed == 0 && beyond_limits == 0;
  return is_complete ? ExitCode::kClean : ExitCode::kNotice;
}

/// Writes a trace as a log, with progress.
Result<TraceLog> WriteTraceAsLog(Context& context, TraceLogOptions options,
                                 std::unique_ptr<ByteSource> source, ByteSink& sink) {
  Progress progress(context.console, fmt::format("importing {}", Printable(options.path)));
  options.on_read = [&](uint64_t done, uint64_t total) { progress.Update(done, total); };
  return WriteTraceLog(options, std::move(source), sink);
}

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
  AddText(app, "LOG", args.log, kLogOrTraceType,
          "Operations (.ops.jsonl), a Perfetto trace (.pftrace) or a commit log (.tblog), plain or "
          "compressed; - reads standard input",
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

/// @param source the log's bytes
Result<ExitCode> RunLogImport(const ImportArgs& args, std::unique_ptr<ByteSource> source,
                              Context& context) {
  SessionReader sessions(context, {{args.log}, std::nullopt}, "importing");
  sessions.UseOpened(std::move(source));
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

/// The folder in which packets that do not fit in memory are sorted: TMPDIR, else the output's.
std::string FolderForSorting(const std::string& output) {
  if (output == "-") return TemporaryFolder();
  const std::filesystem::path folder = std::filesystem::path(output).parent_path();
  return TemporaryFolder(folder.empty() ? "." : folder.string());
}

/// Makes a commit log from a Perfetto trace, and reports what it contains.
Result<ExitCode> RunTraceImport(const ImportArgs& args, std::unique_ptr<ByteSource> source,
                                Context& context) {
  RS_ASSIGN_OR_RETURN(const std::unique_ptr<OutputFile> file,
                      CreateOutput(context, args.output, kLogOutput, args.force));
  RS_ASSIGN_OR_RETURN(const TraceLog log, WriteTraceAsLog(context,
                                                          {.path = args.log,
                                                           .folder = FolderForSorting(args.output),
                                                           .level = args.level,
                                                           .without_payload = args.no_payload},
                                                          std::move(source), *file));
  const ExitCode code = WarnOfTraceLog(context.console, args.log, log);
  RS_RETURN_IF_ERROR(file->Commit());
  if (args.output != "-") {
    SayImported(log, context.console);
    context.console.Say(fmt::format("wrote {}: {}, {}", args.output, Count(log.records, "record"),
                                    HumanSize(log.bytes)));
  }
  return code;
}

Result<ExitCode> RunImport(const ImportArgs& args, Context& context) {
  RS_ASSIGN_OR_RETURN(KnownInput input, OpenOneInput(context, args.log));
  if (input.kind == InputKind::kTrace && !args.reads_from.empty()) {
    return Fail(ErrorCode::kUsage, "--reads-from needs a log, and this is a trace",
                {args.log, {}, {}}, "name the log that was recorded in the trace's session");
  }
  if (input.kind == InputKind::kTrace)
    return RunTraceImport(args, std::move(input.source), context);
  return RunLogImport(args, std::move(input.source), context);
}

}  // namespace

Command ImportCommand() {
  return {
      "import",
      "Write operations, a trace or another log as a commit log",
      "Reads a log in any format that ringscope knows and writes it as a .tblog: compressed, "
      "with checksums and an index. Every record is kept, including malformed requests. A log "
      "without a header gets one that marks it as imported. A Perfetto trace, plain or "
      "compressed, becomes a log as if its packets had been committed at their timestamps, in "
      "chunks of 4 KiB; what the trace lost is also missing in the log. If anything fails, no "
      "output file is left.",
      {{"ringscope import session.ops.jsonl.zst -o session.tblog",
        "Make a commit log from a text of operations"},
       {"ringscope import session.tblog --reads-from session.pftrace -o exact.tblog",
        "Add the reads of a session that was written into a file"},
       {"ringscope import session.tblog --no-payload -o shapes.tblog",
        "Make a log that can be given away: it has no content of packets"},
       {"ringscope import trace.pftrace -o trace.tblog", "Make a log of what is left in a trace"},
       {"ringscope dump --format ops a.tblog | ringscope import - -o b.tblog",
        "Convert a log to text and back"}},
      Bind(SetUp, RunImport)};
}

}  // namespace ringscope
