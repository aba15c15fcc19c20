#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>

#include "commands/common/session_reader.h"
#include "commands/log/dump_text.h"
#include "commands/shell/commands.h"
#include "commands/shell/options.h"
#include "commands/shell/suggest.h"
#include "commands/shell/values.h"
#include "core/log/record_filter.h"
#include "formats/log/commit_log_writer.h"
#include "formats/ops/ops_jsonl.h"

namespace ringscope {
namespace {

struct DumpArgs {
  std::string log;
  std::string format = "text";
  RecordCriteria filter;
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

std::string KindsText() {
  std::string text;
  for (const std::string& kind : FilterKinds()) text += (text.empty() ? "" : ", ") + kind;
  return text;
}

void SetUp(CLI::App& app, DumpArgs& args) {
  AddLog(app, args.log);
  AddSession(app, args.session);
  InGroup(app, kFilterGroup);
  RecordCriteria& filter = args.filter;
  AddParsedList(app, "--kind", filter.kinds, ParseKind, "KIND",
                "Only records of this kind; may be repeated. Kinds: " + KindsText());
  AddParsedList(app, "--producer", filter.producers, ParseProducer, "ID",
                "Only records of this producer; may be repeated");
  AddParsedList(app, "--seq", filter.sequences, ParseSequence, "PRODUCER:WRITER",
                "Only records of this sequence; may be repeated");
  AddParsedList(app, "--buffer", filter.buffers, ParseBuffer, "ID",
                "Only records of this buffer; may be repeated");
  AddParsed(app, "--from", filter.from, ParseTimePoint, "TIME",
            "Only records from this time on: since the session's start like 1.5s, or in absolute "
            "nanoseconds");
  AddParsed(app, "--to", filter.to, ParseTimePoint, "TIME",
            "Only records up to this time, written as for --from");
  AddParsed(app, "--records", filter.records, ParseRecordRange, "A..B",
            "Only records number A to B, as the text shows them; either end may be left out");
  InGroup(app, kOutputGroup);
  AddChoice(app, "--format", args.format, {"text", "ops", "jsonl", "json"},
            "text: lines for people; ops, or jsonl: operations from which 'ringscope import' makes "
            "an equal log; json: one document (default: text)");
}

/// Writes the records that passed the filter, one way or another.
class DumpWriter {
 public:
  virtual ~DumpWriter() = default;
  virtual void StartSession(uint64_t session) { static_cast<void>(session); }
  /// Sees every record, before Record is asked for those that passed.
  virtual void Observe(const Op& op) { static_cast<void>(op); }
  /// Valid until the next call.
  virtual std::string_view Record(const Op& op, uint64_t number) = 0;
  virtual std::string End() { return ""; }
};

class TextDump : public DumpWriter {
 public:
  explicit TextDump(const RecordFilter& filter) : text_(filter) {}
  void StartSession(uint64_t) override { text_.StartSession(); }
  void Observe(const Op& op) override { text_.Observe(op); }
  std::string_view Record(const Op& op, uint64_t number) override {
    return lines_ = text_.Format(op, number);
  }

 private:
  RecordText text_;
  std::string lines_;
};

class OpsDump : public DumpWriter {
 public:
  std::string_view Record(const Op& op, uint64_t) override {
    // The header that an import made will be made again; any other is a record like all.
    const auto* header = std::get_if<LogHeader>(&op.body);
    const bool leave_out = first_ && header != nullptr && IsImportHeader(*header);
    first_ = false;
    line_.clear();
    if (leave_out) return line_;
    writer_.Append(op, line_);
    return line_ += '\n';
  }

 private:
  OpLineWriter writer_;
  std::string line_;
  bool first_ = true;
};

/// One document, written record by record so that memory stays small.
class JsonDump : public DumpWriter {
 public:
  void StartSession(uint64_t session) override { session_ = session; }
  std::string_view Record(const Op& op, uint64_t number) override {
    text_ = fmt::format("{}    {{\"session\":{},\"record\":{},", first_ ? kStart : ",\n", session_,
                        number);
    first_ = false;
    object_.clear();
    writer_.Append(op, object_);
    return text_ += std::string_view(object_).substr(1);
  }
  std::string End() override { return fmt::format("{}\n  ]\n}}\n", first_ ? kStart : ""); }

 private:
  static constexpr const char* kStart =
      "{\n  \"schema\": \"ringscope.dump/1\",\n  \"records\": [\n";
  OpLineWriter writer_;
  std::string object_;
  std::string text_;
  bool first_ = true;
  uint64_t session_ = 0;
};

std::unique_ptr<DumpWriter> MakeWriter(const std::string& format, const RecordFilter& filter) {
  if (format == "json") return std::make_unique<JsonDump>();
  if (format == "text") return std::make_unique<TextDump>(filter);
  return std::make_unique<OpsDump>();
}

Result<ExitCode> RunDump(const DumpArgs& args, Context& context) {
  SessionReader sessions(context, {{args.log}, args.session}, "reading");
  RecordFilter filter(args.filter);
  const std::unique_ptr<DumpWriter> writer = MakeWriter(args.format, filter);
  bool behind = false;
  while (!behind) {
    RS_ASSIGN_OR_RETURN(const bool more, sessions.NextSession());
    if (!more) break;
    filter.StartSession();
    writer->StartSession(sessions.session());
    while (!behind) {
      RS_ASSIGN_OR_RETURN(const std::optional<Op> op, sessions.Next());
      if (!op) break;
      writer->Observe(*op);
      if (filter.Keeps(*op, sessions.record_number()))
        context.console.Print(writer->Record(*op, sessions.record_number()));
      // A reader that went away ends the dump, which may be long.
      if (context.console.streams().out.reader_gone()) return ExitCode::kClean;
      behind = filter.IsPast(sessions.record_number());
    }
  }
  context.console.Print(writer->End());
  return sessions.Finish();
}

}  // namespace

Command DumpCommand() {
  return {"dump",
          "Logs",
          "Print a log's records",
          "Prints records: all, or those that pass the filters. A record must pass each filter; if "
          "a filter has several values, one of them must match. As text a record is a line with "
          "its number, its time since the session's start in seconds, and its content; a commit "
          "has a line for each chunk.",
          {{"ringscope dump session.tblog | less", "Read a log"},
           {"ringscope dump --seq 2:17 --from 1.2s --to 1.5s session.tblog",
            "What did this writer commit then?"},
           {"ringscope dump --kind producer --kind disconnect session.tblog",
            "Which producers connected and disconnected, and when?"},
           {"ringscope dump --format ops session.tblog > session.ops.jsonl",
            "Get a text that can be edited and imported again"}},
          Bind(SetUp, RunDump)};
}

}  // namespace ringscope
