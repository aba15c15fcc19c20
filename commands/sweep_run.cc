#include "commands/sweep_run.h"

#include <fmt/format.h>

#include <set>
#include <thread>

#include "commands/sweep_reference.h"
#include "commands/sweep_workers.h"
#include "commands/text.h"
#include "core/sweep_front.h"
#include "core/sweep_lane.h"

namespace ringscope {
namespace {

/// About as many chunks' shapes as fit into a processor's second cache.
constexpr size_t kBatchSteps = 2048;

}  // namespace

Result<SweepResult> RunSweep(Context& context, const OpenSession& open,
                             const std::vector<SweepConfig>& configs,
                             const EngineLookup& find_engine) {
  SweepResult result;
  RS_ASSIGN_OR_RETURN(OpenedSession opened, open());
  result.path = opened.reader->path();
  result.session = opened.reader->session();
  const auto at_path = [&](Error error) {
    if (error.where.path.empty()) error.where.path = result.path;
    return tl::unexpected<Error>(std::move(error));
  };

  std::vector<std::unique_ptr<SweepLane>> lanes;
  std::vector<SweepLane*> to_run;
  for (const SweepConfig& config : configs)
    to_run.push_back(lanes.emplace_back(std::make_unique<SweepLane>(config, find_engine)).get());
  std::vector<std::string> warnings;
  SweepFront front([&](const std::string& text) { warnings.push_back(text); });
  {
    SweepWorkers workers(
        to_run, context.threads != 0 ? context.threads : std::thread::hardware_concurrency());
    auto batch = std::make_shared<SweepBatch>();
    while (true) {
      RS_ASSIGN_OR_RETURN(const std::optional<Op> op, opened.ops().Next());
      if (!op) break;
      ++result.records;
      result.recorder_gaps += std::holds_alternative<RecorderGap>(op->body) ? 1 : 0;
      if (Status status = front.Apply(*op, *batch); !status)
        return at_path(std::move(status).error());
      if (batch->steps.size() < kBatchSteps) continue;
      workers.Put(std::move(batch));
      batch = std::make_shared<SweepBatch>();
    }
    workers.Put(std::move(batch));
  }
  opened = {};
  front.Finish();
  result.first_time_ns = front.first_time_ns();
  result.last_time_ns = front.last_time_ns();

  // What can not be told from the shapes of chunks is replayed with all their bytes.
  bool replayed = false;
  for (size_t i = 0; i < configs.size(); ++i) {
    SweepLane& lane = *lanes[i];
    if (lane.failure() != nullptr && lane.failure()->code != ErrorCode::kUnsupported)
      return at_path(*lane.failure());
    std::vector<SweepRow>& rows = result.rows.emplace_back();
    if (front.problem().empty() && lane.failure() == nullptr)
      rows = lane.Finish(front.written(), result.last_time_ns.value_or(0), result.duration_ns());
    const bool replays = !front.problem().empty() || lane.failure() != nullptr;
    lanes[i].reset();
    if (!replays) continue;
    replayed = true;
    RS_ASSIGN_OR_RETURN(rows, ReplayConfiguration(context, open, configs[i], find_engine));
  }
  // A replay says these by itself.
  if (!replayed) {
    for (const std::string& text : warnings)
      context.console.Warn(fmt::format("{}: {}", result.path, Printable(text)));
  }
  return result;
}

}  // namespace ringscope
