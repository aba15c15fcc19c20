#ifndef RINGSCOPE_COMMANDS_DOCTOR_DOCTOR_OUTLIERS_H_
#define RINGSCOPE_COMMANDS_DOCTOR_DOCTOR_OUTLIERS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "commands/doctor/doctor_logs.h"

namespace ringscope {

/// A trace with a finding that hardly any other of many traces has, or that is much larger there
/// than in the others that have it.
struct DoctorOutlier {
  size_t trace = 0;  // index
  const DoctorFinding* finding = nullptr;
  uint64_t traces = 0;  // that have a finding of this rule and severity
  uint64_t median = 0;  // of their weights; 0: the finding is rare
};

/// With fewer traces, or fewer that have a finding, nothing can be concluded.
inline constexpr size_t kFleetForOutliers = 20;
/// A finding is rare if at most one trace in so many has it,
inline constexpr uint64_t kRareShare = 50;
/// and large with so many times the median weight.
inline constexpr uint64_t kLargeTimes = 10;

/// Of findings that are a warning or worse: the rarest first, then the largest beside their median.
/// @param traces must outlive the result
std::vector<DoctorOutlier> OutliersOf(const DoctorTraces& traces);

/// "in 1 of 10,000 traces", "51,200, where half of the traces have at most 430"
std::string OutlierText(const DoctorOutlier& outlier, uint64_t traces);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_DOCTOR_DOCTOR_OUTLIERS_H_
