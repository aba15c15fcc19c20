#include "commands/doctor/doctor_outliers.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

#include "core/base/text.h"

namespace ringscope {
namespace {

/// Rule and severity, with the traces' worst finding of them.
using FindingsByRule = std::map<std::pair<std::string_view, Harm>, std::vector<DoctorOutlier>>;

FindingsByRule ByRule(const DoctorTraces& traces) {
  FindingsByRule by_rule;
  for (size_t i = 0; i < traces.size(); ++i) {
    for (const DoctorFinding& finding : traces[i].findings) {
      if (finding.severity < Harm::kWarning) continue;
      std::vector<DoctorOutlier>& found = by_rule[{finding.rule, finding.severity}];
      if (found.empty() || found.back().trace != i)
        found.push_back({.trace = i, .finding = &finding});
      else if (finding.weight > found.back().finding->weight)
        found.back().finding = &finding;
    }
  }
  return by_rule;
}

uint64_t MedianWeight(const std::vector<DoctorOutlier>& found) {
  std::vector<uint64_t> weights;
  for (const DoctorOutlier& one : found) weights.push_back(one.finding->weight);
  const auto middle = weights.begin() + static_cast<std::ptrdiff_t>((weights.size() - 1) / 2);
  std::ranges::nth_element(weights, middle);
  return *middle;
}

}  // namespace

std::vector<DoctorOutlier> OutliersOf(const DoctorTraces& traces) {
  const auto read = static_cast<uint64_t>(std::ranges::count_if(
      traces, [](const DoctorTrace& trace) { return !trace.error.has_value(); }));
  std::vector<DoctorOutlier> outliers;
  if (read < kFleetForOutliers) return outliers;
  for (const auto& [rule, found] : ByRule(traces)) {
    const bool is_rare = found.size() <= read / kRareShare;
    const uint64_t median = MedianWeight(found);
    for (DoctorOutlier one : found) {
      one.traces = found.size();
      if (!is_rare) {
        if (found.size() < kFleetForOutliers || median == 0 ||
            one.finding->weight / kLargeTimes < median)
          continue;
        one.median = median;
      }
      outliers.push_back(one);
    }
  }
  // A rare finding has no median: its rank is how many traces have it.
  const auto rank = [](const DoctorOutlier& one) {
    return std::tuple(one.median != 0, one.median == 0 ? one.traces : 0,
                      one.median == 0 ? 0.0
                                      : -static_cast<double>(one.finding->weight) /
                                            static_cast<double>(one.median));
  };
  std::ranges::stable_sort(
      outliers, [&](const DoctorOutlier& a, const DoctorOutlier& b) { return rank(a) < rank(b); });
  return outliers;
}

std::string OutlierText(const DoctorOutlier& outlier, uint64_t traces) {
  if (outlier.median == 0)
    return fmt::format("in {} of {} traces", WithCommas(outlier.traces), WithCommas(traces));
  return fmt::format("{}, where half of {} traces have at most {}",
                     WithCommas(outlier.finding->weight), WithCommas(outlier.traces),
                     WithCommas(outlier.median));
}

}  // namespace ringscope
