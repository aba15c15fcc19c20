#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "commands/graph/graph_report.h"
#include "commands/session/examined.h"
#include "commands/session/loss_view.h"
#include "commands/session/session_loop.h"
#include "commands/shell/commands.h"
#include "commands/shell/options.h"
#include "commands/view/report.h"
#include "core/compare/stream_notation.h"
#include "formats/draw/svg.h"

namespace ringscope {
namespace {

struct GraphArgs {
  SessionSelection input;
  ReplayChoices choices;
  std::vector<SequenceKey> sequences;  // empty: those with losses, worst first
  std::optional<ChunkName> around;
  std::optional<BufferKey> buffer;
  uint64_t top = 3;  // sequences, if none is chosen
  bool full = false;
  bool layout = false;
  bool order = false;
  std::optional<LayoutMoment> at;
  std::string output;  // empty: standard output
  bool force = false;
  std::optional<Format> format;  // absent: the one that the output's name asks for
};

void SetUp(CLI::App& app, GraphArgs& args) {
  AddReplayOptions(app, args.choices);
  InGroup(app, "Selection");
  AddParsedList(app, "--seq", args.sequences, ParseSequence, "PRODUCER:WRITER",
                "Draw this sequence; may be repeated (default: the sequences that lost most "
                "packets)");
  AddParsed(
      app, "--top", args.top, [](std::string_view text) { return ParseNumber(text, UINT32_MAX); },
      "N", "Number of sequences to draw without --seq (default: 3)");
  AddParsed(
      app, "--around", args.around, ParseChunkName, "PRODUCER:WRITER#CHUNK",
      "Show the chunks of this sequence near this one, like 2:1#120, and collapse all others");
  AddFlag(app, "--full", args.full, "Show every chunk, collapse nothing");
  AddParsed(app, "--buffer", args.buffer, ParseBuffer, "BUFFER",
            "Only this buffer, like buffers[1], or 1 by its id in the log");
  AddFlag(app, "--layout", args.layout,
          "Show the bytes of each buffer instead, and which sequence they belong to");
  AddFlag(app, "--order", args.order,
          "Show the order in which a read pass takes what is in a buffer");
  AddParsed(
      app, "--at", args.at, ParseLayoutMoment, "RECORD|TIME",
      "Show the layout or the order after this record, or at this time after the start, like 1.5s "
      "(default: a layout before the last read that returned many packets, an order before "
      "the first read); needs --layout or --order");
  InGroup(app, kOutputGroup);
  AddText(app, "-o,--output", args.output, kFileType,
          "Write to this file; - for standard output. A name with .svg or .json asks for that "
          "format");
  AddForce(app, args.force);
  AddFormat(app, args.format, {Format::kText, Format::kSvg, Format::kJson});
  Exclude(app, "--layout", {"--seq", "--around", "--full"});
  Exclude(app, "--around", {"--full", "--seq"});
  Exclude(app, "--order", {"--layout", "--seq", "--around", "--full"});
  Exclude(app, "--top", {"--seq", "--around", "--layout", "--order"});
}

Status CheckArgs(const GraphArgs& args) {
  if ((args.order || args.layout) && args.format == Format::kSvg)
    return Fail(ErrorCode::kUsage, "only chunks can be drawn", {}, "choose text or json");
  if (args.at && !args.layout && !args.order)
    return Fail(ErrorCode::kUsage, "--at needs --layout or --order", {}, "add one of them");
  return {};
}

/// Returns the chosen buffer, if one is chosen. kUsage: the session does not have it.
Result<std::optional<BufferId>> BufferOf(const GraphArgs& args, const ReplayOutcome& outcome) {
  if (!args.buffer) return std::nullopt;
  for (const BufferOutcome& buffer : outcome.buffers)
    if (args.buffer->Names(buffer.id, buffer.index)) return buffer.id;
  return Fail(ErrorCode::kUsage, fmt::format("there is no buffer '{}'", ToString(*args.buffer)),
              {outcome.path, {}, {}}, fmt::format("its buffers: {}", BuffersText(outcome)));
}

ChunkGraphBuilder::Options BuilderOptions(const GraphArgs& args) {
  ChunkGraphBuilder::Options options{.buffer = args.buffer, .sequences = args.sequences};
  options.fold.full = args.full;
  if (args.around) {
    options.fold.around = args.around->chunk;
    options.sequences = {args.around->sequence};
  }
  return options;
}

/// Keeps the records of a log that is short enough for one line of 'ringscope try'.
class ShortLog : public ReplayListener {
 public:
  void OnRecord(const Op& op, const LogMoment&) override {
    if (ops_.size() <= kMost && !std::holds_alternative<Note>(op.body)) ops_.emplace_back(op);
  }
  /// Returns the line; nullopt if there are too many records, or the notation cannot say them.
  std::optional<std::string> Line() const {
    return ops_.size() <= kMost ? InNotation(ops_) : std::nullopt;
  }

