#include "core/sweep/sweep_target.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "core/perfetto/page.h"
#include "core/sweep/exact_sweep.h"
#include "core/sweep/run_points.h"

namespace ringscope {
namespace {

constexpr int kSteps = 16;
/// What configurations that run at once may take.
constexpr uint64_t kMostBytes = 192 << 20;
/// What the buffers of a replay with payloads may hold.
constexpr uint64_t kMostVerified = 256 << 20;

bool Meets(const SweepTarget& target, const SweepRow& row) {
  if (target.keep_ns && row.shortest_sequence && row.shortest_history_ns < *target.keep_ns)
    return false;
  return !target.loss_millionths || static_cast<double>(row.lost_packets()) * 1e6 <=
                                        static_cast<double>(*target.loss_millionths) *
                                            static_cast<double>(row.written.packets);
}

/// The target that a buffer misses; nullptr: all are met.
const SweepTarget* Missed(const std::vector<SweepTarget>& targets, const SweepRow& row) {
  const auto missed = std::find_if(targets.begin(), targets.end(),
                                   [&](const SweepTarget& target) { return !Meets(target, row); });
  return missed == targets.end() ? nullptr : &*missed;
}

bool AllMet(const std::vector<SweepTarget>& targets, const std::vector<SweepRow>& rows) {
  return std::none_of(rows.begin(), rows.end(),
                      [&](const SweepRow& row) { return Missed(targets, row) != nullptr; });
}

bool SameSizes(const SweepPoint& a, const SweepPoint& b) {
  return std::equal(a.config.session.buffers.begin(), a.config.session.buffers.end(),
                    b.config.session.buffers.begin(), b.config.session.buffers.end(),
                    [](const auto& x, const auto& y) {
                      return x.first == y.first && x.second.size == y.second.size;
                    });
}

class Search {
 public:
  Search(const SweepInput& input, const SweepChoices& choices, SweepReport& report)
      : input_(input), choices_(choices), report_(report) {
    for (const SizeList& list : choices.sizes) fixed_[*list.buffer] = list.sizes.front();
  }

  Status Run() {
    report_.plan.settings = MakeSettings(choices_, report_.facts);
    RS_RETURN_IF_ERROR(AddNeeded());
    const auto [first, last] = Doublings();
    for (size_t setting = 0; setting < report_.plan.settings.size(); ++setting) {
      report_.found.push_back({.setting = setting, .point = {}, .misses = {}});
      // Where its own sizes lose something, the half shows enough of the smaller ones.
      const int smallest = KeepsAll() && !NeedsOf(setting).empty() ? -1 : first;
      for (int doubling = smallest; doubling <= last; ++doubling)
        Add(setting, std::ldexp(1.0, doubling));
    }
    RS_RETURN_IF_ERROR(RunAdded(/*all=*/false));
    for (const FoundSize& found : report_.found)
      for (const auto& [id, buffer] : report_.facts.buffers)
        if (IsScaled(id) && buffer.size > 0) RS_RETURN_IF_ERROR(Refine(found.setting, id));
    RS_RETURN_IF_ERROR(RunAdded());
    for (const FoundSize& found : report_.found) AddCombined(found.setting);
    RS_RETURN_IF_ERROR(RunAdded());
    for (FoundSize& found : report_.found) {
      found.point = Smallest(found.setting);
      if (found.point)
        RS_RETURN_IF_ERROR(Verify(found));
      else
        found.misses = WhyNot(found.setting);
    }
    SortPoints();
    return {};
  }

 private:
  bool IsScaled(BufferId id) const { return !fixed_.contains(id); }

  /// Whether nothing but a loss of nothing is looked for, so that the sizes that the buffers need
  /// are the answer.
  bool KeepsAll() const {
    return std::ranges::all_of(report_.targets, [](const SweepTarget& target) {
      return !target.keep_ns && target.loss_millionths == 0;
    });
  }

