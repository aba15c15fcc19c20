#include "commands/log/logs.h"
#include "commands/session/session_view.h"
#include "commands/shell/commands.h"
#include "formats/descriptors/descriptors.h"
#include "formats/ops/ops_jsonl.h"

namespace ringscope {
namespace {

std::string BufferText(const std::optional<uint64_t>& buffer) {
  return buffer ? fmt::format("buffer {}", *buffer) : std::string("no buffer");
}

struct DumpArgs {
  std::string log;
  Format format = Format::kText;
  bool decode = false;
  RecordCriteria filter;
  std::optional<uint64_t> session;
};

void SetUp(CLI::App& app, DumpArgs& args) {
  AddLog(app, args.log);
  AddSession(app, args.session);
  InGroup(app, kFilterGroup);
  RecordCriteria& filter = args.filter;
  AddSelection(app, filter, "records");
  AddParsed(app, "--records", filter.records, ParseRecordRange, "A..B",
            "Only records number A to B, as the text shows them; either end may be left out");
  InGroup(app, kOutputGroup);
  AddFormat(app, args.format, {Format::kText, Format::kOps, Format::kJsonl, Format::kJson},
            "text: lines for people; ops, or jsonl: operations from which 'ringscope import' makes "
            "an equal log; json: one document (default: text)");
  AddFlag(
      app, "--decode", args.decode,
      "With text: after each chunk, its fragments with their offsets and sizes, and the packets "
      "that are whole in it, in protobuf's text format");
}

/// Prints the records that passed the filter. As text a record is lines for people: number, time
/// (since the session's start, in seconds), kind and content. A commit has a line for each chunk,
/// each patched chunk and a completed flush; messages that a record has as bytes follow it as text.
class DumpPrinter {
 public:
  /// All references must outlive this.
  DumpPrinter(const DumpArgs& args, const RecordFilter& filter, Console& console)
      : args_(args),
        filter_(filter),
        console_(console),
        start_(fmt::format("{{\n  \"schema\": \"ringscope.dump/1\",\n  \"input\": {},\n  "
                           "\"records\": [\n",
                           JsonText(args.log))) {}

  void StartSession(uint64_t session) {
    session_ = session;
    identities_.clear();
  }
  /// Takes note of every record, before Print is called for those that passed: a commit shows only
  /// what differs from its producer.
  void Observe(const Op& op) {
    if (const auto* producer = std::get_if<ProducerConnected>(&op.body))
      identities_[producer->producer] = {producer->uid, producer->pid};
  }

  void Print(const Op& op, uint64_t number) {
    if (args_.format == Format::kText) return PrintText(op, number);
    const bool is_first = std::exchange(is_first_, false);
    line_.clear();
    ops_.Append(op, line_);
    if (args_.format == Format::kJson) {
      // One document, printed record by record so that memory stays small.
      console_.Print(fmt::format("{}    {{\"session\":{},\"record\":{},", is_first ? start_ : ",\n",
                                 session_, number));
      return console_.Print(std::string_view(line_).substr(1));
    }
    // An import adds such a header again; any other header is a record like all.
    const auto* header = std::get_if<LogHeader>(&op.body);
    if (is_first && header != nullptr && IsImportHeader(*header)) return;
    console_.Print(line_ += '\n');
  }

  void End() {
    if (args_.format == Format::kJson)
      console_.Print(fmt::format("{}\n  ]\n}}\n", is_first_ ? start_ : ""));
  }

 private:
  void PrintText(const Op& op, uint64_t number) {
    std::string time = "-";
    if (op.time_ns) {
      const uint64_t start = filter_.start_ns().value_or(*op.time_ns);
      const bool before = *op.time_ns < start;  // times need not be in order
      const uint64_t ns = before ? start - *op.time_ns : *op.time_ns - start;
      time = fmt::format("{}{}.{:09}", before ? "-" : "", ns / 1'000'000'000, ns % 1'000'000'000);
    }
    margin_ = fmt::format("{:>7}  {:>14}  ", number, time);
    if (const auto* commit = std::get_if<Commit>(&op.body)) return PrintCommit(*commit);
    const auto* const flush = std::get_if<FlushRequested>(&op.body);
    const std::string reason = flush == nullptr ? "" : FlushReasonText(flush->flags);
    Line(OpKindName(op.body.index()),
         DescribeRecord(op.body) + (reason.empty() ? "" : fmt::format(" ({})", reason)));
    const auto print = [&](const char* message, const std::string& bytes) {
      Block(descriptors::Text(message, wire::AsBytes(bytes)));
    };
    VisitRecord(
        op.body, [&](const TraceConfigRecord& record) { print("TraceConfig", record.config); },
        [&](const DataSourceSetUp& source) { print("DataSourceConfig", source.config); },
        [&](const CloneRequested& clone) { print("CloneSessionRequest", clone.request); });
  }

