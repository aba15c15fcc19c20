#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>

#include "formats/io/output_file.h"
#include "formats/testing/files.h"

namespace ringscope {
namespace {

using ::testing::HasSubstr;
using enum GrowingFile::Existing;

class GrowingFileTest : public ::testing::Test {
 protected:
  std::string Content() const { return ReadFile(path()); }
  std::string path() const { return folder_.File("a"); }

  const TempFolder folder_;
};

TEST_F(GrowingFileTest, ExistingFile_StaysUnlessItIsToBeReplaced) {
  std::ofstream(path()) << "old content";
  const auto refused = GrowingFile::Create(path(), kRefuse);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kUsage);
  EXPECT_THAT(refused.error().ToString(), HasSubstr("exists already"));
  EXPECT_EQ(Content(), "old content");
  const auto file = GrowingFile::Create(path(), kReplace).value();
  ASSERT_TRUE(file->Write("new"));
  ASSERT_TRUE(file->Close());
  EXPECT_EQ(Content(), "new");
}

TEST_F(GrowingFileTest, LockedWhileOpen) {
  auto file = GrowingFile::Create(path(), kRefuse).value();
  ASSERT_TRUE(file->Write("mine"));
  for (const auto existing : {kRefuse, kReplace}) {
    const auto second = GrowingFile::Create(path(), existing);
    ASSERT_FALSE(second);
    EXPECT_THAT(second.error().ToString(), HasSubstr("being recorded by "));
  }
  EXPECT_EQ(Content(), "mine");
  EXPECT_TRUE(RecordedBy(path()));
  file.reset();
  EXPECT_FALSE(RecordedBy(path()));
  EXPECT_TRUE(GrowingFile::Create(path(), kReplace));
}

// A recorder that is killed leaves no lock.
TEST_F(GrowingFileTest, LockOfAnotherProcess_NamesIt_AndEndsWithIt) {
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const auto file = GrowingFile::Create(path(), kRefuse);
    if (::write(ready[1], "x", 1) == 1)
      while (file) ::pause();
    ::_exit(1);
  }
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  const auto second = GrowingFile::Create(path(), kReplace);
  ASSERT_FALSE(second);
  EXPECT_THAT(second.error().ToString(),
              HasSubstr("being recorded by process " + std::to_string(child)));
  ::kill(child, SIGKILL);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_TRUE(GrowingFile::Create(path(), kReplace));
  ::close(ready[0]);
  ::close(ready[1]);
}

// A limit of the file's size stands for a disk that has space for a part of a write only.
TEST_F(GrowingFileTest, FailedWrite_LeavesNothing_AndTheNextOneContinues) {
  const auto file = GrowingFile::Create(path(), kRefuse).value();
  ASSERT_TRUE(file->Write("first "));
  Status status;
  {
    const FileSizeLimit limit(10);
    status = file->Write("is longer than that");
  }
  ASSERT_FALSE(status);
  EXPECT_FALSE(file->disk_was_full());  // waiting does not help
  EXPECT_EQ(Content(), "first ");
  ASSERT_TRUE(file->Write("second"));
  EXPECT_EQ(Content(), "first second");
}

TEST_F(GrowingFileTest, FullDisk_IsKnown) {
  const auto file = GrowingFile::Create("/dev/full", kRefuse).value();
  EXPECT_FALSE(file->Write("x"));
  EXPECT_TRUE(file->disk_was_full());
}

}  // namespace
}  // namespace ringscope
