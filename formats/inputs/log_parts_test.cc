#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "formats/inputs/open_log.h"
#include "formats/log/commit_log_writer.h"
#include "formats/testing/files.h"
#include "formats/testing/sample_log.h"

namespace ringscope::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class LogPartsFound : public ::testing::Test {
 protected:
  std::string Path(const std::string& name) const { return folder_.File(name); }
  /// A part with a note of its number, which repeats a note of the state.
  std::string WritePart(const std::string& name, uint32_t part, const std::string& uuid = "a",
                        uint32_t first_part = 0, bool continues = false) {
    OpList ops;
    LogHeader header = HeaderOf(uuid, part);
    header.first_part = first_part;
    header.repeated_records = part > 0 ? 1 : 0;
    ops.Add(std::nullopt, header);
    ops.Add(std::nullopt, Note{"state"});
    ops.Add(part, Note{std::to_string(part)});
    if (continues) ops.Add(part, RecordingEnded{.ending = RecordingEnding::kNextPart});
    return folder_.Write(name, WriteLog(ops));
  }
  LogParts Find(const std::vector<std::string>& names) {
    std::vector<std::string> paths;
    for (const std::string& name : names) paths.push_back(Path(name));
    LogParts parts = FindLogParts(paths);
    for (std::vector<std::string>* list : {&parts.paths, &parts.added})
      for (std::string& path : *list) path = fs::path(path).filename().string();
    return parts;
  }
  /// Three parts, with the names that a recorder gives.
  void WriteThree() {
    WritePart("cap.tblog", 0);
    WritePart("cap.0001.tblog", 1);
    WritePart("cap.0002.tblog", 2);
  }

  const TempFolder folder_;
};

TEST_F(LogPartsFound, OneOfThem_NamesAll) {
  WriteThree();
  for (const char* name : {"cap.tblog", "cap.0001.tblog", "cap.0002.tblog"}) {
    const LogParts parts = Find({name});
    EXPECT_THAT(parts.paths, ElementsAre("cap.tblog", "cap.0001.tblog", "cap.0002.tblog"));
    EXPECT_EQ(parts.added.size(), 2u);
    EXPECT_THAT(parts.problems, IsEmpty());
  }
}

TEST_F(LogPartsFound, AllInAnyOrder_AreSorted) {
  WriteThree();
  const LogParts parts = Find({"cap.0002.tblog", "cap.tblog", "cap.0001.tblog"});
  EXPECT_THAT(parts.paths, ElementsAre("cap.tblog", "cap.0001.tblog", "cap.0002.tblog"));
  EXPECT_THAT(parts.added, IsEmpty());
}

TEST_F(LogPartsFound, OldNamesAndSwappedNames_AreNoObstacle) {
  WritePart("cap.tblog", 0);
  WritePart("cap.1.tblog", 2);
  WritePart("cap.2.tblog", 1);
  for (uint32_t part = 3; part < 12; ++part)
    WritePart("cap." + std::to_string(part) + ".tblog", part);
  const LogParts parts = Find({"cap.tblog"});
  ASSERT_EQ(parts.paths.size(), 12u);
  EXPECT_THAT(std::vector(parts.paths.begin(), parts.paths.begin() + 4),
              ElementsAre("cap.tblog", "cap.2.tblog", "cap.1.tblog", "cap.3.tblog"));
  EXPECT_EQ(parts.paths.back(), "cap.11.tblog");
  EXPECT_THAT(parts.problems, IsEmpty());
}

TEST_F(LogPartsFound, RenamedParts_AreKnownWhenTheyAreNamed) {
  WritePart("x.tblog", 1);
  WritePart("y.tblog", 0);
  const LogParts parts = Find({"x.tblog", "y.tblog"});
  EXPECT_THAT(parts.paths, ElementsAre("y.tblog", "x.tblog"));
  EXPECT_THAT(parts.problems, IsEmpty());
}

