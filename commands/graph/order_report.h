#ifndef RINGSCOPE_COMMANDS_GRAPH_ORDER_REPORT_H_
#define RINGSCOPE_COMMANDS_GRAPH_ORDER_REPORT_H_

#include <string>
#include <vector>

#include "commands/graph/graph_words.h"
#include "commands/view/json.h"
#include "core/graph/read_walk.h"

namespace ringscope {

struct OrderReport {
  std::vector<ReadWalk> walks;
  std::vector<SequenceKey> sequences;  // only the steps of these; empty: all
  bool full = false;                   // every step, however many
};

/// In which order a read pass takes what is in the buffers, for a terminal.
std::string OrderText(const OrderReport& report, const GraphClock& clock);
/// An array of buffers, with every step.
Json OrderJson(const OrderReport& report);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_GRAPH_ORDER_REPORT_H_