  std::span<const NeededSize> NeedsOf(size_t setting) const {
    const BufferNeeds* const needs = report_.NeedsOf(setting);
    return needs == nullptr ? std::span<const NeededSize>() : needs->sizes;
  }

  /// Exponents of 2, as scales of the log's own sizes.
  std::pair<int, int> Doublings() const {
    double smallest = 0, largest = 0;
    for (const auto& [id, buffer] : report_.facts.buffers) {
      if (!IsScaled(id) || buffer.size == 0) continue;
      const auto size = static_cast<double>(buffer.size);
      smallest = smallest == 0 ? size : std::min(smallest, size);
      largest = std::max(largest, size);
    }
    if (largest == 0) return {0, 0};
    // A chunk takes less than four times its bytes in any buffer, the smallest ones apart.
    const double enough = std::min(4.0 * static_cast<double>(report_.facts.commit_bytes) + 65536,
                                   static_cast<double>(kMaxScaledSize));
    const int first = static_cast<int>(std::floor(std::log2(kPageBytes / largest)));
    const int last = static_cast<int>(std::ceil(std::log2(enough / smallest)));
    return {std::min(first, 0), std::max(last, first)};
  }

  void Add(size_t setting, double scale) {
    AddNew(ScaledPoint(report_.plan.settings[setting], setting, scale, choices_, report_.facts,
                       fixed_));
  }
  /// @param sizes of some buffers; the others have their own
  void Add(size_t setting, std::map<BufferId, uint64_t> sizes) {
    for (const auto& [id, size] : fixed_) sizes[id] = size;
    SweepPoint point =
        ScaledPoint(report_.plan.settings[setting], setting, 1, choices_, report_.facts, sizes);
    point.scale.reset();
    AddNew(std::move(point));
  }
  void AddNew(SweepPoint point) {
    for (const SweepPoint& other : report_.plan.points)
      if (other.setting == point.setting && SameSizes(other, point)) return;
    report_.plan.points.push_back(std::move(point));
  }

  /// The sizes that the buffers need to lose nothing are tried, too, and slightly smaller ones.
  Status AddNeeded() {
    RS_ASSIGN_OR_RETURN(report_.needs,
                        FindNeededSizes(input_, report_.plan.settings, choices_, report_.facts));
    constexpr uint64_t kStepsOfNeed = 64;
    for (size_t setting = 0; setting < report_.needs.size(); ++setting) {
      std::map<BufferId, uint64_t> sizes, smaller;
      for (const NeededSize& one : NeedsOf(setting)) {
        sizes[one.buffer] = one.size;
        const uint64_t step = std::max(one.size / kStepsOfNeed, kPageBytes);
        smaller[one.buffer] = std::max(PagesUp(one.size - std::min(step, one.size)), kPageBytes);
      }
      if (sizes.empty()) continue;
      Add(setting, std::move(sizes));
      if (KeepsAll()) Add(setting, std::move(smaller));
    }
    return {};
  }

  /// The smallest size of each buffer, in one configuration.
  void AddCombined(size_t setting) {
    std::map<BufferId, uint64_t> sizes;
    for (const auto& [id, buffer] : report_.facts.buffers) {
      const SweepRow* row = SmallestRow(setting, id);
      if (row == nullptr) return;
      sizes[id] = row->size;
    }
    Add(setting, std::move(sizes));
  }

  /// What a replay without payloads takes about, bytes.
  uint64_t ReplayBytes(const SweepPoint& point) const {
    constexpr uint64_t kBytesOfEach = 16;
    uint64_t bytes = 0;
    for (const auto& [id, buffer] : point.config.session.buffers)
      bytes += std::min(buffer.size.value_or(0), report_.facts.commit_bytes) / kBytesOfEach;
    return bytes;
  }

