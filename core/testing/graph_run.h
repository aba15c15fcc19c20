#ifndef RINGSCOPE_CORE_TESTING_GRAPH_RUN_H_
#define RINGSCOPE_CORE_TESTING_GRAPH_RUN_H_

#include <utility>
#include <vector>

#include "core/graph/chunk_graph.h"
#include "core/session/replay.h"

namespace ringscope::testing {

/// A replay that draws chunk graphs.
class GraphRun {
 public:
  GraphRun(ReplayOptions options, ChunkGraphBuilder::Options graph, ReplayListener* extra = nullptr)
      : builder(std::move(graph)),
        ledger_(builder),
        replay_(std::move(options), ListenersOf(extra)) {}

  Status Apply(const Op& op) { return replay_.Apply(op); }
  Status Finish() {
    RS_RETURN_IF_ERROR(replay_.Finish());
    return replay_.Drain();
  }
  const Ledger& ledger() const { return ledger_; }

  ChunkGraphBuilder builder;

 private:
  std::vector<ReplayListener*> ListenersOf(ReplayListener* extra) {
    std::vector<ReplayListener*> listeners = {&ledger_, &builder};
    if (extra != nullptr) listeners.push_back(extra);
    return listeners;
  }

  Ledger ledger_;
  Replay replay_;
};

}  // namespace ringscope::testing

#endif  // RINGSCOPE_CORE_TESTING_GRAPH_RUN_H_
