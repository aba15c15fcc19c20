#include "core/sweep/run_points.h"

#include <iterator>
#include <utility>

#include "core/sweep/sweep_run.h"

namespace ringscope {

Status RunPoints(const SweepInput& input, size_t count, SweepReport& report) {
  if (count == 0) return {};
  const size_t begin = report.result.rows.size();
  const auto point = [&](size_t i) -> const SweepPoint& { return report.plan.points[begin + i]; };
  std::vector<ReplayOptions> configs;
  for (size_t i = 0; i < count; ++i) configs.push_back(point(i).config);
  RS_ASSIGN_OR_RETURN(SweepResult more, RunSweep(input, configs));
  for (size_t setting = 0; setting < report.plan.settings.size(); ++setting) {
    // What one configuration of a setting lost tells mostly what others lose.
    std::vector<ReplayOptions> alike;
    std::vector<std::vector<SweepRow>> rows;
    for (size_t i = 0; i < count; ++i) {
      if (point(i).setting != setting) continue;
      alike.push_back(configs[i]);
      rows.push_back(std::move(more.rows[i]));
    }
    const BufferNeeds* const needs = report.NeedsOf(setting);
    RS_RETURN_IF_ERROR(FindLosses(input, alike, needs == nullptr ? nullptr : &needs->own, rows));
    auto next = rows.begin();
    for (size_t i = 0; i < count; ++i)
      if (point(i).setting == setting) more.rows[i] = std::move(*next++);
  }
  std::vector<std::vector<SweepRow>> rows = std::move(report.result.rows);
  std::move(more.rows.begin(), more.rows.end(), std::back_inserter(rows));
  report.result = std::move(more);
  report.result.rows = std::move(rows);
  return {};
}

}  // namespace ringscope