  void PrintCommit(const Commit& commit) {
    const bool well_formed = parser_.Parse(commit.request);
    const std::string all = CommitSuffix(commit);
    bool any = false;
    const auto line = [&](const char* kind, const std::string& what) {
      Line(kind, std::exchange(any, true) ? what : what + all);
    };
    for (const ChunkToMove& chunk : parser_.chunks()) {
      if (!filter_.KeepsChunk(commit.producer, chunk)) continue;
      const auto header = chunk.header();
      const std::string name =
          header
              ? fmt::format("{} chunk {}", ToString(SequenceKey{commit.producer, header->writer}),
                            Raw(header->chunk))
              : fmt::format("producer {}", Raw(commit.producer));
      // Without its bytes the chunk is described by its place.
      const std::string place =
          chunk.page && chunk.data
              ? fmt::format(", page {} index {}", *chunk.page, chunk.index.value_or(0))
              : "";
      line("commit", fmt::format("{} to {}: {}{}", name, BufferText(chunk.target_buffer),
                                 DescribeChunk(chunk), place));
      if (args_.decode) PrintFragments(commit.producer, chunk);
    }
    for (const ChunkToPatch& patch : parser_.patches())
      if (filter_.KeepsPatch(commit.producer, patch))
        line("patch", fmt::format("{}:{} chunk {} in {}: {}", Raw(commit.producer),
                                  patch.writer.value_or(0), patch.chunk.value_or(0),
                                  BufferText(patch.target_buffer), DescribePatches(patch)));
    const std::string producer = fmt::format("producer {}: ", Raw(commit.producer));
    if (parser_.flush_request_id())
      line("commit", fmt::format("{}completes flush {}", producer, *parser_.flush_request_id()));
    if (!well_formed)
      line("commit", producer + "malformed request of " + Count(commit.request.size(), "byte"));
    else if (!any)
      line("commit", producer + "empty request");
  }

  /// Describes the commit as a whole, after its first line.
  std::string CommitSuffix(const Commit& commit) {
    std::string text;
    if (commit.origin != Origin::kImported) text += fmt::format(" [{}]", Name(commit.origin));
    const Identity* const identity = FindIn(identities_, commit.producer);
    if (commit.uid && (identity == nullptr || identity->uid != *commit.uid))
      text += fmt::format(" uid {}", *commit.uid);
    if (commit.pid && (identity == nullptr || identity->pid != *commit.pid))
      text += fmt::format(" pid {}", *commit.pid);
    if (commit.part > 0 || !commit.last)
      text += fmt::format(" (part {} of request {}{})", commit.part, commit.number,
                          commit.last ? ", the last" : "");
    return text;
  }

  /// Prints the fragments of a chunk as comments: offset (as patches count it, from the payload's
  /// first byte), size, and what it is of its packet; a whole packet as text. After them, what the
  /// chunk has after its last fragment.
  void PrintFragments(ProducerId producer, const ChunkToMove& chunk) {
    const std::optional<ChunkCommit> commit = ToChunkCommit(producer, chunk);
    if (!commit) return;
    ReadWrittenChunk(*commit, written_);
    for (size_t i = 0; i < written_.fragments.size(); ++i) {
      const WrittenFragment& fragment = written_.fragments[i];
      const bool is_empty = fragment.kind == FragmentKind::kWhole && fragment.size == 0;
      Block(fmt::format("# fragment {} at {}: {}{}", i, fragment.offset,
                        Count(fragment.size, "byte"),
                        is_empty ? ", empty" : RowOf(fragment.kind).text));
      const std::optional<Bytes> body = BodyAt(commit->payload, fragment.offset);
      if (!body || fragment.kind != FragmentKind::kWhole || is_empty) continue;
      Block("packet {");
      margin_ += "  ";
      Block(descriptors::Text("TracePacket", *body));
      margin_.resize(margin_.size() - 2);
      Block("}");
    }
    std::string rest;
    if (written_.end == ChunkEnd::kAborted)
      rest = "the marker of a packet that its writer aborted";
    else if (written_.end == ChunkEnd::kBroken)
      rest = Count(written_.broken_bytes, "byte") + " that are not a fragment";
    else if (written_.unfinished_bytes > 0)
      rest = Count(written_.unfinished_bytes, "byte") + " of a fragment that may still grow";
    if (!rest.empty()) Block(fmt::format("# at {}: {}", written_.bytes, rest));
  }

