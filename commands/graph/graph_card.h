#ifndef RINGSCOPE_COMMANDS_GRAPH_GRAPH_CARD_H_
#define RINGSCOPE_COMMANDS_GRAPH_GRAPH_CARD_H_

#include <string>
#include <vector>

#include "commands/graph/graph_words.h"

namespace ringscope {

// The boxes of a picture of chunks. All measures are pixels.
inline constexpr double kCardWidth = 182;
inline constexpr double kCardHeight = 66;  // at least
inline constexpr double kLinkWidth = 18;
inline constexpr double kLinkY = 33;  // of a card's links, below its top
inline constexpr double kCardTextX = 13;
inline constexpr double kFirstLineY = 31;  // of what is below the id
inline constexpr double kCardLine = 14;
inline constexpr double kCulpritLine = 12;

struct CardLine {
  std::string text;
  const char* classes;
};

/// A box for a chunk, a run of them, or ids without a chunk: its texts.
struct Card {
  std::string id;
  std::string right;  // of the id
  std::vector<CardLine> lines;
  std::vector<std::string> culprit;  // lines
  std::string title;                 // the whole text, shown when the card is pointed at
  Tone tone = Tone::kUnknown;
  bool is_run = false;
  bool is_gap = false;

  double height() const;
  /// Space above it for who evicted it.
  double above() const;
};

Card CardOf(const ChunkNode& node, const GraphClock& clock);
Card CardOf(const ChunkRun& run, const GraphClock& clock);
Card CardOf(const ChunkGap& gap, const GraphClock&);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_GRAPH_GRAPH_CARD_H_
