#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "commands/log/dump_text.h"
#include "commands/replays/log_words.h"
#include "commands/replays/session_reader.h"
#include "commands/shell/commands.h"
#include "commands/shell/config_file.h"
#include "commands/shell/options.h"
#include "commands/shell/text.h"
#include "commands/shell/values.h"
#include "core/log/record_filter.h"
#include "formats/log/commit_log_writer.h"
#include "formats/ops/ops_jsonl.h"

namespace ringscope {
namespace {

struct DumpArgs {
  std::string log;
  std::string format = "text";
  ChunkDetail detail;
  std::string descriptor;
  RecordCriteria filter;
  TimeBase time = TimeBase::kSession;
  std::optional<uint64_t> session;
};

Result<std::string> ParseKind(std::string_view text) {
  const std::vector<std::string> kinds = FilterKinds();
  if (std::find(kinds.begin(), kinds.end(), text) != kinds.end()) return std::string(text);
  return Fail(ErrorCode::kUsage, fmt::format("there is no kind '{}'", text), {},
              DidYouMean(text, kinds, "see 'ringscope help dump'"));
}

Result<ProducerId> ParseProducer(std::string_view text) {
  RS_ASSIGN_OR_RETURN(const uint64_t id, ParseNumber(text, UINT16_MAX));
  return ProducerId{static_cast<uint16_t>(id)};
}

void SetUp(CLI::App& app, DumpArgs& args) {
  AddLog(app, args.log);
  AddSession(app, args.session);
  InGroup(app, kFilterGroup);
  RecordCriteria& filter = args.filter;
  AddParsedList(app, "--kind", filter.kinds, ParseKind, "KIND",
                "Only records of this kind; may be repeated. Kinds: " + Joined(FilterKinds()));
  AddParsedList(app, "--producer", filter.producers, ParseProducer, "ID",
                "Only records of this producer; may be repeated");
  AddSelection(app, filter, "records");
  AddParsed(app, "--records", filter.records, ParseRecordRange, "A..B",
            "Only records number A to B, as the text shows them; either end may be left out");
  InGroup(app, kOutputGroup);
  AddChoice(app, "--format", args.format, {"text", "ops", "jsonl", "json"},
            "text: lines for people; ops, or jsonl: operations from which 'ringscope import' makes "
            "an equal log; json: one document (default: text)");
  AddFlag(
      app, "--decode", args.detail.decode,
      "With text: after each chunk, the packets that are whole in it, in protobuf's text format");
  AddFlag(app, "--fragments", args.detail.fragments,
          "With text: after each chunk, its fragments: offset, size, whether a packet begins or "
          "continues there, and the names of the packet's fields");
  AddFlag(app, "--hex", args.detail.hex, "With text: after each chunk, its bytes, header included");
  AddDescriptor(app, args.descriptor);
  AddTimeBase(app, args.time);
}

/// Prints the records that passed the filter.
class DumpPrinter {
 public:
  DumpPrinter(const DumpArgs& args, const RecordFilter& filter, const Descriptors& descriptors,
              Console& console)
      : format_(args.format),
        console_(console),
        text_(filter, descriptors, args.detail, args.time) {}

  void StartSession(uint64_t session) {
    session_ = session;
    text_.StartSession();
  }
  /// Takes note of every record, before Print is called for those that passed.
  void Observe(const Op& op) { text_.Observe(op); }

  void Print(const Op& op, uint64_t number) {
    if (format_ == "text") {
      for (const std::string& line : text_.Format(op, number))
        console_.PrintLine(line, RecordText::kMargin);
      return;
    }
    const bool is_first = std::exchange(is_first_, false);
    line_.clear();
    ops_.Append(op, line_);
    if (format_ == "json") {
      // One document, printed record by record so that memory stays small.
      console_.Print(fmt::format("{}    {{\"session\":{},\"record\":{},", is_first ? kStart : ",\n",
                                 session_, number));
      return console_.Print(std::string_view(line_).substr(1));
    }
    // An import adds such a header again; any other header is a record like all.
    const auto* header = std::get_if<LogHeader>(&op.body);
    if (is_first && header != nullptr && IsImportHeader(*header)) return;
    console_.Print(line_ += '\n');
  }

  const SessionClock& clock() const { return text_.clock(); }
  void End() {
    if (format_ == "json") console_.Print(fmt::format("{}\n  ]\n}}\n", is_first_ ? kStart : ""));
  }

 private:
  static constexpr const char* kStart =
      "{\n  \"schema\": \"ringscope.dump/1\",\n  \"records\": [\n";

  const std::string format_;
  Console& console_;
  RecordText text_;
  OpLineWriter ops_;
  std::string line_;
  bool is_first_ = true;
  uint64_t session_ = 0;
};

Result<ExitCode> RunDump(const DumpArgs& args, Context& context) {
  if (args.format != "text" && (args.detail.any() || !args.descriptor.empty()))
    return Fail(ErrorCode::kUsage,
                "--decode, --fragments, --hex and --descriptor are for --format text", {},
                "the other formats have packets as bytes");
  RS_ASSIGN_OR_RETURN(const DescriptorChoice descriptors,
                      DescriptorChoice::Open(context, args.descriptor));
  SessionSelection selection{.paths = {args.log}, .only = args.session};
  SessionReader sessions(context, std::move(selection), "reading");
  RecordFilter filter(args.filter);
  DumpPrinter printer(args, filter, descriptors.get(), context.console);
  bool is_past = false, any = false, kept = false;
  while (!is_past) {
    RS_ASSIGN_OR_RETURN(const bool more, sessions.NextSession());
    if (!more) break;
    if (args.detail.decode) RS_RETURN_IF_ERROR(ExpectPayload(sessions, "--decode"));
    if (args.detail.hex) RS_RETURN_IF_ERROR(ExpectPayload(sessions, "--hex"));
    filter.StartSession();
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
  WarnOfUnknownTimes(context.console, args.log, printer.clock());
  return sessions.Finish();
}

}  // namespace

Command DumpCommand() {
  return {"dump",
          "Logs",
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
           {"ringscope dump --fragments --hex --records 120..120 session.tblog",
            "What exactly is in the chunks of this commit?"},
           {"ringscope dump --kind producer --kind disconnect session.tblog",
            "Which producers connected and disconnected, and when?"},
           {"ringscope dump --format ops session.tblog > session.ops.jsonl",
            "Get a text that can be edited and imported again"}},
          Bind(SetUp, RunDump)};
}

}  // namespace ringscope
