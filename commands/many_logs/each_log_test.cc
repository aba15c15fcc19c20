#include "commands/many_logs/each_log.h"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <vector>

#include "commands/testing/memory_run.h"
#include "formats/testing/no_threads.h"

namespace ringscope {
namespace {

// Where the system starts none of the threads, or not all.
TEST(EachLog, WithoutThreads_AllAreProcessed) {
  std::vector<std::string> paths;
  for (int i = 0; i < 20; ++i) paths.push_back("log " + std::to_string(i));
  for (const unsigned first : {0u, 1u, 2u}) {
    MemoryRun run;
    run.context.threads = 3;
    std::atomic<int> processed = 0;
    const testing::NoThreads no_more_threads(first);
    const std::vector<LogStatus> logs =
        RunEachLog(run.context, paths, "testing",
                   [&](size_t index, const std::string& path, Context&) -> Result<ExitCode> {
                     EXPECT_EQ(path, paths[index]);
                     ++processed;
                     return ExitCode::kClean;
                   });
    EXPECT_EQ(processed, 20) << first;
    EXPECT_EQ(logs.size(), paths.size());
    EXPECT_EQ(WorstOf(logs), ExitCode::kClean) << first;
  }
}

}  // namespace
}  // namespace ringscope
