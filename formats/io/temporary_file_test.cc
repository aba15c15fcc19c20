#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>
#include <string>
#include <utility>

#include "core/base/wire.h"
#include "formats/io/output_file.h"
#include "formats/testing/files.h"

namespace ringscope {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

/// TMPDIR is this, or not set, until the scope's end.
class TmpDir {
 public:
  explicit TmpDir(const char* value) {
    if (const char* const before = std::getenv("TMPDIR")) before_ = before;
    Set(value);
  }
  ~TmpDir() { Set(before_ ? before_->c_str() : nullptr); }
  TmpDir(const TmpDir&) = delete;
  TmpDir& operator=(const TmpDir&) = delete;

 private:
  static void Set(const char* value) {
    if (value == nullptr)
      unsetenv("TMPDIR");
    else
      setenv("TMPDIR", value, 1);
  }
  std::optional<std::string> before_;
};

std::string ReadAt(const TemporaryFile& file, uint64_t offset, size_t size) {
  std::string text(size, '\0');
  const auto got = file.ReadAt(offset, {reinterpret_cast<uint8_t*>(text.data()), size});
  EXPECT_TRUE(got) << got.error().ToString();
  text.resize(got.value_or(0));
  return text;
}

std::string ReadOn(ByteSource& source, size_t size) {
  std::string text(size, '\0');
  const auto got = source.Read({reinterpret_cast<uint8_t*>(text.data()), size});
  EXPECT_TRUE(got) << got.error().ToString();
  text.resize(got.value_or(0));
  return text;
}

TEST(TemporaryFile, WhatIsAppended_IsReadAtAnyOffset) {
  const auto file = TemporaryFile::Create().value();
  EXPECT_EQ(file->size(), 0u);
  EXPECT_EQ(ReadAt(*file, 0, 10), "");
  ASSERT_TRUE(file->Write("hello "));
  EXPECT_EQ(ReadAt(*file, 4, 10), "o ");
  ASSERT_TRUE(file->Write("world"));
  EXPECT_EQ(file->size(), 11u);
  EXPECT_EQ(ReadAt(*file, 4, 3), "o w");
  EXPECT_EQ(ReadAt(*file, 8, 10), "rld");
  EXPECT_EQ(ReadAt(*file, 11, 10), "");
  EXPECT_EQ(ReadAt(*file, uint64_t{1} << 63, 10), "");
}

TEST(TemporaryFile, HasNoName) {
  const TempFolder folder;
  const auto file = TemporaryFile::Create({.folder = folder.path()}).value();
  ASSERT_TRUE(file->Write("hello"));
  EXPECT_EQ(folder.FileCount(), 0u);
  EXPECT_EQ(ReadAt(*file, 0, 10), "hello");
}

TEST(TemporaryFile, Source_ReadsFromTheStartAndKeepsTheFile) {
  auto file = TemporaryFile::Create().value();
  ASSERT_TRUE(file->Write("hello"));
  const auto first = OpenTemporary(file, "-");
  const auto second = OpenTemporary(std::move(file), "-");
  EXPECT_EQ(first->path(), "-");
  EXPECT_EQ(first->size(), 5u);
  EXPECT_TRUE(first->CanReadAt());
  EXPECT_EQ(ReadOn(*first, 3), "hel");
  uint8_t byte = 0;
  EXPECT_EQ(first->ReadAt(4, {&byte, 1}), 1u);
  EXPECT_EQ(byte, 'o');
  EXPECT_EQ(ReadOn(*first, 3), "lo");
  EXPECT_EQ(ReadOn(*first, 3), "");
  EXPECT_EQ(ReadOn(*second, 8), "hello");
}

TEST(TemporaryFile, NoFolder_IsAnErrorThatSaysWhatAndWhere) {
  const auto file = TemporaryFile::Create({.folder = "/nonexistent"});
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().ToString(),
            "/nonexistent: cannot create a temporary file: No such file or directory (set TMPDIR "
            "to a folder with space)");

  const auto copy = TemporaryFile::Create({.folder = "/nonexistent",
                                           .what = "a temporary copy of it",
                                           .path = "a.tblog",
                                           .hint = "name another file"});
  ASSERT_FALSE(copy);
  EXPECT_EQ(copy.error().ToString(),
            "a.tblog: cannot create a temporary copy of it in /nonexistent: No such file or "
            "directory (name another file)");
}

TEST(TemporaryFile, NoRoom_IsAnErrorAndWhatWasWrittenStays) {
  const auto file = TemporaryFile::Create({.folder = "/tmp"}).value();
  Status status;
  {
    const FileSizeLimit limit(4);
    status = file->Write("hello");
  }
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().ToString(), StartsWith("/tmp: cannot write a temporary file: "));
  EXPECT_THAT(status.error().ToString(), HasSubstr("set TMPDIR"));
  EXPECT_EQ(ReadAt(*file, 0, 10), "hell");
}

TEST(TemporaryFolder, IsTmpdirElseTheGivenOne) {
  {
    const TmpDir set("/somewhere");
    EXPECT_EQ(TemporaryFolder(), "/somewhere");
    EXPECT_EQ(TemporaryFolder("."), "/somewhere");
  }
  for (const char* const value : {static_cast<const char*>(nullptr), ""}) {
    const TmpDir unset(value);
    EXPECT_EQ(TemporaryFolder(), "/tmp");
    EXPECT_EQ(TemporaryFolder("."), ".");
  }
}

}  // namespace
}  // namespace ringscope
