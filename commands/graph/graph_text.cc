#include <fmt/format.h>

#include <array>

#include "commands/graph/graph_report.h"
#include "commands/shell/text.h"
#include "commands/view/table.h"
#include "core/log/verdict.h"

namespace ringscope {
namespace {

constexpr std::array<const char*, kTones> kSigns = {"●", "○", "◌", "◐", "✗", "?"};

std::string WithRemarks(std::string text, const std::vector<std::string>& remarks) {
  for (const std::string& remark : remarks) text += "; " + remark;
  return text;
}

/// The column beside the chunks: packets that continue from one to the next.
std::string LinkSign(Link before, Link after) {
  const bool from = before == Link::kRead || before == Link::kContinues;
  const bool on = after == Link::kRead || after == Link::kContinues;
  const bool torn = after == Link::kBroken;
  return std::string(from ? (on ? "┤" : "┘") : (on ? "┐" : " ")) + (torn ? "!" : " ");
}

/// Rows of one graph.
class ChunkTable {
 public:
  explicit ChunkTable(const GraphClock& clock) : clock_(clock) {}

  void Add(const SequenceGraph& graph, size_t i) {
    const Link before = i > 0 ? graph.LinkAfter(i - 1) : Link::kNone;
    links_ = LinkSign(before, graph.LinkAfter(i));
    std::visit([this](const auto& item) { AddItem(item); }, graph.items[i]);
  }
  std::string Text() const { return table_.Text(2); }

 private:
  void AddItem(const ChunkNode& node) {
    std::vector<std::string> remarks = Remarks(node, clock_);
    if (node.origin == Origin::kScraped && node.complete)
      remarks.insert(remarks.begin(), "scraped first");
    table_.AddRow({Sign(ToneOf(node.fate)), IdText(node.id), clock_.At(node.committed),
                   WithCommas(node.bytes), WithCommas(node.fragments),
                   WithRemarks(FateText(node, clock_), remarks)});
  }
  void AddItem(const ChunkRun& run) {
    table_.AddRow({Sign(ToneOf(run)), RangeText(run.first, run.last), clock_.At(run.from),
                   WithCommas(run.bytes), WithCommas(run.fragments),
                   WithRemarks(fmt::format("{}, {}: {}", Count(run.chunks, "chunk"),
                                           HumanSize(run.bytes), FateText(run)),
                               Remarks(run))});
  }
  void AddItem(const ChunkGap& gap) {
    table_.AddRow({"┄", RangeText(gap.first, gap.last), "", "", "", GapText(gap)});
  }
  std::string Sign(Tone tone) const { return kSigns[static_cast<size_t>(tone)] + links_; }

  const GraphClock& clock_;
  std::string links_;
  Table table_{{{"", Align::kLeft},
                {"chunk", Align::kLeft},
                {"committed", Align::kRight},
                {"bytes", Align::kRight},
                {"fragments", Align::kRight},
                {"fate", Align::kLeft}}};
};

}  // namespace

std::string GraphReport::BufferText(const SequenceGraph& graph) const {
  std::string text = fmt::format("buffer {}", Raw(graph.buffer));
  const bool was_replaced = graph.generation > 0;
  for (const BufferOutcome& buffer : outcome.buffers) {
    if (buffer.id == graph.buffer) {
      text += fmt::format(
          " ({}, {}, {}{})", buffer.engine, HumanSize(buffer.size), ringscope::Name(buffer.policy),
          was_replaced ? fmt::format(", number {} of this id", graph.generation + 1) : "");
    }
  }
  return text;
}

std::string GraphReport::HeadingText(const SequenceGraph& graph) const {
  return fmt::format("sequence {} in {}", notes.NameOf(graph.sequence), BufferText(graph));
}

std::string GraphReport::SummaryText(const SequenceGraph& graph) {
  std::string text = fmt::format("{}, {}, {}", Count(graph.chunks, "chunk"), HumanSize(graph.bytes),
                                 PacketsText(graph.packets));
  if (graph.orphan_patches > 0)
    text += fmt::format(
        "; {} for chunks that are not in the log",
        graph.orphan_patches == 1 ? "1 patch" : WithCommas(graph.orphan_patches) + " patches");
  return text;
}

std::string GraphReport::ClosingText() const {
  if (sequences == 0) return "No sequence committed anything.";
  // A log made of a trace has nothing of what was lost before.
  const bool lacks_lost = LossesBefore(outcome.verdicts) != nullptr;
  const char* const of = lacks_lost ? " of what is in the trace" : "";
  std::string text = with_losses == 0 ? fmt::format("No packet{} was lost.", of) : "";
  if (graphs.size() < sequences) {
    text = fmt::format("{} of {} shown, ", WithCommas(graphs.size()), Count(sequences, "sequence"));
    text += with_losses == 0
                ? fmt::format("the largest first; no packet{} was lost in any.", of)
                : fmt::format("the worst first; packets were lost in {}.", WithCommas(with_losses));
    text += " --seq P:W shows another.";
  }
  return text;
}

std::string GraphText(const GraphReport& report) {
  std::string text;
  for (const SequenceGraph& graph : report.graphs) {
    text += "\n" + Wrap(report.HeadingText(graph), size_t{0}) + "\n" +
            Wrap(GraphReport::SummaryText(graph), size_t{2}) + "\n\n";
    ChunkTable table(report.clock);
    for (size_t i = 0; i < graph.items.size(); ++i) table.Add(graph, i);
    text += table.Text();
  }
  std::vector<std::string> legend;
  for (size_t i = 0; i < kTones; ++i) {
    const Tone tone = static_cast<Tone>(i);
    if (tone != Tone::kUnknown) legend.push_back(fmt::format("{} {}", kSigns[i], Meaning(tone)));
  }
  legend.emplace_back("┐┤┘ a packet continues in the next chunk");
  legend.emplace_back("! broken: the next chunk does not continue it");
  text += "\n" + Wrap(Joined(legend, "; "), size_t{0}) + "\n";
  if (const std::string closing = report.ClosingText(); !closing.empty())
    text += Wrap(closing, size_t{0}) + "\n";
  return text;
}

}  // namespace ringscope
