#include "commands/graph/graph_report.h"
#include "commands/session/examined.h"
#include "commands/session/session_view.h"
#include "commands/shell/commands.h"
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
  AddParsed(app, "--top", args.top, NumberUpTo(UINT32_MAX), "N",
            "Number of sequences to draw without --seq (default: 3)");
  AddParsed(
      app, "--around", args.around, ParseChunkName, "PRODUCER:WRITER#CHUNK",
      "Show the chunks of this sequence near this one, like 2:1#120, and collapse all others");
  AddFlag(app, "--full", args.full, "Show every chunk, collapse nothing");
  AddParsed(app, "--buffer", args.buffer, ParseBuffer, "BUFFER",
            "Only this buffer, like buffers[1], or 1 by its id in the log");
  InGroup(app, kOutputGroup);
  AddText(app, "-o,--output", args.output, kFileType,
          "Write to this file; - for standard output. A name with .svg or .json asks for that "
          "format");
  AddForce(app, args.force);
  AddFormat(app, args.format, {Format::kText, Format::kSvg, Format::kJson});
  Exclude(app, "--around", {"--full", "--seq"});
  Exclude(app, "--top", {"--seq", "--around"});
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

void WarnOfOddChoices(const GraphArgs& args, const GraphReport& report, Console& console) {
  const std::string& path = report.outcome.path;
  for (const SequenceKey sequence : args.sequences)
    if (!Contains(report.graphs, sequence, &SequenceGraph::sequence))
      console.Warn(fmt::format("{}: sequence {} committed nothing", path, ToString(sequence)));
  if (!args.around) return;
  for (const SequenceGraph& graph : report.graphs)
    for (const GraphItem& item : graph.items)
      if (const auto* const node = std::get_if<ChunkNode>(&item))
        if (IdOf(node->id) == args.around->chunk) return;
  console.Warn(fmt::format("{}: there is no chunk #{}", path, Raw(args.around->chunk)));
}

/// Replays the session that `sessions` is at, and draws its chunks.
Status DrawSession(const GraphArgs& args, SessionReader& sessions, Context& context,
                   Report& report) {
  ReplayRun run(context, sessions, args.choices);
  const auto& notes = run.Add<SessionNotes>();
  const auto& log = run.Add<ShortLog>();
  ChunkGraphBuilder::Options options{.buffer = args.buffer, .sequences = args.sequences};
  options.fold.full = args.full;
  if (args.around) {
    options.fold.around = args.around->chunk;
    options.sequences = {args.around->sequence};
  }
  auto& builder = run.Add<ChunkGraphBuilder>(std::move(options));
  RS_ASSIGN_OR_RETURN(const ReplayOutcome outcome, run.ToEnd());
  if (args.buffer && std::ranges::none_of(outcome.buffers, [&](const BufferOutcome& buffer) {
        return args.buffer->Names(buffer.id, buffer.index);
      }))
    return Fail(ErrorCode::kUsage, fmt::format("there is no buffer '{}'", ToString(*args.buffer)),
                {outcome.path, {}, {}}, fmt::format("its buffers: {}", BuffersText(outcome)));
  report.Data({{"input", outcome.path},
               {"session", outcome.session},
               {"reads", FieldsToJson(outcome.reads)}});
  if (outcome.clone) report.Data("clone", *outcome.clone);
  AddInexact(report, outcome.verdicts);
  if (report.is_text()) {
    ReportReplayTitle(report, outcome);
    if (const auto line = log.Line())
      report.Paragraph(fmt::format("In the notation of 'ringscope try': {}", *line));
  }
  GraphReport drawn{.outcome = outcome, .notes = notes, .graphs = {}};
  drawn.Take(builder.Take());
  if (args.sequences.empty() && !args.around) {
    const size_t worth = drawn.with_losses > 0 ? drawn.with_losses : drawn.sequences;
    drawn.graphs.resize(std::min<uint64_t>(worth, args.top));
  }
  WarnOfOddChoices(args, drawn, context.console);
  if (report.is_json()) report.Data(GraphJson(drawn));
  report.Print(args.format == Format::kSvg ? GraphSvg(drawn) : GraphText(drawn, report.width()));
  return {};
}

Result<ExitCode> RunGraph(const GraphArgs& given, SessionReader& sessions, Context& context) {
  GraphArgs args = given;
  for (const Format format : {Format::kSvg, Format::kJson})
    if (!given.format && args.output.ends_with(std::string(".") + Name(format)))
      args.format = format;  // that the output's name asks for
  const char* const name = Name(args.format.value_or(Format::kText));
  const std::string own = args.format == Format::kText ? ".txt" : std::string(".") + name;
  RS_RETURN_IF_ERROR(args.format ? CheckOutputName(args.output, name, {own})
                                 : CheckOutputName(args.output, name, {".svg", ".json", ".txt"}));
  if (!args.format) args.format = Format::kText;
  const bool is_picture = args.format == Format::kSvg;
  RS_ASSIGN_OR_RETURN(const std::unique_ptr<OutputFile> file,
                      CreateOutput(context, args.output.empty() ? "-" : args.output,
                                   is_picture ? kPictureOutput : kReportOutput, args.force));
  Report report(context.console, *args.format, "graph");
  if (file->path() != "-") report.WriteTo(*file);
  const auto task = [&]() -> Result<ExitCode> {
    RS_RETURN_IF_ERROR(DrawSession(args, sessions, context, report));
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

Command GraphCommand() {
  return {
      "graph",
      "Draw what became of each chunk",
      "Replays like 'ringscope replay' and draws the chunks of a sequence in order: when they were "
      "committed and what they contained, whether they were read, overwritten (and by whom) or "
      "refused, which packets continue from one chunk to the next, which patches arrived, which "
      "chunk ids are missing. Runs of chunks with the same fate are collapsed; near losses every "
      "chunk is shown. Without --seq the sequences that lost most are drawn.",
      {{"ringscope graph session.tblog", "The sequences that lost most, as text"},
       {"ringscope graph session.tblog --around 2:1#120", "What happened near chunk 120?"},
       {"ringscope graph session.tblog -o chunks.svg", "A picture for a bug report"}},
      BindSessions({Needs::Logs::kOne}, SetUp, RunGraph)};
}

}  // namespace ringscope