  /// Prints the lines of a text below the record's.
  void Block(std::string_view text) {
    while (!text.empty()) {
      const size_t end = std::min(text.find('\n'), text.size());
      PrintLine(fmt::format("{}  {}", margin_, text.substr(0, end)));
      text.remove_prefix(std::min(end + 1, text.size()));
    }
  }
  /// Prints a line; only a record's first line has number and time.
  void Line(std::string_view kind, const std::string& what) {
    PrintLine(fmt::format("{}{:<12} {}", margin_, kind, what));
    margin_.assign(margin_.size(), ' ');
  }
  void PrintLine(const std::string& line) {
    constexpr size_t kIndent = 25;  // columns of number and time, in front of each line
    console_.PrintLine(line, kIndent);
  }

  const DumpArgs& args_;
  const RecordFilter& filter_;
  Console& console_;
  const std::string start_;  // of a document
  OpLineWriter ops_;
  std::string line_;  // scratch
  bool is_first_ = true;
  uint64_t session_ = 0;
  WrittenChunk written_;  // scratch
  CommitRequestParser parser_;
  std::map<ProducerId, Identity> identities_;  // of the session's producers
  std::string margin_;                         // number and time of the current record
};

Result<ExitCode> RunDump(const DumpArgs& args, Context& context) {
  if (args.format != Format::kText && args.decode)
    return Fail(ErrorCode::kUsage, "--decode is for --format text", {},
                "the other formats have packets as bytes");
  SessionReader sessions(context, {.paths = {args.log}, .only = args.session}, "reading");
  sessions.recording().KeepAsLogged();
  RecordFilter filter(args.filter);
  DumpPrinter printer(args, filter, context.console);
  bool is_past = false, any = false, kept = false;
  while (!is_past) {
    RS_ASSIGN_OR_RETURN(const bool more, sessions.NextSession());
    if (!more) break;
    if (args.decode) RS_RETURN_IF_ERROR(ExpectPayload(sessions, "--decode"));
    // The time of its start, if the log shows that before the first commit.
    std::optional<uint64_t> start_ns;
    const auto is_enough = [](const SessionIndex& index) { return index.commits > 0; };
    if (!sessions.recording().is_read_once())
      if (const auto index = sessions.recording().Index(sessions.place(), is_enough))
        start_ns = index->start_ns;
    filter.StartSession(start_ns);
    printer.StartSession(sessions.session());
    while (!is_past) {
      RS_ASSIGN_OR_RETURN(const std::optional<Op> op, sessions.Next());
      if (!op) break;
      printer.Observe(*op);
      any = true;
      if (filter.Keeps(*op, sessions.record_number())) {
        printer.Print(*op, sessions.record_number());
        kept = true;
      }
      // A reader that closed its end stops the dump, which may be long.
      if (context.console.streams().out.reader_gone()) return ExitCode::kClean;
      is_past = filter.IsPast(sessions.record_number());
    }
  }
  if (is_past) sessions.Stop();
  printer.End();
  if (any && !kept) context.console.Warn(fmt::format("{}: no record passes the filters", args.log));
  return sessions.Finish();
}

}  // namespace

Command DumpCommand() {
  return {"dump",
          "Print a log's records",
          "Prints records: all, or those that pass the filters. A record must pass each filter; if "
          "a filter has several values, one of them must match. As text a record is a line with "
          "its number, its time since the session's start in seconds, its kind, and its fields, "
          "named as in operations (.ops.jsonl); a commit has a line for each chunk.",
          {{"ringscope dump session.tblog | less", "Read a log"},
           {"ringscope dump --seq 2:17 --from 1.2s --to 1.5s session.tblog",
            "What did this writer commit then?"},
           {"ringscope dump --decode --seq 2:17 session.tblog | less",
            "What is in the packets of this writer?"},
           {"ringscope dump --decode --records 120..120 session.tblog",
            "What exactly is in the chunks of this commit?"},
           {"ringscope dump --format ops session.tblog > session.ops.jsonl",
            "Get a text that can be edited and imported again"}},
          Bind(SetUp, RunDump)};
}

}  // namespace ringscope
