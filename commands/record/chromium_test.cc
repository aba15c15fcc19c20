// Perfetto's own SDK, as it is in Chromium, recorded: a page numbers the events that it makes, so
// it is known which of them its trace writers dropped. What the log shows of that is compared with
// it.

#include <gtest/gtest.h>

#include "commands/testing/chromium_marks.h"

namespace ringscope::testing {
namespace {

constexpr size_t kKiB = 1024;

// Each run of missing numbers is in the account, and nothing else is.
TEST(ChromiumProducers, AccountHasWhatTheirWritersDropped) {
  ChromiumMarks chromium({64 * kKiB, 4 * kKiB});
  if (const std::string why = chromium.Start(); !why.empty()) GTEST_SKIP() << why;
  ASSERT_NO_FATAL_FAILURE(chromium.Trace("{marks: 300, burst: 10, pause: 5, workers: 1}"));
  ASSERT_NO_FATAL_FAILURE(
      chromium.Trace("{marks: 4000, burst: 800, pause: 20, workers: 3, every: 50, bytes: 9000}"));
  ASSERT_NO_FATAL_FAILURE(
      chromium.Trace("{marks: 500, burst: 50, pause: 20, workers: 0, every: 100, bytes: 400000}"));
  MarkFigures figures;
  ASSERT_NO_FATAL_FAILURE(chromium.Check(figures));
  RecordProperty("missing_runs", std::to_string(figures.runs));
  RecordProperty("by_flag_alone", std::to_string(figures.by_flag));
  RecordProperty("missing_marks", std::to_string(figures.dropped));
}

}  // namespace
}  // namespace ringscope::testing
