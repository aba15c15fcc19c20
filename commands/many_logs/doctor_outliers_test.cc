#include "commands/many_logs/doctor_outliers.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace ringscope {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(DoctorOutliers, AreRareOrLargeFindings) {
  DoctorTraces traces(100);
  const auto add = [&](size_t trace, const char* rule, Harm severity, uint64_t weight) {
    DoctorFinding& finding = traces[trace].findings.emplace_back();
    finding.rule = rule;
    finding.severity = severity;
    finding.weight = weight;
  };
  for (size_t i = 0; i < traces.size(); ++i) {
    traces[i].file = fmt::format("{}.pftrace", i);
    add(i, "usual", Harm::kDataLoss, i == 40 ? 5000 : i == 41 ? 999 : 100 + i % 2);
    add(i, "usual", Harm::kDataLoss, 1);  // the larger one counts
    if (i < 60) add(i, "informs", Harm::kInfo, i == 3 ? 1'000'000 : 1);
  }
  add(7, "rare", Harm::kWarning, 1);
  add(50, "rare", Harm::kWarning, 9);
  add(9, "rarest", Harm::kWarning, 0);
  std::vector<std::string> texts;
  for (const DoctorOutlier& outlier : OutliersOf(traces))
    texts.push_back(fmt::format("{}: {} {}", traces[outlier.trace].file, outlier.finding->rule,
                                OutlierText(outlier, traces.size())));
  EXPECT_THAT(
      texts,
      ElementsAre("9.pftrace: rarest in 1 of 100 traces", "7.pftrace: rare in 2 of 100 traces",
                  "50.pftrace: rare in 2 of 100 traces",
                  "40.pftrace: usual 5,000, where half of 100 traces have at most 101"));
  traces.resize(kFleetForOutliers - 1);
  EXPECT_THAT(OutliersOf(traces), IsEmpty());
}

}  // namespace
}  // namespace ringscope