TEST_F(LogPartsFound, MissingParts_AreNamedWithTheirNeighbours) {
  WritePart("cap.0001.tblog", 1);
  WritePart("cap.0004.tblog", 4);
  WritePart("cap.0006.tblog", 6, "a", 0, /*continues=*/true);
  const LogParts parts = Find({"cap.0004.tblog"});
  EXPECT_THAT(parts.paths, ElementsAre("cap.0001.tblog", "cap.0004.tblog", "cap.0006.tblog"));
  EXPECT_THAT(parts.problems,
              ElementsAre("part 0 is missing, before " + Path("cap.0001.tblog"),
                          "parts 2 to 3 are missing, between " + Path("cap.0001.tblog") + " and " +
                              Path("cap.0004.tblog"),
                          "part 5 is missing, between " + Path("cap.0004.tblog") + " and " +
                              Path("cap.0006.tblog"),
                          "part 7 is missing, after " + Path("cap.0006.tblog")));
}

TEST_F(LogPartsFound, PartsThatWereRemovedOnPurpose_AreNotMissing) {
  WritePart("cap.0002.tblog", 2, "a", 0);
  WritePart("cap.0003.tblog", 3, "a", 2);
  EXPECT_THAT(Find({"cap.0003.tblog"}).problems, IsEmpty());
  WritePart("cap.0004.tblog", 4, "a", 1);
  EXPECT_THAT(Find({"cap.0004.tblog"}).problems, IsEmpty());
}

TEST_F(LogPartsFound, PartsOfOthers_AreNamedAndNotRead) {
  WriteThree();
  const std::string stale = WritePart("cap.0003.tblog", 3, "b");
  fs::last_write_time(stale, fs::last_write_time(Path("cap.tblog")) - std::chrono::hours(1));
  folder_.Write("cap.0004.tblog", "");
  folder_.Write("cap.0005.tblog", std::string("\x7f"
                                              "ELF\0",
                                              5));
  WritePart("cap.0006.tblog", 2);
  WritePart("cap.0007.tblog", 0, "c");  // a recording of its own
  WritePart("cap.copy.tblog", 1);       // has no name of a part
  const LogParts parts = Find({"cap.tblog"});
  EXPECT_THAT(parts.paths, ElementsAre("cap.tblog", "cap.0001.tblog", "cap.0002.tblog"));
  EXPECT_THAT(
      parts.problems,
      ElementsAre(HasSubstr("cap.0003.tblog has the name of a part of " + Path("cap.tblog") +
                            ", but is part 3 of another recording (uuid b)"),
                  HasSubstr("cap.0004.tblog has the name of a part"),
                  HasSubstr("is not a commit log"), HasSubstr("has part 2 too, as ")));
}

TEST_F(LogPartsFound, TwoRecordings_StayApart) {
  WritePart("a.tblog", 0, "a");
  WritePart("a.0001.tblog", 1, "a");
  WritePart("b.tblog", 0, "b");
  WritePart("b.0001.tblog", 1, "b");
  const LogParts parts = Find({"b.0001.tblog", "a.0001.tblog", "a.tblog", "a.tblog"});
  EXPECT_THAT(parts.paths, ElementsAre("b.tblog", "b.0001.tblog", "a.tblog", "a.0001.tblog",
                                       "a.tblog", "a.0001.tblog"));
  EXPECT_EQ(OnePathPerRecording(
                {Path("a.0001.tblog"), Path("b.0001.tblog"), Path("a.tblog"), Path("nothing")}),
            (std::vector<std::string>{Path("a.tblog"), Path("b.0001.tblog"), Path("nothing")}));
}

TEST_F(LogPartsFound, Together_TheyAreReadAsOneLog) {
  WriteThree();
  const LogParts parts = FindLogParts({Path("cap.0001.tblog")});
  const LogInfo info = ReadLogInfo(OpenJoined(parts.paths, "cap").value()).value();
  ASSERT_EQ(info.sessions.size(), 1u);
  EXPECT_TRUE(info.closed);
  // Three headers, the state once, and three notes.
  EXPECT_EQ(info.sessions[0].records, 7u);
}

TEST_F(LogPartsFound, Names_SortNaturally) {
  EXPECT_EQ(PartPath("/a.b/cap.tblog", 0), "/a.b/cap.tblog");
  EXPECT_EQ(PartPath("/a.b/cap.tblog", 3), "/a.b/cap.0003.tblog");
  EXPECT_EQ(PartPath("cap", 12345), "cap.12345");
}

}  // namespace
}  // namespace ringscope::testing
