#include "commands/log/logs.h"
#include "commands/session/replay_run.h"
#include "commands/shell/commands.h"
#include "core/log/payload_mask.h"

namespace ringscope {
namespace {

/// Copies record by record.
class LogCopier {
 public:
  LogCopier(SessionReader& sessions, CommitLogWriter& writer, const LogCopyOptions& options)
      : sessions_(sessions), writer_(writer), options_(options) {}

  /// Copies the session that the reader is at. @return true if it was cut off
  Result<bool> CopySession() {
    std::optional<InsertedReads> with_reads;
    if (options_.reads)
      with_reads.emplace(static_cast<OpSource&>(sessions_), options_.reads->reads);
    OpSource& records = with_reads ? static_cast<OpSource&>(*with_reads) : sessions_;
    std::optional<uint64_t> last_time_ns;
    for (bool is_first = true;; is_first = false) {
      RS_ASSIGN_OR_RETURN(std::optional<Op> op, records.Next());
      RS_RETURN_IF_ERROR(NoteUnknown(op ? op->time_ns : std::nullopt, last_time_ns));
      if (!op) break;
      if (op->time_ns) last_time_ns = op->time_ns;
      if (auto* const gap = std::get_if<RecorderGap>(&op->body))
        gap->is_damage = false;  // the copy has a record of it
      // Within a session, these are of the parts that become one.
      const auto* const header = std::get_if<LogHeader>(&op->body);
      const auto* const end = std::get_if<RecordingEnded>(&op->body);
      if (header == nullptr && (end == nullptr || end->ending != RecordingEnding::kNextPart)) {
        RS_RETURN_IF_ERROR(Append(*op));
      } else if (header != nullptr && is_first) {
        LogHeader copy = *header;
        copy.first_part = header->part;  // no parts are beside the copy
        RS_RETURN_IF_ERROR(Append({op->time_ns, std::move(copy)}));
      }
    }
    if (options_.reads)  // states where the reads come from
      RS_RETURN_IF_ERROR(Append(
          {std::nullopt, Note{fmt::format("the reads in this log were found by comparison with {}: "
                                          "they explain {} of {} of it",
                                          options_.reads_from, options_.reads->explained,
                                          Count(options_.reads->packets, "packet"))}}));
    // The copy is closed, so that only a record can state that what it is a copy of was not.
    if (sessions_.is_cut_off())
      RS_RETURN_IF_ERROR(
          Append({last_time_ns, RecordingEnded{.ending = RecordingEnding::kCutOff}}));
    return sessions_.is_cut_off();
  }

  /// Gives a log that has no header, or lost it, one.
  Status Start() {
    if (std::exchange(has_header_, true)) return {};
    return writer_.Append(Masked({std::nullopt, ImportHeader()}));
  }

 private:
  const Op& Masked(const Op& op) { return options_.without_payload ? mask_.Apply(op) : op; }

  Status Append(const Op& op) {
    if (std::holds_alternative<LogHeader>(op.body)) has_header_ = true;
    RS_RETURN_IF_ERROR(Start());
    return writer_.Append(Masked(op));
  }

  /// Appends a gap for records that were skipped as their kind is not known.
  Status NoteUnknown(std::optional<uint64_t> until_ns, std::optional<uint64_t> last_time_ns) {
    const uint64_t before = std::exchange(unknown_, sessions_.unknown_records());
    if (unknown_ == before) return {};
    RecorderGap gap{.from_ns = last_time_ns, .to_ns = until_ns};
    gap.reason = "records of a kind that this program does not know were left out of this copy";
    gap.records = unknown_ - before;
    return Append({std::nullopt, std::move(gap)});
  }

  SessionReader& sessions_;
  CommitLogWriter& writer_;
  const LogCopyOptions& options_;
  PayloadMask mask_;
  bool has_header_ = false;
  uint64_t unknown_ = 0;  // unknown records, noted already
};

struct ImportArgs {
  std::string log;
  std::string output;
  bool force = false;
  std::string reads_from;     // a trace whose reads go into the log; empty: none
  int level = kDefaultLevel;  // zstd's
  bool no_payload = false;
};

constexpr int kMaxLevel = 19;  // above, zstd needs memory out of proportion

void SetUp(CLI::App& app, ImportArgs& args) {
  InGroup(app, kInputGroup);
  AddText(app, "LOG", args.log, kLogType,
          "Operations (.ops.jsonl) or a commit log (.tblog), plain or compressed; - reads standard "
          "input",
          Need::kRequired);
  AddText(app, "--reads-from", args.reads_from, "TRACE",
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
  sessions.recording().KeepAsLogged();
  RS_ASSIGN_OR_RETURN(const bool more, sessions.NextSession());
  LogCopyOptions options{.level = args.level, .without_payload = args.no_payload};
  if (more && !args.reads_from.empty()) {
    options.reads_from = args.reads_from;
    RS_ASSIGN_OR_RETURN(options.reads, FindSessionReads(context, sessions, args.reads_from));
    if (args.output != "-") {
      Report report(context.console, Format::kText, "import");
      report.Title(Printable(args.log), "reads found in " + Printable(args.reads_from));
      ReportFoundReads(report, *options.reads, sessions.first_record());
    }
  }
  RS_ASSIGN_OR_RETURN(const std::unique_ptr<OutputFile> file,
                      CreateOutput(context, args.output, kLogOutput, args.force));
  RS_ASSIGN_OR_RETURN(const LogCopy copy, CopyLog(sessions, more, *file, options));
  RS_RETURN_IF_ERROR(file->Commit());
  if (args.output != "-")
    context.console.Say(fmt::format("wrote {}: {}, {}, {}", args.output,
                                    Count(copy.sessions, "session"), Count(copy.records, "record"),
                                    HumanSize(copy.bytes)));
  if (!copy.left_out.empty()) context.console.Warn(Printable(args.log) + ": " + copy.left_out);
  const bool is_notice = !copy.left_out.empty() || (options.reads && options.reads->unexplained);
  return Worse(sessions.Finish(), is_notice ? ExitCode::kNotice : ExitCode::kClean);
}

}  // namespace

Result<LogCopy> CopyLog(SessionReader& sessions, bool more, ByteSink& out,
                        const LogCopyOptions& options) {
  RS_ASSIGN_OR_RETURN(
      const std::unique_ptr<CommitLogWriter> writer,
      CommitLogWriter::Create(out, {.level = options.level, .threads = CompressionThreads()}));
  LogCopier copier(sessions, *writer, options);
  LogCopy copy;
  for (; more; ++copy.sessions) {
    RS_ASSIGN_OR_RETURN(const bool is_cut_off, copier.CopySession());
    copy.is_cut_off |= is_cut_off;
    if (options.reads) RS_RETURN_IF_ERROR(ExpectNoFurtherSession(sessions, "a trace"));
    RS_ASSIGN_OR_RETURN(more, sessions.NextSession());
  }
  RS_RETURN_IF_ERROR(copier.Start());
  RS_RETURN_IF_ERROR(writer->Close());
  copy.records = writer->records();
  copy.bytes = writer->bytes_written();
  if (const uint64_t unknown = sessions.unknown_records(); unknown > 0)
    copy.left_out = Count(unknown, "record") + " of kinds that this version does not know left out";
  return copy;
}

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