  /// Runs the configurations that were added, the smallest first: as many in one pass as memory
  /// allows.
  /// @param all false: once sizes of all settings meet the targets, larger ones are left out
  Status RunAdded(bool all = true) {
    std::vector<SweepPoint>& points = report_.plan.points;
    std::stable_sort(points.begin() + static_cast<ptrdiff_t>(report_.result.rows.size()),
                     points.end(),
                     [](const SweepPoint& a, const SweepPoint& b) { return a.scale < b.scale; });
    while (report_.result.rows.size() < points.size()) {
      size_t count = 0;
      uint64_t bytes = 0;
      for (size_t i = report_.result.rows.size(); i < points.size(); ++i, ++count) {
        bytes += ReplayBytes(points[i]);
        if (count > 0 && bytes > kMostBytes) break;
      }
      RS_RETURN_IF_ERROR(RunPoints(input_, count, report_));
      if (!all && std::ranges::all_of(report_.found, [&](const FoundSize& found) {
            return std::ranges::all_of(report_.facts.buffers, [&](const auto& buffer) {
              return SmallestRow(found.setting, buffer.first) != nullptr;
            });
          }))
        points.resize(report_.result.rows.size());
    }
    return {};
  }

  static uint64_t BytesOf(const SweepPoint& point) {
    uint64_t bytes = 0;
    for (const auto& [id, buffer] : point.config.session.buffers) bytes += buffer.size.value_or(0);
    return bytes;
  }

  /// The configurations of a setting that were run, the smallest first.
  std::vector<size_t> BySize(size_t setting) const {
    std::vector<size_t> points;
    for (size_t i = 0; i < report_.result.rows.size(); ++i)
      if (report_.plan.points[i].setting == setting) points.push_back(i);
    std::stable_sort(points.begin(), points.end(), [&](size_t a, size_t b) {
      return BytesOf(report_.plan.points[a]) < BytesOf(report_.plan.points[b]);
    });
    return points;
  }

  std::optional<size_t> Smallest(size_t setting) const {
    for (const size_t point : BySize(setting))
      if (AllMet(report_.targets, report_.result.rows[point])) return point;
    return std::nullopt;
  }

  /// The rows of one buffer in all configurations of a setting that were run, by size.
  std::vector<const SweepRow*> RowsOf(size_t setting, BufferId buffer) const {
    std::vector<const SweepRow*> rows;
    for (const size_t point : BySize(setting))
      if (const SweepRow* row = FindRow(report_.result.rows[point], buffer); row != nullptr)
        rows.push_back(row);
    std::ranges::stable_sort(rows, {}, &SweepRow::size);
    return rows;
  }

  /// What one buffer keeps does not depend on the others: of each the smallest size counts that
  /// meets the targets in any configuration. nullptr: none does.
  const SweepRow* SmallestRow(size_t setting, BufferId buffer) const {
    for (const SweepRow* row : RowsOf(setting, buffer))
      if (Missed(report_.targets, *row) == nullptr) return row;
    return nullptr;
  }

  /// Tries sizes of a buffer between the one found and the next smaller one: all at once, or where
  /// memory does not allow that, those that halve what is left.
  Status Refine(size_t setting, BufferId buffer) {
    const SweepRow* found = SmallestRow(setting, buffer);
    if (found == nullptr) return {};
    if (KeepsAll() && found->size == report_.LosslessSizeOf(setting, buffer)) return {};
    uint64_t smaller = 0;
    for (const SweepRow* row : RowsOf(setting, buffer))
      if (row->size < found->size) smaller = row->size;
    if (smaller == 0) return {};
    const auto own = static_cast<double>(report_.facts.buffers.at(buffer).size);
    const double below = static_cast<double>(smaller) / own;
    const double above = static_cast<double>(found->size) / own;
    const auto add = [&](int step) { Add(setting, below + (above - below) * step / kSteps); };
    const SweepPoint largest = ScaledPoint(report_.plan.settings[setting], setting, above, choices_,
                                           report_.facts, fixed_);
    if (ReplayBytes(largest) * kSteps <= kMostBytes) {
      for (int step = 1; step < kSteps; ++step) add(step);
      return {};
    }
    for (int first = 0, last = kSteps; last - first > 1;) {
      const int middle = (first + last) / 2;
      const uint64_t before = SmallestRow(setting, buffer)->size;
      add(middle);
      RS_RETURN_IF_ERROR(RunAdded());
      (SmallestRow(setting, buffer)->size == before ? first : last) = middle;
    }
    return {};
  }

