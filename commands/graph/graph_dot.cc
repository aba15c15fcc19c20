#include <fmt/format.h>

#include "commands/graph/graph_report.h"
#include "commands/shell/text.h"
#include "formats/draw/dot.h"

namespace ringscope {
namespace {

/// Colours that black text can be read on.
const char* FillOf(Tone tone) {
  switch (tone) {
    case Tone::kGood:
      return "#c8e6c9";
    case Tone::kUnread:
      return "#bbdefb";
    case Tone::kWaiting:
      return "#fff3c4";
    case Tone::kPartly:
      return "#ffe0b2";
    case Tone::kLost:
      return "#ffcdd2";
    case Tone::kUnknown:
      return "#e0e0e0";
  }
  return "";
}

constexpr size_t kDotLineWidth = 44;

/// `text` broken at spaces into lines of some width.
std::string Wrapped(const std::string& text) {
  std::string wrapped;
  size_t column = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(' ', at), text.size());
    if (column > 0) {
      const bool fits = column + 1 + end - at <= kDotLineWidth;
      wrapped += fits ? ' ' : '\n';
      column = fits ? column + 1 : 0;
    }
    wrapped += text.substr(at, end - at);
    column += end - at;
    at = end + 1;
  }
  return wrapped;
}

std::string Lines(std::string text, const std::vector<std::string>& remarks) {
  for (const std::string& remark : remarks) text += "\n" + Wrapped(remark);
  return text;
}

/// An edge's label, clear of the edge.
std::string Beside(const std::string& text) { return "  " + text; }

/// One graph as a column of boxes.
class DotColumn {
 public:
  DotColumn(DotWriter& dot, const GraphReport& report, const SequenceGraph& graph, size_t number)
      : dot_(dot), report_(report), graph_(graph), number_(number) {}

  void Write() {
    dot_.BeginCluster(std::to_string(number_),
                      {{"label", fmt::format("{}\n{}", report_.HeadingText(graph_),
                                             Wrapped(GraphReport::SummaryText(graph_)))},
                       {"style", "rounded"},
                       {"color", "#9e9e9e"}});
    for (size_t i = 0; i < graph_.items.size(); ++i)
      std::visit([&](const auto& item) { Node(i, item); }, graph_.items[i]);
    for (size_t i = 0; i + 1 < graph_.items.size(); ++i) Edge(i);
    for (size_t i = 0; i < graph_.items.size(); ++i) Culprit(i);
    dot_.EndCluster();
  }

 private:
  std::string IdOf(size_t i) const { return fmt::format("{}.{}", number_, i); }

  void Node(size_t i, const ChunkNode& node) {
    std::string text = fmt::format("{}  {}\n{} bytes, {}, {}\n{}", IdText(node.id),
                                   report_.clock.At(node.committed), WithCommas(node.bytes),
                                   Count(node.fragments, "fragment"), Name(node.origin),
                                   Wrapped(FateText(node, report_.clock)));
    if (const std::string flags = FlagsText(node.flags); !flags.empty())
      text += "\n" + Wrapped(flags);
    dot_.Node(IdOf(i), {{"label", Lines(std::move(text), Remarks(node, report_.clock))},
                        {"fillcolor", FillOf(ToneOf(node.fate))}});
  }
  void Node(size_t i, const ChunkRun& run) {
    const std::string text =
        fmt::format("{}\n{}, {}\n{}", RangeText(run.first, run.last), Count(run.chunks, "chunk"),
                    HumanSize(run.bytes), Wrapped(FateText(run)));
    dot_.Node(IdOf(i), {{"label", Lines(text, Remarks(run))},
                        {"fillcolor", FillOf(ToneOf(run))},
                        {"peripheries", "2"}});
  }
  void Node(size_t i, const ChunkGap& gap) {
    dot_.Node(
        IdOf(i),
        {{"label", Wrapped(GapText(gap))}, {"style", "dashed,rounded"}, {"fillcolor", "#ffffff"}});
  }

  void Edge(size_t i) {
    const Link link = graph_.LinkAfter(i);
    switch (link) {
      case Link::kNone:
        return dot_.Edge(IdOf(i), IdOf(i + 1), {{"color", "#9e9e9e"}, {"arrowhead", "none"}});
      case Link::kRead:
        return dot_.Edge(
            IdOf(i), IdOf(i + 1),
            {{"color", "#2e7d32"}, {"penwidth", "2.5"}, {"label", Beside(LinkText(link))}});
      case Link::kContinues:
        return dot_.Edge(
            IdOf(i), IdOf(i + 1),
            {{"color", "#616161"}, {"penwidth", "2.5"}, {"label", Beside(LinkText(link))}});
      case Link::kBroken:
        return dot_.Edge(
            IdOf(i), IdOf(i + 1),
            {{"color", "#c62828"}, {"style", "dashed"}, {"label", Beside(LinkText(link))}});
    }
  }

  /// Who evicted the chunks, beside them.
  void Culprit(size_t i) {
    std::string who;
    if (const auto* node = std::get_if<ChunkNode>(&graph_.items[i])) who = CulpritText(*node);
    if (const auto* run = std::get_if<ChunkRun>(&graph_.items[i])) who = CulpritText(*run);
    if (who.empty()) return;
    const std::string id = IdOf(i) + ".by";
    dot_.Node(id, {{"label", Wrapped(who)}, {"shape", "plaintext"}, {"fontcolor", "#c62828"}});
    dot_.Edge(id, IdOf(i), {{"color", "#c62828"}, {"label", "evicted"}, {"constraint", "false"}});
    dot_.SameRank(id, IdOf(i));
  }

  DotWriter& dot_;
  const GraphReport& report_;
  const SequenceGraph& graph_;
  const size_t number_;
};

}  // namespace

std::string GraphDot(const GraphReport& report) {
  DotWriter dot("chunks", {{"fontname", "Helvetica"}, {"nodesep", "0.4"}, {"ranksep", "0.3"}});
  dot.NodeDefaults({{"shape", "box"},
                    {"style", "filled,rounded"},
                    {"fillcolor", "#ffffff"},
                    {"fontname", "Helvetica"},
                    {"fontsize", "11"}});
  dot.EdgeDefaults({{"fontname", "Helvetica"}, {"fontsize", "10"}});
  size_t number = 0;
  for (const SequenceGraph& graph : report.graphs) DotColumn(dot, report, graph, number++).Write();
  return dot.Finish();
}

}  // namespace ringscope
