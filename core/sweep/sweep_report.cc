#include "core/sweep/sweep_report.h"

#include <algorithm>
#include <set>
#include <span>

#include "core/perfetto/page.h"
#include "core/sweep/size_search.h"

namespace ringscope {
namespace {

bool SameNumbers(const SweepRow& a, const SweepRow& b) {
  return a.size == b.size && a.read == b.read && a.unread == b.unread &&
         a.overwritten == b.overwritten && a.discarded == b.discarded && a.stats == b.stats &&
         a.history_ns == b.history_ns && a.shortest_history_ns == b.shortest_history_ns;
}

/// Of a search: whether a size is close enough to the one found to be of interest.
bool IsNear(uint64_t size, uint64_t own, uint64_t found) {
  constexpr uint64_t kBelow = 16;
  if (size == own || (size <= found && found - size <= kPageBytes)) return true;
  for (uint64_t factor = 1; factor <= kBelow; factor *= 2)
    if (size == PagesDown(found / factor)) return true;
  return false;
}

SweepSeries MakeSeries(const SweepReport& report, size_t setting, BufferId buffer) {
  SweepSeries series{.setting = &report.settings[setting], .buffer = buffer, .rows = {}};
  const SweepRow* found = nullptr;
  for (const FoundSize& one : report.found)
    if (one.setting == setting) found = FindRow(one.rows, buffer);
  for (const SweepPoint& point : report.points) {
    const SweepRow* row = point.setting == setting ? FindRow(point.rows, buffer) : nullptr;
    if (row == nullptr) continue;
    if (found != nullptr && !IsNear(row->size, report.OwnSize(buffer), found->size)) continue;
    if (std::none_of(series.rows.begin(), series.rows.end(),
                     [&](const SweepRow* other) { return SameNumbers(*other, *row); }))
      series.rows.push_back(row);
  }
  std::ranges::stable_sort(series.rows, {}, &SweepRow::size);
  return series;
}

bool Meets(const SweepTarget& target, const SweepRow& row) {
  if (target.keep_ns && row.shortest_sequence && row.shortest_history_ns < *target.keep_ns)
    return false;
  return !target.loss_millionths ||
         static_cast<double>(row.lost) * 1e6 <= static_cast<double>(*target.loss_millionths) *
                                                    static_cast<double>(row.written.packets);
}

/// Orders points by setting, and in each by the sizes of the buffers together.
std::pair<size_t, uint64_t> PlaceOf(const SweepPoint& point) {
  uint64_t sizes = 0;
  for (const SweepRow& row : point.rows) sizes += row.size;
  return {point.setting, sizes};
}

/// Replays the points and fills in their rows.
Status RunPoints(Sweep& sweep, std::span<SweepPoint> points, SweepReport& report) {
  RS_ASSIGN_OR_RETURN(auto rows, sweep.Run({points.begin(), points.end()}));
  for (size_t i = 0; i < points.size(); ++i) points[i].rows = std::move(rows[i]);
  report.outcome = sweep.outcome();
  return {};
}

}  // namespace

uint64_t SweepReport::OwnSize(BufferId buffer) const {
  const auto of = facts.buffers.find(buffer);
  return of == facts.buffers.end() ? 0 : of->second.size;
}

Result<SweepReport> SweepSession(Sweep& sweep, const SweepChoices& choices) {
  SweepReport report;
  report.facts = sweep.input().facts;
  report.settings = MakeSettings(choices, report.facts);
  RS_ASSIGN_OR_RETURN(report.points, MakePoints(report.settings, choices, report.facts));
  RS_RETURN_IF_ERROR(RunPoints(sweep, report.points, report));
  return report;
}

Status CheckTargetSizes(const SweepChoices& choices) {
  for (const SizeList& list : choices.sizes)
    if (!list.buffer || list.sizes.size() != 1)
      return Fail(ErrorCode::kUsage, "--target looks for the sizes itself", {},
                  "--sizes can only fix single buffers: --sizes 2=64k");
  return {};
}

Result<SweepReport> FindTargets(Sweep& sweep, const SweepChoices& choices,
                                std::vector<SweepTarget> targets) {
  SweepReport report;
  report.facts = sweep.input().facts;
  report.targets = std::move(targets);
  report.settings = MakeSettings(choices, report.facts);
  const auto meets = [&](const SweepRow& row) {
    return std::ranges::all_of(report.targets,
                               [&](const SweepTarget& target) { return Meets(target, row); });
  };
  for (size_t setting = 0; setting < report.settings.size(); ++setting) {
    SweepConfig own = OwnConfig(report.settings[setting], setting, choices);
    for (const SizeList& list : choices.sizes)
      own.options.session.buffers[*list.buffer].size = list.sizes.front();
    const size_t first_point = report.points.size();
    SizeSearch search;
    search.commit_bytes = report.facts.commit_bytes;
    search.replay = [&](const std::vector<BufferSizes>& sizes)
        -> Result<std::vector<std::map<BufferId, TriedSize>>> {
      for (const BufferSizes& each : sizes) {
        SweepPoint& point = report.points.emplace_back(SweepPoint{own});
        for (const auto& [id, size] : each) point.options.session.buffers[id].size = size;
      }
      const auto points = std::span(report.points).last(sizes.size());
      RS_RETURN_IF_ERROR(RunPoints(sweep, points, report));
      std::vector<std::map<BufferId, TriedSize>> tried(sizes.size());
      for (size_t i = 0; i < sizes.size(); ++i)
        for (const SweepRow& row : points[i].rows) tried[i][row.id] = {meets(row), row.lost};
      return tried;
    };
    for (const auto& [id, buffer] : report.facts.buffers) {
      if (own.options.session.buffers.contains(id)) continue;
      std::vector<uint64_t>& first = search.first[id];
      for (uint64_t scale = 1; scale <= 256; scale *= scale < 16 ? 2 : 4)
        first.push_back(std::max(PagesUp(buffer.size / 8 * scale), kPageBytes));
    }
    RS_ASSIGN_OR_RETURN(const auto sizes, FindSmallestSizes(search));
    FoundSize found{.setting = setting, .rows = {}, .misses = {}};
    BufferSizes best;
    for (const auto& [id, size] : sizes) {
      if (size.size) {
        best[id] = *size.size;
        continue;
      }
      for (size_t i = first_point; i < report.points.size(); ++i)
        if (const SweepRow* row = FindRow(report.points[i].rows, id);
            row != nullptr && row->size == size.best) {
          found.misses.push_back(*row);
          break;
        }
    }
    RS_RETURN_IF_ERROR(search.replay({best}).map([](auto&&) {}));
    // Buffers whose size is fixed may miss the targets, too.
    for (const SweepRow& row : report.points.back().rows)
      if (!sizes.contains(row.id) && !meets(row)) found.misses.push_back(row);
    if (found.misses.empty())
      found.rows = report.points.back().rows;
    else
      report.points.pop_back();
    report.found.push_back(std::move(found));
  }
  std::ranges::stable_sort(report.points, {}, PlaceOf);
  return report;
}

std::vector<SweepSeries> SeriesOf(const SweepReport& report) {
  std::set<BufferId> buffers;
  for (const SweepPoint& point : report.points)
    for (const SweepRow& row : point.rows) buffers.insert(row.id);
  std::vector<SweepSeries> all;
  for (size_t setting = 0; setting < report.settings.size(); ++setting)
    for (const BufferId buffer : buffers)
      if (SweepSeries series = MakeSeries(report, setting, buffer); !series.rows.empty())
        all.push_back(std::move(series));
  return all;
}

}  // namespace ringscope
