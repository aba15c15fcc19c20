// What a clone costs.

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <string>
#include <vector>

#include "core/testing/chunk_dsl.h"

namespace ringscope {
namespace {

/// Bytes of this process that are in memory.
int64_t ResidentBytes() {
  std::FILE* const file = std::fopen("/proc/self/statm", "r");
  if (file == nullptr) return -1;
  long total = 0, resident = 0;
  const int read = std::fscanf(file, "%ld %ld", &total, &resident);
  std::fclose(file);
  return read == 2 ? int64_t{resident} * sysconf(_SC_PAGESIZE) : -1;
}

class CloneTest : public ::testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(Engines, CloneTest, ::testing::Values("v1", "v2@58"),
                         [](const auto& test) { return std::string(test.param).substr(0, 2); });

// A clone takes memory for what was written, not for the buffer's size.
TEST_P(CloneTest, CopiesWhatWasWritten) {
  constexpr int64_t kSize = int64_t{256} << 20;
  testing::Buffer buffer(GetParam(), kSize);
  buffer.Commit(testing::Chunk(1, 1, 0).Whole(20, 'a'));
  const int64_t before = ResidentBytes();
  if (before < 0) GTEST_SKIP() << "/proc/self/statm is not there";
  const auto clone = buffer.engine().Clone().value();
  EXPECT_LT(ResidentBytes() - before, kSize / 8);
  clone->BeginRead();
  const Packet* const packet = clone->NextPacket();
  ASSERT_NE(packet, nullptr);
  EXPECT_EQ(testing::Describe(*packet), "a20");
}

// What a clone of a buffer that has wrapped holds is all of it.
TEST_P(CloneTest, HasWhatIsAfterTheCursor) {
  testing::Buffer buffer(GetParam(), 4096);
  for (uint32_t i = 0; i < 5; ++i)
    buffer.Commit(testing::Chunk(1, 1, i).Whole(1000, static_cast<char>('a' + i)));
  const std::vector<std::string> cloned = buffer.ReadClone();
  EXPECT_EQ(cloned, buffer.ReadAll());
  EXPECT_EQ(cloned.size(), 4u);
}

}  // namespace
}  // namespace ringscope
