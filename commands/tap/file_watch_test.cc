#include "commands/tap/file_watch.h"

#include <gmock/gmock.h>
#include <fcntl.h>
#include <unistd.h>

#include <fstream>
#include <vector>

#include "commands/testing/memory_run.h"

namespace ringscope::record {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using std::chrono::milliseconds;

class FileWatchTest : public ::testing::Test {
 protected:
  /// As the service writes: through a descriptor of its own.
  void Grow(const std::string& path, size_t bytes) {
    std::ofstream(path, std::ios::app | std::ios::binary) << std::string(bytes, 'x');
  }
  void LookAt(milliseconds time) { watch_.Look(start_ + time); }

  std::vector<uint64_t> sizes_;  // file_bytes of the reads logged
  FileWatch watch_{[this](OpBody body) {
    const auto& read = std::get<ReadPass>(body);
    EXPECT_EQ(read.reason, ReadReason::kFile);
    EXPECT_EQ(read.session, 7u);
    EXPECT_FALSE(read.buffer);
    sizes_.push_back(read.file_bytes.value_or(0));
  }};
  const FileWatch::Clock::time_point start_ = FileWatch::Clock::now();
  const TempFolder folder_;
  const std::string path_ = folder_.File("out.pftrace");
};

TEST_F(FileWatchTest, EachGrowth_IsARead) {
  Grow(path_, 10);
  const UniqueFd file(::open(path_.c_str(), O_WRONLY));
  ASSERT_TRUE(watch_.Start(7, file.get(), ""));
  LookAt(milliseconds(0));
  EXPECT_THAT(sizes_, IsEmpty());  // what is there before the session is nobody's read
  Grow(path_, 90);
  LookAt(milliseconds(500));
  LookAt(milliseconds(501));
  Grow(path_, 100);
  LookAt(milliseconds(1000));
  EXPECT_THAT(sizes_, ElementsAre(100, 200));
}

TEST_F(FileWatchTest, WritesOfOneRead_AreOne) {
  ASSERT_TRUE(watch_.Start(7, -1, path_));  // not there yet
  LookAt(milliseconds(0));
  Grow(path_, 100);
  LookAt(milliseconds(500));
  Grow(path_, 100);
  LookAt(milliseconds(515));
  Grow(path_, 100);
  LookAt(milliseconds(530));
  Grow(path_, 100);
  LookAt(milliseconds(560));
  EXPECT_THAT(sizes_, ElementsAre(100, 400));
}

TEST_F(FileWatchTest, End_LooksOnceMore) {
  ASSERT_TRUE(watch_.Start(7, -1, path_));
  Grow(path_, 100);
  watch_.End(7, start_);
  Grow(path_, 100);
  LookAt(milliseconds(500));
  EXPECT_THAT(sizes_, ElementsAre(100));
  EXPECT_FALSE(watch_.any());
}

TEST_F(FileWatchTest, Pipe_CannotBeWatched) {
  int ends[2] = {};
  ASSERT_EQ(::pipe(ends), 0);
  const UniqueFd in(ends[0]), out(ends[1]);
  EXPECT_FALSE(watch_.Start(7, out.get(), ""));
  EXPECT_FALSE(watch_.Start(7, -1, ""));
  EXPECT_FALSE(watch_.any());
}

}  // namespace
}  // namespace ringscope::record
