#ifndef RINGSCOPE_COMMANDS_GRAPH_GRAPH_H_
#define RINGSCOPE_COMMANDS_GRAPH_GRAPH_H_

#include <optional>
#include <string_view>

#include "core/base/ids.h"
#include "core/base/result.h"
#include "core/graph/layout_map.h"

namespace ringscope {

/// A chunk as a command line names it: "120", or with its sequence "1:4#120".
struct ChunkChoice {
  std::optional<SequenceKey> sequence;
  ChunkId chunk{};
};
Result<ChunkChoice> ParseChunkChoice(std::string_view text);

/// A moment of a log: a record number "4711", or a time from its start with a unit, "1.5s".
Result<LayoutMoment> ParseLayoutMoment(std::string_view text);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_GRAPH_GRAPH_H_