  Status Verify(FoundSize& found) {
    const SweepPoint& point = report_.plan.points[*found.point];
    uint64_t held = 0;
    for (const auto& [id, buffer] : point.config.session.buffers)
      held += std::min(buffer.size.value_or(0), report_.facts.commit_bytes);
    if (held > kMostVerified) return {};
    RS_ASSIGN_OR_RETURN(const std::vector<SweepRow> rows,
                        ReplayConfiguration(input_, point.config));
    if (!AllMet(report_.targets, rows)) {
      return Fail(ErrorCode::kUnsupported,
                  "an exact replay at the size found does not meet the target, which is a bug in "
                  "ringscope; please report it with the log");
    }
    found.verified = true;
    return {};
  }

  /// Why no size that was tried meets the targets: of each buffer that misses one.
  std::vector<TargetMiss> WhyNot(size_t setting) const {
    for (const SweepTarget& target : report_.targets)
      if (target.keep_ns && report_.result.duration_ns() < *target.keep_ns)
        return {{.kind = TargetMiss::Kind::kLogTooShort, .row = {}}};
    std::vector<TargetMiss> misses;
    for (const auto& [id, buffer] : report_.facts.buffers) {
      const std::vector<const SweepRow*> rows = RowsOf(setting, id);
      if (rows.empty() || SmallestRow(setting, id) != nullptr) continue;
      const SweepTarget* missed = Missed(report_.targets, *rows.back());
      const bool is_history =
          missed != nullptr && missed->keep_ns && rows.back()->shortest_sequence;
      if (is_history) {
        misses.push_back({TargetMiss::Kind::kHistory, *rows.back()});
        continue;
      }
      // The smallest with which the full buffer is no reason.
      const SweepRow* best = *std::ranges::min_element(rows, {}, &SweepRow::full_packets);
      misses.push_back({TargetMiss::Kind::kLoss, *best});
    }
    return misses;
  }

  /// Setting by setting, and in each by size.
  void SortPoints() {
    std::vector<size_t> order;
    for (size_t setting = 0; setting < report_.plan.settings.size(); ++setting)
      for (const size_t point : BySize(setting)) order.push_back(point);
    std::vector<SweepPoint> points;
    std::vector<std::vector<SweepRow>> rows;
    for (const size_t from : order) {
      points.push_back(std::move(report_.plan.points[from]));
      rows.push_back(std::move(report_.result.rows[from]));
    }
    for (FoundSize& found : report_.found)
      if (found.point)
        found.point = static_cast<size_t>(std::find(order.begin(), order.end(), *found.point) -
                                          order.begin());
    report_.plan.points = std::move(points);
    report_.result.rows = std::move(rows);
  }

  const SweepInput& input_;
  const SweepChoices& choices_;
  SweepReport& report_;
  std::map<BufferId, uint64_t> fixed_;
};

}  // namespace

Status CheckTargetSizes(const SweepChoices& choices) {
  for (const SizeList& list : choices.sizes)
    if (!list.buffer || list.sizes.size() != 1)
      return Fail(ErrorCode::kUsage, "--target looks for the sizes itself", {},
                  "--sizes can only fix single buffers: --sizes 2=64k");
  return {};
}

Result<SweepReport> FindTargets(const SweepInput& input, SessionFacts facts,
                                const SweepChoices& choices, std::vector<SweepTarget> targets) {
  SweepReport report;
  report.facts = std::move(facts);
  report.targets = std::move(targets);
  RS_RETURN_IF_ERROR(Search(input, choices, report).Run());
  return report;
}

}  // namespace ringscope
