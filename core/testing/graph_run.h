#ifndef RINGSCOPE_CORE_TESTING_GRAPH_RUN_H_
#define RINGSCOPE_CORE_TESTING_GRAPH_RUN_H_

#include <map>
#include <utility>
#include <vector>

#include "core/chunk_graph_builder.h"
#include "core/layout_map.h"
#include "core/observer_fan.h"
#include "core/replay.h"
#include "core/sink_fan.h"

namespace ringscope::testing {

/// A replay that draws chunk graphs and keeps the buffers' layouts.
class GraphRun {
 public:
  GraphRun(ReplayOptions options, ChunkGraphBuilder::Options graph, LayoutMoment moment = {},
           SessionSink* extra = nullptr)
      : builder(std::move(graph)),
        layout(moment),
        ledger_(builder),
        journal_([this](const JournalEvent& event) {
          builder.OnEvent(event);
          layout.OnEvent(event);
        }),
        sinks_(SinksOf(extra)),
        replay_(Observed(std::move(options)), sinks_) {}

  Status Apply(const Op& op) {
    journal_.BeginRecord(++records_, op.time_ns);
    return replay_.Apply(op);
  }
  Status Finish() {
    RS_RETURN_IF_ERROR(replay_.Finish());
    ledger_.Finish(replay_.session());
    return {};
  }
  const Ledger& ledger() const { return ledger_; }

  ChunkGraphBuilder builder;
  LayoutMap layout;

 private:
  std::vector<SessionSink*> SinksOf(SessionSink* extra) {
    std::vector<SessionSink*> sinks = {&ledger_, &builder, &layout};
    if (extra != nullptr) sinks.push_back(extra);
    return sinks;
  }
  ReplayOptions Observed(ReplayOptions options) {
    options.session.observe = [this](BufferId id) -> EngineObserver* {
      std::vector<EngineObserver*> both = {ledger_.Observer(id), journal_.Observer(id)};
      return &observers_.insert_or_assign(id, ObserverFan(std::move(both))).first->second;
    };
    return options;
  }

  Ledger ledger_;
  Journal journal_;
  std::map<BufferId, ObserverFan> observers_;
  SinkFan sinks_;
  Replay replay_;
  uint64_t records_ = 0;
};

}  // namespace ringscope::testing

#endif  // RINGSCOPE_CORE_TESTING_GRAPH_RUN_H_