 private:
  static constexpr size_t kMost = 50;
  std::vector<StoredOp> ops_;
};

/// Returns true if a graph shows the chosen chunk by itself.
bool Shows(const SequenceGraph& graph, ChunkId chunk) {
  return std::ranges::any_of(graph.items, [&](const GraphItem& item) {
    const auto* node = std::get_if<ChunkNode>(&item);
    return node != nullptr && static_cast<uint32_t>(node->id) == Raw(chunk);
  });
}

void WarnOfOddChoices(const GraphArgs& args, const GraphReport& report, Console& console) {
  const std::string& path = report.outcome.path;
  for (const SequenceKey sequence : args.sequences)
    if (std::ranges::find(report.graphs, sequence, &SequenceGraph::sequence) == report.graphs.end())
      console.Warn(fmt::format("{}: sequence {} committed nothing", path, ToString(sequence)));
  if (args.around && std::ranges::none_of(report.graphs, [&](const SequenceGraph& graph) {
        return Shows(graph, args.around->chunk);
      }))
    console.Warn(fmt::format("{}: there is no chunk #{}", path, Raw(args.around->chunk)));
}

/// Replays the session that `sessions` is at, and draws what was asked for.
class GraphDrawing {
 public:
  GraphDrawing(const GraphArgs& args, SessionReader& sessions, Context& context, Report& report)
      : args_(args), context_(context), report_(report), run_(context, sessions, Choices(args)) {}

  Status DrawGraphs() {
    auto& builder = run_.Add<ChunkGraphBuilder>(BuilderOptions(args_));
    RS_RETURN_IF_ERROR(Replay());
    GraphReport drawn{.outcome = outcome_, .notes = notes_, .clock = clock_, .graphs = {}};
    drawn.Take(builder.Take());
    if (args_.sequences.empty() && !args_.around) {
      const size_t worth = drawn.with_losses > 0 ? drawn.with_losses : drawn.sequences;
      drawn.graphs.resize(std::min<uint64_t>(worth, args_.top));
    }
    WarnOfOddChoices(args_, drawn, context_.console);
    if (report_.is_json()) report_.Data(GraphJson(drawn));
    report_.Print(args_.format == Format::kSvg ? GraphSvg(drawn)
                                               : GraphText(drawn, report_.width()));
    return {};
  }

  Status DrawLayout() {
    return ShowMoment(run_.Add<LayoutMap>(args_.at), [&](const std::vector<BufferLayout>& layouts) {
      return LayoutText(layouts, clock_, notes_, report_.width());
    });
  }

  Status ShowOrder() {
    return ShowMoment(run_.Add<ReadWalks>(args_.at.value_or(LayoutMoment{})),
                      [&](const std::vector<ReadWalk>& walks) {
                        return OrderText(walks, args_.full, clock_, notes_, report_.width());
                      });
  }

 private:
  static ReplayChoices Choices(const GraphArgs& args) {
    ReplayChoices choices = args.choices;
    // A read at the end that the log does not have would leave no order to show.
    if (args.order && choices.reads.mode == ReadsMode::kAuto)
      choices.reads.mode = ReadsMode::kRecorded;
    return choices;
  }

  /// Replays the session to its end, and reports what all outputs have.
  Status Replay() {
    RS_ASSIGN_OR_RETURN(outcome_, run_.ToEnd());
    RS_ASSIGN_OR_RETURN(buffer_, BufferOf(args_, outcome_));
    clock_ = GraphClock(outcome_.first_time_ns);
    report_.Data({{"input", outcome_.path},
                  {"session", outcome_.session},
                  {"reads", FieldsToJson(outcome_.reads)}});
    if (outcome_.clone) report_.Data("clone", *outcome_.clone);
    AddInexact(report_, outcome_.verdicts);
    if (!report_.is_text()) return {};
    ReportReplayTitle(report_, outcome_);
    if (const auto line = log_.Line())
      report_.Paragraph(fmt::format("In the notation of 'ringscope try': {}", *line));
    return {};
  }

  /// Shows what `taken` finds in the chosen buffers at the chosen moment.
  template <typename Taken, typename TextOf>
  Status ShowMoment(const Taken& taken, TextOf text_of) {
    RS_RETURN_IF_ERROR(Replay());
    if (args_.at && !taken.has_passed())
      context_.console.Warn(
          fmt::format("{}: session {} ends before that: this is its end, after record {}",
                      outcome_.path, outcome_.session, WithCommas(taken.at().record.value_or(0))));
    auto buffers = taken.buffers();
    std::erase_if(buffers,
                  [&](const auto& one) { return buffer_.value_or(one.buffer) != one.buffer; });
    for (const auto& one : buffers) RS_RETURN_IF_ERROR(one.status);
    report_.Data("buffers", FieldsToJson(buffers));
    report_.Print(text_of(buffers));
    return {};
  }

