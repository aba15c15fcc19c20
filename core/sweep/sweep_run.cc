#include "core/sweep/sweep_run.h"

#include "core/sweep/exact_sweep.h"
#include "core/sweep/kept_batches.h"
#include "core/sweep/sweep_front.h"
#include "core/sweep/sweep_replay.h"

namespace ringscope {
namespace {

/// Takes the session's records through the front and the replays.
Status ReadRecords(const SweepInput& input, SweepFront& front, ReplayRunner& runner) {
  RS_ASSIGN_OR_RETURN(const std::unique_ptr<OpSource> ops, input.open());
  BatchBuilder& batches = front.batches();
  const auto put = [&] {
    std::shared_ptr<const SweepBatch> batch = batches.TakeBatch();
    if (input.kept != nullptr) input.kept->Put(batch);
    runner.Put(std::move(batch));
  };
  if (input.kept != nullptr) input.kept->Begin();
  while (true) {
    RS_ASSIGN_OR_RETURN(const std::optional<Op> op, ops->Next());
    if (!op) break;
    RS_RETURN_IF_ERROR(front.Apply(*op));
    if (batches.is_full()) put();
  }
  put();
  batches.Finish();
  if (input.kept != nullptr) input.kept->Complete(batches);
  return {};
}

}  // namespace

Result<SweepResult> RunSweep(const SweepInput& input, const std::vector<ReplayOptions>& configs,
                             const BatchFeed& feed) {
  SweepResult result;
  std::vector<std::unique_ptr<SweepReplay>> replays;
  std::vector<SweepReplay*> to_run;
  for (ReplayOptions config : configs) {
    config.session.clone = input.clone;
    config.ahead = input.ahead;
    to_run.push_back(
        replays.emplace_back(std::make_unique<SweepReplay>(config, input.find_engine)).get());
  }
  SweepFront front(input.warn, input.clone);
  const std::unique_ptr<ReplayRunner> runner = input.run_replays(to_run);
  const auto is_kept = [&] { return input.kept != nullptr && input.kept->complete(); };
  const BatchBuilder* fed = nullptr;
  if (feed) {
    fed = feed([&](auto batch) { runner->Put(std::move(batch)); });
    if (fed == nullptr) return RunSweep(input, configs);  // the replays got something else
  } else if (is_kept()) {
    for (const auto& batch : input.kept->batches()) runner->Put(batch);
  } else {
    RS_RETURN_IF_ERROR(ReadRecords(input, front, *runner));
  }
  const BatchBuilder& facts = fed != nullptr ? *fed
                              : is_kept()    ? input.kept->facts()
                                             : front.batches();
  result.records = facts.records();
  result.recorder_gaps = facts.recorder_gaps();
  result.verdicts = facts.Verdicts();
  result.first_time_ns = facts.first_time_ns();
  result.last_time_ns = facts.last_time_ns();
  runner->Finish([&](SweepReplay& replay) {
    if (facts.problem().empty() && replay.failure() == nullptr)
      replay.Finish(facts.written(), result.last_time_ns.value_or(0), result.duration_ns());
  });

  for (size_t i = 0; i < configs.size(); ++i) {
    const std::unique_ptr<SweepReplay> replay = std::move(replays[i]);
    if (replay->failure() != nullptr && replay->failure()->code != ErrorCode::kUnsupported)
      return tl::unexpected(*replay->failure());
    std::vector<SweepRow>& rows = result.rows.emplace_back();
    if (auto found = replay->TakeRows()) {
      rows = std::move(*found);
      continue;
    }
    // The shapes of chunks are not enough: this one is replayed with all their bytes.
    RS_ASSIGN_OR_RETURN(rows, ReplayConfiguration(input, configs[i]));
  }
  return result;
}

}  // namespace ringscope
