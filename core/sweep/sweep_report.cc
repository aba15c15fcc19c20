#include "core/sweep/sweep_report.h"

#include <algorithm>
#include <set>

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
  SweepSeries series{.setting = &report.plan.settings[setting], .buffer = buffer, .rows = {}};
  const SweepRow* found = nullptr;
  for (const FoundSize& one : report.found)
    if (one.setting == setting && one.point) found = FindRow(report.rows[*one.point], buffer);
  for (size_t i = 0; i < report.plan.points.size(); ++i) {
    if (report.plan.points[i].setting != setting) continue;
    const SweepRow* row = FindRow(report.rows[i], buffer);
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
  return !target.loss_millionths || static_cast<double>(row.lost_packets()) * 1e6 <=
                                        static_cast<double>(*target.loss_millionths) *
                                            static_cast<double>(row.written.packets);
}

/// Why no size of a buffer meets the targets.
TargetMiss MissOf(const SweepReport& report, const SweepRow& row) {
  for (const SweepTarget& target : report.targets) {
    if (Meets(target, row) || !target.keep_ns) continue;
    if (report.outcome.duration_ns() < *target.keep_ns)
      return {.kind = TargetMiss::Kind::kLogTooShort, .row = row};
    if (row.shortest_history_ns < *target.keep_ns)
      return {.kind = TargetMiss::Kind::kHistory, .row = row};
  }
  return {.kind = TargetMiss::Kind::kLoss, .row = row};
}

/// Setting by setting, and in each by the sizes of the buffers together.
void SortPoints(SweepReport& report) {
  const auto bytes = [&](size_t i) {
    uint64_t sizes = 0;
    for (const SweepRow& row : report.rows[i]) sizes += row.size;
    return std::pair(report.plan.points[i].setting, sizes);
  };
  std::vector<size_t> order(report.rows.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::stable_sort(order, {}, bytes);
  SweepReport sorted = report;
  for (size_t i = 0; i < order.size(); ++i) {
    sorted.plan.points[i] = report.plan.points[order[i]];
    sorted.rows[i] = report.rows[order[i]];
  }
  for (FoundSize& found : sorted.found)
    if (found.point)
      found.point = static_cast<size_t>(std::ranges::find(order, *found.point) - order.begin());
  report = std::move(sorted);
}

}  // namespace

uint64_t SweepReport::OwnSize(BufferId buffer) const {
  const auto of = facts.buffers.find(buffer);
  return of == facts.buffers.end() ? 0 : of->second.size;
}

Result<SweepReport> SweepSession(Sweep& sweep, SessionFacts facts, const SweepChoices& choices) {
  SweepReport report;
  report.facts = std::move(facts);
  RS_ASSIGN_OR_RETURN(report.plan, MakePlan(choices, report.facts));
  const std::vector<SweepConfig> configs(report.plan.points.begin(), report.plan.points.end());
  RS_ASSIGN_OR_RETURN(report.rows, sweep.Run(configs));
  report.outcome = sweep.outcome();
  return report;
}

Status CheckTargetSizes(const SweepChoices& choices) {
  for (const SizeList& list : choices.sizes)
    if (!list.buffer || list.sizes.size() != 1)
      return Fail(ErrorCode::kUsage, "--target looks for the sizes itself", {},
                  "--sizes can only fix single buffers: --sizes 2=64k");
  return {};
}

Result<SweepReport> FindTargets(Sweep& sweep, SessionFacts facts, const SweepChoices& choices,
                                std::vector<SweepTarget> targets) {
  SweepReport report;
  report.facts = std::move(facts);
  report.targets = std::move(targets);
  report.plan.settings = MakeSettings(choices, report.facts);
  for (size_t setting = 0; setting < report.plan.settings.size(); ++setting) {
    SizeSearch search;
    search.config = OwnConfig(report.plan.settings[setting], setting, choices);
    for (const SizeList& list : choices.sizes)
      search.config.options.session.buffers[*list.buffer].size = list.sizes.front();
    for (const auto& [id, buffer] : report.facts.buffers) {
      if (search.config.options.session.buffers.contains(id)) continue;
      std::vector<uint64_t>& first = search.first[id];
      for (uint64_t scale = 1; scale <= 256; scale *= scale < 16 ? 2 : 4)
        first.push_back(std::max(PagesUp(buffer.size / 8 * scale), kPageBytes));
    }
    search.meets = [&](const SweepRow& row) {
      return std::ranges::all_of(report.targets,
                                 [&](const SweepTarget& target) { return Meets(target, row); });
    };
    search.tried = [&](const SweepConfig& config, const std::vector<SweepRow>& rows) {
      report.plan.points.push_back(SweepPoint{config});
      report.rows.push_back(rows);
    };
    RS_ASSIGN_OR_RETURN(const auto sizes, FindSmallestSizes(sweep, search));
    FoundSize& found =
        report.found.emplace_back(FoundSize{.setting = setting, .point = {}, .misses = {}});
    SweepConfig best = search.config;
    for (const auto& [id, size] : sizes) {
      if (size.size)
        best.options.session.buffers[id].size = *size.size;
      else
        found.misses.push_back(MissOf(report, size.row));
    }
    RS_ASSIGN_OR_RETURN(const auto rows, sweep.Run({best}));
    report.outcome = sweep.outcome();
    // Buffers whose size is fixed may miss the targets, too.
    for (const SweepRow& row : rows.front())
      if (!sizes.contains(row.id) && !search.meets(row))
        found.misses.push_back(MissOf(report, row));
    if (!found.misses.empty()) {
      if (found.misses.front().kind == TargetMiss::Kind::kLogTooShort) found.misses.resize(1);
      continue;
    }
    found.point = report.rows.size();
    search.tried(best, rows.front());
  }
  SortPoints(report);
  return report;
}

std::vector<SweepSeries> SeriesOf(const SweepReport& report) {
  std::set<BufferId> buffers;
  for (const auto& rows : report.rows)
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

}  // namespace ringscope