  const GraphArgs& args_;
  Context& context_;
  Report& report_;
  ReplayRun run_;
  SessionNotes& notes_ = run_.Add<SessionNotes>();
  ShortLog& log_ = run_.Add<ShortLog>();
  ReplayOutcome outcome_;
  std::optional<BufferId> buffer_;  // that is chosen
  GraphClock clock_{std::nullopt};
};

/// The format that an output's name asks for.
Result<Format> FormatOf(const std::string& output) {
  for (const Format format : {Format::kSvg, Format::kJson})
    if (output.ends_with(std::string(".") + Name(format))) return format;
  RS_RETURN_IF_ERROR(CheckOutputName(output, "text", {".svg", ".json", ".txt"}));
  return Format::kText;
}

Result<ExitCode> RunGraph(const GraphArgs& given, SessionReader& sessions, Context& context) {
  GraphArgs args = given;
  if (!args.format) {
    RS_ASSIGN_OR_RETURN(args.format, FormatOf(args.output));
  } else {
    const char* const name = Name(*args.format);
    const std::string own = args.format == Format::kText ? ".txt" : std::string(".") + name;
    RS_RETURN_IF_ERROR(CheckOutputName(args.output, name, {own}));
  }
  RS_RETURN_IF_ERROR(CheckArgs(args));
  const bool is_picture = args.format == Format::kSvg;
  RS_ASSIGN_OR_RETURN(const std::unique_ptr<OutputFile> file,
                      CreateOutput(context, args.output.empty() ? "-" : args.output,
                                   is_picture ? kPictureOutput : kReportOutput, args.force));
  Report report(context.console, *args.format,
                args.layout  ? "layout"
                : args.order ? "order"
                             : "graph");
  if (file->path() != "-") report.WriteTo(*file);
  const auto task = [&]() -> Result<ExitCode> {
    GraphDrawing drawing(args, sessions, context, report);
    RS_RETURN_IF_ERROR(args.layout  ? drawing.DrawLayout()
                       : args.order ? drawing.ShowOrder()
                                    : drawing.DrawGraphs());
    if (is_picture) RS_RETURN_IF_ERROR(ExpectNoFurtherSession(sessions, "a picture"));
    return ExitCode::kClean;
  };
  RS_ASSIGN_OR_RETURN(const ExitCode code, ReportSessions(sessions, report, task));
  RS_RETURN_IF_ERROR(report.Finish());
  RS_RETURN_IF_ERROR(file->Commit());
  if (file->path() != "-") context.console.Say(fmt::format("wrote {}", file->path()));
  return code;
}

}  // namespace

Result<ChunkName> ParseChunkName(std::string_view text) {
  const size_t hash = text.find('#');
  if (hash == std::string_view::npos)
    return Fail(ErrorCode::kUsage, fmt::format("'{}' does not name a chunk", text), {},
                "write PRODUCER:WRITER#CHUNK, like 2:1#120");
  RS_ASSIGN_OR_RETURN(const SequenceKey sequence, ParseSequence(text.substr(0, hash)));
  RS_ASSIGN_OR_RETURN(const uint64_t id, ParseNumber(text.substr(hash + 1), UINT32_MAX));
  return ChunkName{sequence, IdOf(id)};
}

Result<LayoutMoment> ParseLayoutMoment(std::string_view text) {
  if (const auto record = ParseNumber(text, UINT64_MAX))
    return LayoutMoment{.record = *record, .offset_ns = {}};
  if (const auto offset = ParseDuration(text))
    return LayoutMoment{.record = {}, .offset_ns = *offset};
  return Fail(ErrorCode::kUsage,
              fmt::format("'{}' is neither the number of a record nor a time from the session's "
                          "start like 1.5s",
                          text));
}

Command GraphCommand() {
  return {
      "graph",
      "Draw what became of each chunk, or the layout of the buffer",
      "Replays like 'ringscope replay' and draws the chunks of a sequence in order: when they were "
      "committed and what they contained, whether they were read, overwritten (and by whom) or "
      "refused, which packets continue from one chunk to the next, which patches arrived, which "
      "chunk ids are missing. Runs of chunks with the same fate are collapsed; near losses every "
      "chunk is shown. Without --seq the sequences that lost most are drawn. With --layout: which "
      "sequence has which bytes of the buffer at one moment, which of them are unread, and the "
      "position of the write cursor. With --order: in which order a read pass would take the "
      "packets "
      "that are in the buffer at one moment, and what it would leave.",
      {{"ringscope graph session.tblog", "The sequences that lost most, as text"},
       {"ringscope graph session.tblog --around 2:1#120", "What happened near chunk 120?"},
       {"ringscope graph session.tblog -o chunks.svg", "A picture for a bug report"},
       {"ringscope graph session.tblog --layout --at 1.5s",
        "Which sequence has which bytes after 1.5 seconds?"},
       {"ringscope graph session.tblog --order --at 1.5s",
        "In which order would a read take them?"}},
      BindSessions({Needs::Logs::kOne}, SetUp, RunGraph)};
}

}  // namespace ringscope
