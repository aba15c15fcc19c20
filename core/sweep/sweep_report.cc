#include "core/sweep/sweep_report.h"

#include <cmath>

namespace ringscope {
namespace {

constexpr size_t kMaxConfigurations = 4096;
constexpr double kScales[] = {0.125, 0.25, 0.5, 1, 2, 4, 8};

/// The lists of single buffers, joined, and of all buffers.
std::map<std::optional<BufferKey>, std::vector<uint64_t>> JoinLists(const SweepChoices& choices) {
  std::map<std::optional<BufferKey>, std::vector<uint64_t>> lists;
  for (const SizeList& list : choices.sizes) {
    std::vector<uint64_t>& sizes = lists[list.buffer];
    sizes.insert(sizes.end(), list.sizes.begin(), list.sizes.end());
    std::sort(sizes.begin(), sizes.end());
    sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  }
  return lists;
}

/// Returns the reads that `replay` makes by default, with their name.
NamedReads DefaultReads(const SessionIndex& facts) {
  const ReadsMode mode = facts.has_reads ? ReadsMode::kRecorded
                         : facts.streams ? ReadsMode::kStreamed
                                         : ReadsMode::kEnd;
  return {Name(mode), {mode, 0, {}}, /*assumed=*/!facts.has_reads};
}

/// Gives all buffers `scale` times their own size, rounded up to pages and at most kMaxTriedSize.
void Scale(SweepPoint& point, double scale, const SessionIndex& facts) {
  point.scale = scale;
  for (const auto& [id, buffer] : facts.buffers) {
    const double wanted = std::min(std::ceil(scale * static_cast<double>(buffer.size) / kPageBytes),
                                   static_cast<double>(kMaxTriedSize / kPageBytes));
    // As it is, it may be no whole number of pages.
    const uint64_t size = scale == 1 ? buffer.size : kPageBytes * static_cast<uint64_t>(wanted);
    point.options.session.buffers[id].size = std::max(size, std::min(kPageBytes, buffer.size));
  }
}

bool SameNumbers(const SweepRow& a, const SweepRow& b) {
  return a.size == b.size && a.read == b.read && a.unread == b.unread &&
         a.overwritten == b.overwritten && a.discarded == b.discarded && a.stats == b.stats &&
         a.history_ns == b.history_ns && a.shortest_history_ns == b.shortest_history_ns;
}

/// Returns true if a size is close enough to the one that a search found to be of interest.
bool IsNear(uint64_t size, uint64_t own, uint64_t found) {
  constexpr uint64_t kBelow = 16;
  if (size == own || (size <= found && found - size <= kPageBytes)) return true;
  for (uint64_t factor = 1; factor <= kBelow; factor *= 2)
    if (size == PagesDown(found / factor)) return true;
  return false;
}

bool Meets(const SweepTarget& target, const SweepRow& row) {
  if (target.keep_ns && row.shortest_sequence && row.shortest_history_ns < *target.keep_ns)
    return false;
  return !target.loss_millionths ||
         static_cast<double>(row.lost) * 1e6 <= static_cast<double>(*target.loss_millionths) *
                                                    static_cast<double>(row.written.packets);
}

/// Replays the points and fills in their rows.
Status RunPoints(Sweep& sweep, std::span<SweepPoint> points, SweepReport& report) {
  RS_ASSIGN_OR_RETURN(auto rows, sweep.Run({points.begin(), points.end()}));
  for (size_t i = 0; i < points.size(); ++i) points[i].rows = std::move(rows[i]);
  report.outcome = sweep.outcome();
  return {};
}

std::vector<SweepSetting> MakeSettings(const SweepChoices& choices, const SessionIndex& facts) {
  std::vector<std::optional<std::string>> engines(choices.engines.begin(), choices.engines.end());
  std::vector<std::optional<FillPolicy>> policies(choices.policies.begin(), choices.policies.end());
  std::vector<NamedReads> reads = choices.reads;
  if (engines.empty()) engines.emplace_back();
  if (policies.empty()) policies.emplace_back();
  if (reads.empty()) reads.push_back(DefaultReads(facts));
  std::vector<SweepSetting> settings;
  for (const auto& engine : engines)
    for (const auto& policy : policies)
      for (const NamedReads& read : reads) {
        const size_t number = settings.size();
        SweepSetting& setting = settings.emplace_back(SweepSetting{{number, {}}, read});
        setting.options.session.all = {engine, {}, policy};
        setting.options.reads = read.choice;
      }
  return settings;
}

Result<std::vector<SweepPoint>> MakePoints(const std::vector<SweepSetting>& settings,
                                           const SweepChoices& choices, const SessionIndex& facts) {
  const auto lists = JoinLists(choices);
  const bool all_fixed = std::ranges::all_of(
      facts.buffers, [&](const auto& buffer) { return lists.contains(buffer.first); });
  std::vector<double> scales(std::begin(kScales), std::end(kScales));
  if (all_fixed) scales = {1};
  if (lists.contains(std::nullopt)) scales.clear();
  size_t count = scales.size();
  for (const auto& [buffer, sizes] : lists) count = std::max(count, sizes.size());
  if (settings.size() * count > kMaxConfigurations)
    return Fail(ErrorCode::kUsage,
                fmt::format("that makes {} configurations or more, and {} are allowed",
                            WithCommas(settings.size() * count), WithCommas(kMaxConfigurations)),
                {}, "choose fewer sizes, or a larger factor: --sizes 256k..64Mx4");

  // Buffers do not affect each other: their sizes change together.
  std::vector<SweepPoint> points;
  for (size_t setting = 0; setting < settings.size(); ++setting)
    for (size_t i = 0; i < count; ++i) {
      SweepPoint& point = points.emplace_back(SweepPoint{settings[setting]});
      if (!scales.empty()) Scale(point, scales[std::min(i, scales.size() - 1)], facts);
      for (const auto& [buffer, sizes] : lists) {
        const uint64_t size = sizes[std::min(i, sizes.size() - 1)];
        if (buffer)
          point.options.session.buffers[*buffer].size = size;
        else
          point.size = point.options.session.all.size = size;
      }
    }
  return points;
}

}  // namespace

uint64_t SweepReport::OwnSize(BufferId buffer) const {
  const auto* const of = FindIn(facts.buffers, buffer);
  return of == nullptr ? 0 : of->size;
}

Result<SweepReport> SweepSession(Sweep& sweep, const SweepChoices& choices) {
  SweepReport report;
  report.facts = sweep.input().facts;
  report.targets = choices.targets;
  report.settings = MakeSettings(choices, report.facts);
  if (report.targets.empty()) {
    RS_ASSIGN_OR_RETURN(report.points, MakePoints(report.settings, choices, report.facts));
    RS_RETURN_IF_ERROR(RunPoints(sweep, report.points, report));
    return report;
  }
  const auto meets = [&](const SweepRow& row) {
    return std::ranges::all_of(report.targets,
                               [&](const SweepTarget& target) { return Meets(target, row); });
  };
  for (size_t setting = 0; setting < report.settings.size(); ++setting) {
    SweepConfig own = report.settings[setting];
    for (const SizeList& list : choices.sizes)
      own.options.session.buffers[*list.buffer].size = list.sizes.front();
    const size_t first_point = report.points.size();
    const TrySizes replay =
        [&](const std::vector<BufferSizes>& sizes) -> Result<std::vector<std::vector<SweepRow>>> {
      for (const BufferSizes& each : sizes) {
        SweepPoint& point = report.points.emplace_back(SweepPoint{own});
        for (const auto& [id, size] : each) point.options.session.buffers[id].size = size;
      }
      const auto points = std::span(report.points).last(sizes.size());
      RS_RETURN_IF_ERROR(RunPoints(sweep, points, report));
      std::vector<std::vector<SweepRow>> rows;
      for (const SweepPoint& point : points) rows.push_back(point.rows);
      return rows;
    };
    std::vector<SizeGoal> goals;
    for (const auto& [id, buffer] : report.facts.buffers) {
      if (own.options.session.buffers.contains(id)) continue;
      SizeGoal& goal = goals.emplace_back(SizeGoal{.buffer = id, .first = {}, .judge = {}});
      goal.judge = [&](const SweepRow& row) {
        return TriedSize{.meets = meets(row), .lost = row.lost, .same_from = row.size};
      };
      for (uint64_t scale = 1; scale <= 256; scale *= scale < 16 ? 2 : 4)
        goal.first.push_back(std::max(PagesUp(buffer.size / 8 * scale), kPageBytes));
    }
    RS_ASSIGN_OR_RETURN(const auto sizes,
                        FindSmallestSizes(goals, report.facts.commit_bytes, replay));
    FoundSize found;
    BufferSizes best;
    for (size_t goal = 0; goal < goals.size(); ++goal) {
      const BufferId id = goals[goal].buffer;
      if (sizes[goal].size) {
        best[id] = *sizes[goal].size;
        continue;
      }
      for (size_t i = first_point; i < report.points.size(); ++i)
        if (const SweepRow* row = FindBy(report.points[i].rows, id, &SweepRow::id);
            row != nullptr && row->size == sizes[goal].best) {
          found.misses.push_back(*row);
          break;
        }
    }
    RS_RETURN_IF_ERROR(replay({best}).map([](auto&&) {}));
    // Buffers whose size is fixed may miss the targets, too.
    for (const SweepRow& row : report.points.back().rows)
      if (!Contains(goals, row.id, &SizeGoal::buffer) && !meets(row)) found.misses.push_back(row);
    if (found.misses.empty())
      found.rows = report.points.back().rows;
    else
      report.points.pop_back();
    report.found.push_back(std::move(found));
  }
  std::ranges::stable_sort(report.points, {}, [](const SweepPoint& point) {
    uint64_t sizes = 0;
    for (const SweepRow& row : point.rows) sizes += row.size;
    return std::pair(point.setting, sizes);
  });
  return report;
}

std::map<std::pair<size_t, BufferId>, std::vector<const SweepRow*>> SeriesOf(
    const SweepReport& report) {
  std::map<std::pair<size_t, BufferId>, std::vector<const SweepRow*>> all;
  for (const SweepPoint& point : report.points)
    for (const SweepRow& row : point.rows) {
      const SweepRow* const found =
          report.found.empty() ? nullptr
                               : FindBy(report.found[point.setting].rows, row.id, &SweepRow::id);
      if (found != nullptr && !IsNear(row.size, report.OwnSize(row.id), found->size)) continue;
      std::vector<const SweepRow*>& rows = all[{point.setting, row.id}];
      if (std::ranges::none_of(rows, [&](auto* other) { return SameNumbers(*other, row); }))
        rows.push_back(&row);
    }
  for (auto& [key, rows] : all) std::ranges::stable_sort(rows, {}, &SweepRow::size);
  return all;
}

}  // namespace ringscope
