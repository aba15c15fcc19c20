#include "formats/io/output_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "core/base/wire.h"
#include "formats/io/growing_file.h"
#include "formats/testing/files.h"

namespace ringscope {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

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

}  // namespace
}  // namespace ringscope
