#include "commands/graph/graph_card.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "commands/shell/text.h"
#include "formats/draw/svg_text.h"

namespace ringscope {
namespace {

std::string TitleLines(std::string text, const std::vector<std::string>& more) {
  for (const std::string& line : more) text += "\n" + line;
  return text;
}

/// "2:1 (35.0%), 3:1 (30.0%)" so that lines break after commas only.
std::string SharesTogether(std::string text) {
  for (size_t at = 0; (at = text.find(" (", at)) != std::string::npos; ++at)
    text.replace(at, 1, "\u00A0");
  return text;
}

void AddLines(Card& card, const std::string& text, const char* classes) {
  constexpr double kTextWidth = kCardWidth - kCardTextX - 10;
  for (std::string& line : SvgTextLines(text, kTextWidth, classes))
    card.lines.push_back({std::move(line), classes});
}

void AddRest(Card& card, const std::string& fate, const std::vector<std::string>& remarks,
             const std::string& culprits) {
  AddLines(card, fate, "");
  for (const std::string& remark : remarks) AddLines(card, remark, "soft small");
  card.culprit = SvgTextLines(SharesTogether(culprits), kCardWidth + kLinkWidth - 30, "small");
}

}  // namespace

double Card::height() const {
  return std::max(kCardHeight,
                  kFirstLineY + kCardLine * (static_cast<double>(lines.size()) - 1) + 7);
}

double Card::above() const { return 10 + kCulpritLine * static_cast<double>(culprit.size()); }

Card CardOf(const ChunkNode& node, const GraphClock& clock) {
  const std::vector<std::string> remarks = Remarks(node, clock);
  Card card;
  card.id = IdText(node.id);
  card.right = clock.At(node.committed);
  AddLines(card,
           fmt::format("{} B, {}, {}", WithCommas(node.bytes), Count(node.fragments, "fragment"),
                       Name(node.origin)),
           "soft small");
  AddRest(card, ShortFate(node), remarks, CulpritText(node));
  card.title =
      TitleLines(fmt::format("{}, committed at {}\n{} bytes, {}, {}\n{}\n{}", card.id, card.right,
                             WithCommas(node.bytes), Count(node.fragments, "fragment"),
                             Name(node.origin), FateText(node, clock), PacketsText(node.packets)),
                 remarks);
  if (const std::string flags = FlagsText(node.flags); !flags.empty()) card.title += "\n" + flags;
  card.tone = ToneOf(node.fate);
  return card;
}

Card CardOf(const ChunkRun& run, const GraphClock& clock) {
  const std::vector<std::string> remarks = Remarks(run);
  const std::string size = fmt::format("{}, {}", Count(run.chunks, "chunk"), HumanSize(run.bytes));
  Card card;
  card.id = RangeText(run.first, run.last);
  AddLines(card, size, "soft small");
  AddRest(card, ShortFate(run), remarks, CulpritText(run));
  card.title =
      TitleLines(fmt::format("{}, committed from {} to {}\n{}\n{}\n{}", card.id, clock.At(run.from),
                             clock.At(run.to), size, FateText(run), PacketsText(run.packets)),
                 remarks);
  card.tone = ToneOf(run);
  card.is_run = true;
  return card;
}

Card CardOf(const ChunkGap& gap, const GraphClock&) {
  Card card;
  card.id = RangeText(gap.first, gap.last);
  AddLines(card, "missing", "soft small");
  AddLines(card, "never committed", "");
  card.title = GapText(gap);
  card.is_gap = true;
  return card;
}

}  // namespace ringscope
