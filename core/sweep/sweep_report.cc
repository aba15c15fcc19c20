#include "core/sweep/sweep_report.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace ringscope {
namespace {

bool SameNumbers(const SweepRow& a, const SweepRow& b) {
  return a.size == b.size && a.read == b.read && a.unread == b.unread &&
         a.overwritten == b.overwritten && a.discarded == b.discarded && a.stats == b.stats &&
         a.history_ns == b.history_ns && a.shortest_history_ns == b.shortest_history_ns;
}

SweepSeries MakeSeries(const SweepReport& report, size_t setting, BufferId buffer) {
  SweepSeries series{
      .setting = &report.plan.settings[setting], .buffer = buffer, .rows = {}, .points = {}};
  std::vector<std::pair<const SweepRow*, size_t>> rows;
  for (size_t i = 0; i < report.plan.points.size(); ++i) {
    if (report.plan.points[i].setting != setting) continue;
    for (const SweepRow& row : report.result.rows[i])
      if (row.id == buffer && std::none_of(rows.begin(), rows.end(), [&](const auto& other) {
            return SameNumbers(*other.first, row);
          }))
        rows.emplace_back(&row, i);
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto& a, const auto& b) { return a.first->size < b.first->size; });
  for (const auto& [row, point] : rows) {
    series.rows.push_back(row);
    series.points.push_back(point);
  }
  return series;
}

/// Whether the sizes are the log's own, doubled or halved some times.
bool IsDoubling(const SweepPoint& point) {
  return point.scale && std::exp2(std::round(std::log2(*point.scale))) == *point.scale;
}

}  // namespace

std::vector<SweepSeries> SeriesOf(const SweepReport& report) {
  std::set<BufferId> buffers;
  for (const auto& rows : report.result.rows)
    for (const SweepRow& row : rows) buffers.insert(row.id);
  std::vector<SweepSeries> all;
  for (size_t setting = 0; setting < report.plan.settings.size(); ++setting) {
    for (const BufferId buffer : buffers) {
      SweepSeries series = MakeSeries(report, setting, buffer);
      if (!series.rows.empty()) all.push_back(std::move(series));
    }
  }
  return all;
}

SweepSeries AroundFound(const SweepReport& report, const SweepSeries& series) {
  constexpr uint64_t kDoublingsBelow = 16;  // as a factor
  constexpr uint64_t kDoublingsAbove = 2;
  const auto found =
      std::find_if(report.found.begin(), report.found.end(), [&](const FoundSize& entry) {
        return &report.plan.settings[entry.setting] == series.setting;
      });
  if (found == report.found.end() || !found->point) return series;
  const SweepRow* chosen = FindRow(report.result.rows[*found->point], series.buffer);
  if (chosen == nullptr) return series;
  SweepSeries around = series;
  around.rows.clear();
  around.points.clear();
  for (size_t i = 0; i < series.points.size(); ++i) {
    const SweepPoint& point = report.plan.points[series.points[i]];
    const uint64_t size = series.rows[i]->size;
    const bool near = size * kDoublingsBelow >= chosen->size &&
                      size <= chosen->size * kDoublingsAbove && IsDoubling(point);
    const bool next_below = i + 1 < series.rows.size() && series.rows[i + 1]->size == chosen->size;
    const bool own = size == OwnSize(report, series.buffer);
    const bool needed = IsNeededSize(report, series, size);
    if (!near && !next_below && !own && !needed && size != chosen->size) continue;
    around.rows.push_back(series.rows[i]);
    around.points.push_back(series.points[i]);
  }
  return around.rows.empty() ? series : around;
}

std::optional<uint64_t> SweepReport::LosslessSizeOf(size_t setting, BufferId buffer) const {
  const BufferNeeds* const of = NeedsOf(setting);
  if (of == nullptr) return std::nullopt;
  const auto needed = std::ranges::find(of->sizes, buffer, &NeededSize::buffer);
  const bool is_lossless =
      needed != of->sizes.end() && needed->outcome && needed->outcome->full == 0;
  return is_lossless ? std::optional(needed->size) : std::nullopt;
}

bool IsNeededSize(const SweepReport& report, const SweepSeries& series, uint64_t size) {
  const auto setting = static_cast<size_t>(series.setting - report.plan.settings.data());
  return report.LosslessSizeOf(setting, series.buffer) == size;
}

uint64_t OwnSize(const SweepReport& report, BufferId buffer) {
  const auto facts = report.facts.buffers.find(buffer);
  return facts == report.facts.buffers.end() ? 0 : facts->second.size;
}

}  // namespace ringscope
