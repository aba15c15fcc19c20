#include "core/sweep/sweep_run.h"

#include "core/log/verdict.h"
#include "core/sweep/exact_sweep.h"
#include "core/sweep/sweep_front.h"
#include "core/sweep/sweep_lane.h"

namespace ringscope {
namespace {

/// About as many chunks' shapes as fit into a processor's second cache.
constexpr size_t kBatchSteps = 2048;

/// Takes the session's records through the front and the lanes.
Status RunLanes(const SweepInput& input, const std::vector<SweepLane*>& lanes, SweepFront& front,
                SweepResult& result) {
  RS_ASSIGN_OR_RETURN(const std::unique_ptr<OpSource> ops, input.open());
  const std::unique_ptr<LaneRunner> runner = input.run_lanes(lanes);
  auto batch = std::make_shared<SweepBatch>();
  VerdictBuilder verdicts;
  while (true) {
    RS_ASSIGN_OR_RETURN(const std::optional<Op> op, ops->Next());
    if (!op) break;
    if (!IsDamage(op->body)) {
      ++result.records;
      result.recorder_gaps += std::holds_alternative<RecorderGap>(op->body) ? 1 : 0;
    }
    if (!std::holds_alternative<Commit>(op->body)) verdicts.Add(op->body);
    RS_RETURN_IF_ERROR(front.Apply(*op, *batch));
    if (batch->steps.size() < kBatchSteps) continue;
    runner->Put(std::move(batch));
    batch = std::make_shared<SweepBatch>();
  }
  runner->Put(std::move(batch));
  runner->Finish();
  result.verdicts = verdicts.Verdicts();
  return {};
}

}  // namespace

Result<SweepResult> RunSweep(const SweepInput& input, const std::vector<ReplayOptions>& configs) {
  SweepResult result;
  std::vector<std::unique_ptr<SweepLane>> lanes;
  std::vector<SweepLane*> to_run;
  for (ReplayOptions config : configs) {
    config.session.clone = input.clone;
    config.ahead = input.ahead;
    to_run.push_back(
        lanes.emplace_back(std::make_unique<SweepLane>(config, input.find_engine)).get());
  }
  SweepFront front(input.warn, input.clone);
  RS_RETURN_IF_ERROR(RunLanes(input, to_run, front, result));
  front.Finish();
  result.first_time_ns = front.first_time_ns();
  result.last_time_ns = front.last_time_ns();

  for (size_t i = 0; i < configs.size(); ++i) {
    const std::unique_ptr<SweepLane> lane = std::move(lanes[i]);
    if (lane->failure() != nullptr && lane->failure()->code != ErrorCode::kUnsupported)
      return tl::unexpected(*lane->failure());
    std::vector<SweepRow>& rows = result.rows.emplace_back();
    if (front.problem().empty() && lane->failure() == nullptr) {
      rows = lane->Finish(front.written(), result.last_time_ns.value_or(0), result.duration_ns());
      if (lane->failure() == nullptr) continue;
    }
    // The shapes of chunks are not enough: this one is replayed with all their bytes.
    RS_ASSIGN_OR_RETURN(rows, ReplayConfiguration(input, configs[i]));
  }
  return result;
}

}  // namespace ringscope
