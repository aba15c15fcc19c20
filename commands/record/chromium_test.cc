// Perfetto's own SDK, as it is in Chromium, recorded: a page numbers the events that it makes, so
// it is known which of them its trace writers dropped. What the log shows of that is compared with
// it. RINGSCOPE_CHROMIUM_SESSIONS chooses a campaign of so many sessions, and prints a table.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>

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

struct CampaignSession {
  size_t memory_kib, page_kib;  // of each process
  int threads, marks, burst, pause_ms, every, bytes;
  uint64_t policy = 0;
};

// Memory and page; threads, marks of each, in bursts with pauses; each so many is so long.
constexpr CampaignSession kCampaign[] = {
    {64, 4, 2, 300, 10, 5, 0, 0},
    {64, 4, 4, 4000, 800, 20, 50, 9000},
    {64, 4, 1, 500, 50, 20, 100, 400'000},
    {16, 4, 1, 4000, 400, 20, 0, 0},
    {16, 4, 4, 3000, 100, 10, 0, 0},
    {32, 8, 2, 6000, 1500, 50, 0, 0},
    {32, 32, 1, 2000, 500, 20, 0, 0},
    {64, 4, 10, 2000, 200, 10, 0, 0},
    {64, 4, 4, 4000, 800, 20, 50, 9000, /*stall, then abort*/ 2},
    {64, 4, 4, 4000, 800, 20, 50, 9000, /*stall, then drop*/ 3},
    {128, 4, 3, 10'000, 2000, 20, 100, 20'000},
    {128, 16, 3, 10'000, 2000, 20, 100, 20'000},
    {256, 4, 3, 10'000, 2000, 20, 100, 20'000},
    {256, 32, 6, 8000, 4000, 100, 0, 0},
    {512, 4, 4, 15'000, 5000, 50, 200, 60'000},
    {1024, 4, 4, 20'000, 10'000, 100, 500, 100'000},
    {1024, 32, 2, 20'000, 20'000, 100, 1000, 400'000},
    {4096, 4, 4, 20'000, 20'000, 100, 1000, 100'000},
};

std::string Text(const std::map<std::string, uint64_t>& causes) {
  std::string text;
  for (const auto& [cause, count] : causes)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, cause);
  return text;
}

TEST(ChromiumProducers, Campaign) {
  const char* const chosen = std::getenv("RINGSCOPE_CHROMIUM_SESSIONS");
  if (chosen == nullptr) GTEST_SKIP() << "RINGSCOPE_CHROMIUM_SESSIONS=18 runs one";
  constexpr const char* kRow =
      "{:>8} {:>6} {:>7} {:>6} {:>6} {:>6} {:>8} {:>8} {:>5} {:>5} {:>5} {:>4}  {}\n";
  std::string table = fmt::format(kRow, "memory", "page", "writers", "long", "burst", "policy",
                                  "made", "dropped", "runs", "gaps", "flags", "end", "causes");
  MarkFigures all;
  const int sessions = std::atoi(chosen);
  for (int i = 0; i < sessions && !HasFailure(); ++i) {
    const CampaignSession& one = kCampaign[static_cast<size_t>(i) % std::size(kCampaign)];
    SCOPED_TRACE(fmt::format("session {} of {}", i + 1, sessions));
    ChromiumMarks chromium({one.memory_kib * kKiB, one.page_kib * kKiB});
    if (const std::string why = chromium.Start(); !why.empty()) GTEST_SKIP() << why;
    ASSERT_NO_FATAL_FAILURE(chromium.Trace(
        fmt::format("{{marks: {}, burst: {}, pause: {}, workers: {}, every: {}, bytes: {}}}",
                    one.marks, one.burst, one.pause_ms, one.threads - 1, one.every, one.bytes),
        one.policy));
    MarkFigures here;
    ASSERT_NO_FATAL_FAILURE(chromium.Check(here));
    table += fmt::format(kRow, fmt::format("{} KiB", one.memory_kib), one.page_kib,
                         chromium.most_writers(), one.bytes, one.burst, one.policy, here.made,
                         here.dropped, here.runs, here.gaps, here.by_flag, here.at_end,
                         Text(here.causes));
    all.made += here.made;
    all.dropped += here.dropped;
    all.runs += here.runs;
    all.gaps += here.gaps;
    all.by_flag += here.by_flag;
    all.at_end += here.at_end;
    for (const auto& [cause, count] : here.causes) all.causes[cause] += count;
  }
  table += fmt::format(kRow, "all", "", "", "", "", "", all.made, all.dropped, all.runs, all.gaps,
                       all.by_flag, all.at_end, Text(all.causes));
  std::printf("%s", table.c_str());
}

}  // namespace
}  // namespace ringscope::testing
