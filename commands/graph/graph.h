#ifndef RINGSCOPE_COMMANDS_GRAPH_GRAPH_H_
#define RINGSCOPE_COMMANDS_GRAPH_GRAPH_H_

#include <optional>
#include <string>
#include <vector>

#include "commands/common/replay_run.h"
#include "commands/shell/command.h"
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

struct GraphArgs {
  std::string log;
  ReplayChoices choices;
  std::vector<SequenceKey> sequences;  // empty: those with losses, worst first
  std::optional<ChunkChoice> around;
  std::optional<uint64_t> buffer;
  uint64_t top = 3;  // sequences, if none is chosen
  bool full = false;
  bool layout = false;
  std::optional<LayoutMoment> at;
  std::string output;  // empty: standard output
  std::string format = "text";
  std::optional<uint64_t> session;
};

/// Replays a log and draws the chunk graphs of its sequences, or the layout of its buffers.
Result<ExitCode> RunGraph(const GraphArgs& args, Context& context);
Command GraphCommand();

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_GRAPH_GRAPH_H_
