#include "formats/io/output_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>

#include "core/base/wire.h"
#include "formats/testing/files.h"

namespace ringscope {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

namespace fs = std::filesystem;

bool BeginsAsOwn(Bytes start) { return wire::AsText(start).starts_with("own:"); }
constexpr OutputKind kNotes = {"a file of notes", true, BeginsAsOwn};
constexpr OutputKind kRecording = {"a recording"};

class OutputFiles : public ::testing::Test {
 protected:
  std::string Path(const std::string& name) const { return folder_.File(name); }
  std::string Write(const std::string& name, const std::string& content) const {
    return folder_.Write(name, content);
  }
  std::string Content(const std::string& name) const { return ReadFile(Path(name)); }
  /// Writes "new" as a whole file. @return the error; empty: none
  static std::string Replacing(const std::string& path, const OutputKind& kind, Replace replace) {
    const auto file = OutputFile::Create(path, kind, replace);
    if (!file) {
      EXPECT_EQ(file.error().code, ErrorCode::kUsage);
      return file.error().ToString();
    }
    EXPECT_TRUE((*file)->Write("new"));
    const Status status = (*file)->Commit();
    return status ? "" : status.error().ToString();
  }

  const TempFolder folder_;
};

TEST_F(OutputFiles, ReplaceWhatIsEmptyOrTheirOwn) {
  EXPECT_EQ(Replacing(Path("new"), kNotes, Replace::kOwn), "");
  EXPECT_EQ(Replacing(Write("empty", ""), kNotes, Replace::kOwn), "");
  EXPECT_EQ(Replacing(Write("empty log", ""), kRecording, Replace::kOwn), "");
  EXPECT_EQ(Replacing(Write("own", "own: 1, 2, 3"), kNotes, Replace::kOwn), "");
  EXPECT_EQ(Content("own"), "new");
}

TEST_F(OutputFiles, OtherFilesStay) {
  EXPECT_THAT(Replacing(Write("letter", "Dear A"), kNotes, Replace::kOwn),
              AllOf(HasSubstr("letter: the file exists already, and is not a file of notes that"),
                    HasSubstr("--force")));
  EXPECT_EQ(Content("letter"), "Dear A");
  EXPECT_THAT(Replacing(Write("log", "own: 1"), kRecording, Replace::kOwn),
              HasSubstr("log: the file exists already (choose another name, or replace it with"))
      << "a recording replaces nothing, not even one of ringscope's";
  EXPECT_EQ(Content("log"), "own: 1");
  EXPECT_EQ(folder_.FileCount(), 2U) << "no temporary file is left";
}

TEST_F(OutputFiles, ForceReplacesAnything) {
  EXPECT_EQ(Replacing(Write("letter", "Dear A"), kNotes, Replace::kAny), "");
  EXPECT_EQ(Content("letter"), "new");
}

TEST_F(OutputFiles, InputIsNeverReplaced) {
  const std::string input = Write("input", "own: input");
  fs::create_hard_link(input, Path("hard"));
  fs::create_symlink("input", Path("soft"));
  for (const std::string& path : {input, Path("./input"), Path("hard"), Path("soft")}) {
    const auto run = RunFiles::Join();
    ASSERT_TRUE(OpenByteSource(input));
    EXPECT_THAT(Replacing(path, kNotes, Replace::kAny), AllOf(HasSubstr(path), HasSubstr("input")));
  }
  EXPECT_EQ(Content("input"), "own: input");
  EXPECT_EQ(folder_.FileCount(), 3U);
}

TEST_F(OutputFiles, OutputThatIsReadLaterIsNotReplaced) {
  const std::string input = Write("input", "own: input");
  fs::create_hard_link(input, Path("hard"));
  const auto run = RunFiles::Join();
  const auto file = OutputFile::Create(Path("hard"), kNotes, Replace::kAny);
  ASSERT_TRUE(file);
  ASSERT_TRUE(OpenByteSource(input));
  const Status status = (*file)->Commit();
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().ToString(), AllOf(HasSubstr(Path("hard") + ": this is the same file"),
                                               HasSubstr("as " + input + ", an input")));
  EXPECT_EQ(Content("hard"), "own: input");
}

TEST_F(OutputFiles, TwoOutputsAreTwoFiles) {
  const auto run = RunFiles::Join();
  {
    const auto file = OutputFile::Create(Path("x"), kNotes, Replace::kOwn);
    ASSERT_TRUE(file);
    EXPECT_THAT(Replacing(Path("./x"), kNotes, Replace::kAny), HasSubstr("two outputs"));
  }
  EXPECT_EQ(Replacing(Path("x"), kNotes, Replace::kOwn), "") << "the first one was given up";
}

TEST_F(OutputFiles, WhatARunWroteItMayRead) {
  const auto run = RunFiles::Join();
  EXPECT_EQ(Replacing(Path("x"), kNotes, Replace::kOwn), "");
  EXPECT_TRUE(OpenByteSource(Path("x")));
}

TEST_F(OutputFiles, RunsAreApart) {
  const std::string input = Write("input", "own: input");
  {
    const auto run = RunFiles::Join();
    ASSERT_TRUE(OpenByteSource(input));
  }
  const auto run = RunFiles::Join();
  EXPECT_EQ(Replacing(input, kNotes, Replace::kOwn), "");
}

TEST_F(OutputFiles, GrowingFileIsNoInput) {
  const std::string input = Write("config", "buffers");
  const auto run = RunFiles::Join();
  ASSERT_TRUE(OpenByteSource(input));
  const auto file = GrowingFile::Create(input, GrowingFile::Existing::kReplace);
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().code, ErrorCode::kUsage);
  EXPECT_EQ(Content("config"), "buffers");
}

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

TEST(TemporaryFolder, IsTmpdirElseTmp) {
  {
    const TmpDir set("/somewhere");
    EXPECT_EQ(TemporaryFolder(), "/somewhere");
  }
  for (const char* const value : {static_cast<const char*>(nullptr), ""}) {
    const TmpDir unset(value);
    EXPECT_EQ(TemporaryFolder(), "/tmp");
  }
}

}  // namespace
}  // namespace ringscope
