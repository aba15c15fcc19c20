#ifndef RINGSCOPE_COMMANDS_GRAPH_ORDER_REPORT_H_
#define RINGSCOPE_COMMANDS_GRAPH_ORDER_REPORT_H_

#include <string>
#include <vector>

#include "commands/graph/graph_words.h"
#include "commands/view/json.h"
#include "core/graph/read_walk.h"

namespace ringscope {

/// In which order a read pass takes what is in the buffers, for a terminal.
/// @param full every step, however many
std::string OrderText(const std::vector<ReadWalk>& walks, bool full, const GraphClock& clock);
/// An array of buffers, with every step.
Json OrderJson(const std::vector<ReadWalk>& walks);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_GRAPH_ORDER_REPORT_H_
