#include "commands/graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "commands/graph_report.h"
#include "commands/json_output.h"
#include "commands/layout_report.h"
#include "commands/options.h"
#include "commands/output.h"
#include "commands/replay_report.h"
#include "commands/text.h"
#include "core/chunk_graph_builder.h"

namespace ringscope {
namespace {

/// More boxes than this make a DOT graph that nobody can read, and Graphviz slow.
constexpr size_t kMaxDotNodes = 400;

void SetUp(CLI::App& app, GraphArgs& args) {
  AddLog(app, args.log);
  AddParsedList(app, "--seq", args.sequences, ParseSequence, "PRODUCER:WRITER",
                "Draw this sequence; repeat it for more (default: those that lost packets, worst "
                "first)");
  AddParsed(
      app, "--top", args.top, [](std::string_view text) { return ParseNumber(text, UINT32_MAX); },
      "N", "How many sequences to draw if none is chosen (default: 3)");
  AddParsed(app, "--around", args.around, ParseChunkChoice, "[PRODUCER:WRITER#]CHUNK",
            "Show the chunks near this one, like 120 or 2:1#120, and fold all others");
  AddFlag(app, "--full", args.full, "Show each chunk, fold nothing");
  AddParsed(
      app, "--buffer", args.buffer,
      [](std::string_view text) { return ParseNumber(text, UINT16_MAX); }, "ID",
      "Only this buffer");
  AddFlag(app, "--layout", args.layout, "Show the buffers' bytes instead: who has which");
  AddParsed(app, "--at", args.at, ParseLayoutMoment, "RECORD|TIME",
            "With --layout: behind this record, or this long after the start, like 1.5s (default: "
            "at the end)");
  AddText(app, "-o,--output", args.output, kFileType, "Write to this file; - for standard output");
  AddFormat(app, args.format, {"text", "dot", "svg", "json"});
  AddReplayOptions(app, args.choices);
  AddSession(app, args.session);
}

Status CheckArgs(const GraphArgs& args) {
  const auto refuse = [](const char* what, const char* hint) {
    return Fail(ErrorCode::kUsage, what, {}, hint);
  };
  if (args.layout && args.format == "dot")
    return refuse("a layout cannot be written as dot", "choose text, svg or json");
  if (args.layout && (args.full || args.around || !args.sequences.empty()))
    return refuse("--layout shows all sequences of a buffer, whole",
                  "leave out --seq, --around and --full");
  if (args.at && !args.layout) return refuse("--at is for --layout", "add --layout");
  if (args.full && args.around)
    return refuse("--full and --around exclude each other", "choose one");
  if (args.around && !args.around->sequence && args.sequences.size() != 1)
    return refuse("--around needs to know the chunk's sequence",
                  "write it as PRODUCER:WRITER#CHUNK, or add --seq");
  return {};
}

/// What one session gives.
struct SessionPart {
  std::string text;  // for text, dot and svg
  Json json;
};

std::optional<BufferId> BufferOf(const GraphArgs& args) {
  if (!args.buffer) return std::nullopt;
  return BufferId{static_cast<uint16_t>(*args.buffer)};
}

Status CheckBuffer(const GraphArgs& args, const ReplayOutcome& outcome) {
  const std::optional<BufferId> wanted = BufferOf(args);
  std::string known;
  for (const BufferOutcome& buffer : outcome.buffers) {
    if (!wanted || buffer.id == *wanted) return {};
    known += fmt::format("{}{}", known.empty() ? "" : ", ", Raw(buffer.id));
  }
  if (!wanted) return {};
  return Fail(ErrorCode::kUsage, fmt::format("there is no buffer {}", Raw(*wanted)),
              {outcome.path, {}, {}}, fmt::format("its buffers: {}", known));
}

ChunkGraphBuilder::Options BuilderOptions(const GraphArgs& args) {
  ChunkGraphBuilder::Options options{.buffer = BufferOf(args), .sequences = args.sequences};
  options.fold.full = args.full;
  if (args.around) {
    options.fold.around = args.around->chunk;
    if (args.around->sequence) options.sequences = {*args.around->sequence};
  }
  return options;
}

/// Whether a graph shows the chosen chunk by itself.
bool Shows(const SequenceGraph& graph, ChunkId chunk) {
  return std::any_of(graph.items.begin(), graph.items.end(), [&](const GraphItem& item) {
    const auto* node = std::get_if<ChunkNode>(&item);
    return node != nullptr && static_cast<uint32_t>(node->id) == Raw(chunk);
  });
}

void WarnOfOddChoices(const GraphArgs& args, const GraphReport& report, Console& console) {
  const std::string& path = report.outcome.path;
  for (const SequenceKey sequence : args.sequences) {
    const bool is_there =
        std::any_of(report.graphs.begin(), report.graphs.end(),
                    [&](const SequenceGraph& graph) { return graph.sequence == sequence; });
    if (!is_there)
      console.Warn(fmt::format("{}: sequence {} committed nothing", path, ToString(sequence)));
  }
  if (args.around &&
      std::none_of(report.graphs.begin(), report.graphs.end(),
                   [&](const SequenceGraph& graph) { return Shows(graph, args.around->chunk); })) {
    console.Warn(fmt::format("{}: there is no chunk #{}", path, Raw(args.around->chunk)));
  }
  size_t items = 0;
  for (const SequenceGraph& graph : report.graphs) items += graph.items.size();
  if (args.format == "dot" && items > kMaxDotNodes)
    console.Warn(
        fmt::format("{}: {} nodes are more than Graphviz draws legibly; leave out --full, "
                    "or write svg",
                    path, WithCommas(items)));
}

Result<SessionPart> DrawGraphs(const GraphArgs& args, SessionReader& sessions, Context& context) {
  ChunkGraphBuilder builder(BuilderOptions(args));
  Journal journal([&](const JournalEvent& event) { builder.OnEvent(event); });
  RS_ASSIGN_OR_RETURN(const ReplayOutcome outcome,
                      ReplaySession(context, sessions, args.choices,
                                    {.accounts = &builder, .journal = &journal, .sink = &builder}));
  RS_RETURN_IF_ERROR(CheckBuffer(args, outcome));
  GraphReport report{
      .outcome = outcome, .clock = GraphClock(outcome.first_time_ns), .graphs = builder.Take()};
  SortByLoss(report.graphs);
  report.sequences = report.graphs.size();
  report.with_losses = static_cast<size_t>(
      std::count_if(report.graphs.begin(), report.graphs.end(),
                    [](const SequenceGraph& graph) { return graph.lost().packets > 0; }));
  if (args.sequences.empty() && !args.around) {
    const size_t worth = report.with_losses > 0 ? report.with_losses : report.sequences;
    report.graphs.resize(std::min<uint64_t>(worth, args.top));
  }
  WarnOfOddChoices(args, report, context.console);

  SessionPart part;
  if (args.format == "json")
    part.json = GraphJson(report);
  else if (args.format == "dot")
    part.text = GraphDot(report);
  else if (args.format == "svg")
    part.text = GraphSvg(report);
  else
    part.text = ReplayHeading(outcome) + GraphText(report);
  return part;
}

Result<SessionPart> DrawLayout(const GraphArgs& args, SessionReader& sessions, Context& context) {
  const LayoutMoment moment = args.at.value_or(LayoutMoment{});
  LayoutMap map(moment);
  Journal journal([&](const JournalEvent& event) { map.OnEvent(event); });
  RS_ASSIGN_OR_RETURN(
      const ReplayOutcome outcome,
      ReplaySession(context, sessions, args.choices, {.journal = &journal, .sink = &map}));
  RS_RETURN_IF_ERROR(CheckBuffer(args, outcome));
  if (args.at && map.is_past_end())
    context.console.Warn(
        fmt::format("{}: session {} ends before that: this is its end, behind record {}",
                    outcome.path, outcome.session, WithCommas(map.at().record)));
  std::vector<BufferLayout> layouts = map.Layouts();
  if (const std::optional<BufferId> wanted = BufferOf(args))
    std::erase_if(layouts, [&](const BufferLayout& layout) { return layout.buffer != *wanted; });

  const GraphClock clock(outcome.first_time_ns);
  SessionPart part;
  if (args.format == "json") {
    part.json = {{"input", outcome.path}, {"session", outcome.session}};
    part.json["buffers"] = LayoutJson(layouts);
  } else if (args.format == "svg") {
    part.text = LayoutSvg(layouts, clock);
  } else {
    part.text = ReplayHeading(outcome) + LayoutText(layouts, clock);
  }
  return part;
}

}  // namespace

Result<ChunkChoice> ParseChunkChoice(std::string_view text) {
  ChunkChoice choice;
  if (const size_t hash = text.find('#'); hash != std::string_view::npos) {
    if (hash > 0) {
      RS_ASSIGN_OR_RETURN(choice.sequence, ParseSequence(text.substr(0, hash)));
    }
    text.remove_prefix(hash + 1);
  }
  RS_ASSIGN_OR_RETURN(const uint64_t id, ParseNumber(text, UINT32_MAX));
  choice.chunk = ChunkId{static_cast<uint32_t>(id)};
  return choice;
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

Result<ExitCode> RunGraph(const GraphArgs& args, Context& context) {
  RS_RETURN_IF_ERROR(CheckArgs(args));
  SessionReader sessions(context, {{args.log}, args.session}, "replaying");
  RS_ASSIGN_OR_RETURN(const std::unique_ptr<OutputFile> file,
                      CreateOutput(context, args.output.empty() ? "-" : args.output, false));
  Json document = JsonDocument(args.layout ? "layout" : "graph");
  document["sessions"] = Json::array();
  const bool is_picture = args.format == "dot" || args.format == "svg";

  RS_ASSIGN_OR_RETURN(bool more, sessions.NextSession());
  for (bool first = true; more; first = false) {
    RS_ASSIGN_OR_RETURN(SessionPart part, args.layout ? DrawLayout(args, sessions, context)
                                                      : DrawGraphs(args, sessions, context));
    if (is_picture) RS_RETURN_IF_ERROR(ExpectNoFurtherSession(sessions, "a picture"));
    if (args.format == "json")
      document["sessions"].push_back(std::move(part.json));
    else
      RS_RETURN_IF_ERROR(file->Write((first ? "" : "\n") + part.text));
    RS_ASSIGN_OR_RETURN(more, sessions.NextSession());
  }
  if (args.format == "json") RS_RETURN_IF_ERROR(file->Write(JsonText(document)));
  RS_RETURN_IF_ERROR(file->Commit());
  if (file->path() != "-") context.console.Say(fmt::format("wrote {}", file->path()));
  return sessions.Finish();
}

Command GraphCommand() {
  return {
      "graph",
      "Explain",
      "Draw what became of each chunk, or who has the buffer's bytes",
      "Replays like 'ringscope replay' and draws the chunks of a sequence in order: when they were "
      "committed and what they held, whether they were read, overwritten (and by whom) or refused, "
      "which packets go on from one to the next, which patches came, which ids are missing. Runs "
      "of chunks that fared alike are folded; around trouble each chunk is shown. Without --seq "
      "the sequences that lost most are drawn. With --layout: which sequence has which bytes of "
      "the buffer at some moment, what of it is unread, and where the cursors stand.",
      {{"ringscope graph session.tblog", "The sequences that lost most, as text"},
       {"ringscope graph session.tblog --seq 2:1 --around 120", "What happened near chunk 120"},
       {"ringscope graph session.tblog --format svg -o chunks.svg", "A picture for a bug report"},
       {"ringscope graph session.tblog --format dot | dot -Tpng > chunks.png",
        "The same through Graphviz"},
       {"ringscope graph session.tblog --layout --at 1.5s",
        "Who has the buffer after 1.5 seconds?"}},
      Bind(SetUp, RunGraph)};
}

}  // namespace ringscope
