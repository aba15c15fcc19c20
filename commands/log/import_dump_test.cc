#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "commands/shell/commands.h"
#include "commands/testing/memory_run.h"
#include "formats/testing/parsed_json.h"
#include "formats/testing/testdata.h"

namespace ringscope {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

/// All texts of operations in testdata.
std::vector<std::string> OperationFiles() {
  std::vector<std::string> files = testing::ListTestdata("conformance/cases", ".zst");
  for (const std::string& file : testing::ListTestdata("captures", "session.ops.jsonl.zst"))
    files.push_back(file);
  return files;
}

std::string DumpOps(const std::string& path) {
  const Ran ran = RunCommand(DumpCommand(), {path, "--format", "ops"});
  EXPECT_EQ(ran.error, "");
  return ran.out;
}

void Import(const std::string& from, const std::string& to) {
  const Ran ran = RunCommand(ImportCommand(), {from, "-o", to, "--level", "3", "--force"});
  EXPECT_EQ(ran.code, ExitCode::kClean) << ran.error;
}

/// Whether a line that was written again means the same as the original. Defaults may be added.
bool SaysTheSame(const std::string& original_line, const std::string& back_line) {
  if (original_line == back_line) return true;
  const Json original = testing::ParsedJson(original_line), back = testing::ParsedJson(back_line);
  static const Json kDefaults = {{"buffer", 0},          {"uid", 0},         {"pid", 0},
                                 {"flags", 0},           {"complete", true}, {"more", false},
                                 {"origin", "imported"}, {"chunk", 0}};
  for (const auto& [key, value] : original.items())
    if (back.contains(key) ? back[key] != value
                           : !kDefaults.contains(key) || kDefaults[key] != value)
      return false;
  for (const auto& [key, value] : back.items())
    if (!original.contains(key) && (!kDefaults.contains(key) || kDefaults[key] != value))
      return false;
  return true;
}

/// The lines that are operations.
std::vector<std::string> Lines(const std::string& text) {
  std::vector<std::string> lines;
  for (const std::string_view line : testing::Lines(text))
    if (!line.empty() && line.front() != '#') lines.emplace_back(line);
  return lines;
}

TEST(ImportDump, AllOfTestdata_ComesBack) {
  const TempFolder folder;
  for (const std::string& file : OperationFiles()) {
    SCOPED_TRACE(file);
    const std::string log = folder.File("a.tblog");
    Import(testing::TestdataPath(file), log);
    const std::string dump = DumpOps(log);
    const std::vector<std::string> original = Lines(testing::ReadTestdata(file));
    const std::vector<std::string> back = Lines(dump);
    ASSERT_EQ(original.size(), back.size());
    for (size_t i = 0; i < original.size(); ++i)
      ASSERT_TRUE(SaysTheSame(original[i], back[i])) << original[i] << "\n" << back[i];

    const std::string again = folder.File("b.tblog");
    Import(folder.Write("a.ops.jsonl", dump), again);
    EXPECT_TRUE(ReadFile(log) == ReadFile(again)) << "the log made from the dump is another";
  }
}

// As those of all other commands, though the producer came before.
TEST(Dump, TimesCountFromTheSessionsStart) {
  const std::string log = testing::TestdataPath("sessions/mylife.ops.jsonl.zst");
  const std::string text = RunCommand(DumpCommand(), {log}).out;
  EXPECT_THAT(text, HasSubstr("-0.005000000  producer     producer 1"));
  EXPECT_THAT(text, HasSubstr(" 0.000000000  session      session 1, change started"));
}

TEST(Import, JoinedLogs_StayApart) {
  const TempFolder folder;
  const std::string one = folder.File("one.tblog");
  Import(folder.Write("1", "{\"op\":\"note\",\"text\":\"a\"}\n"), one);
  const std::string two = folder.Write("two.tblog", ReadFile(one) + ReadFile(one));
  const std::string back = folder.File("back.tblog");
  Import(folder.Write("2", DumpOps(two)), back);
  EXPECT_EQ(DumpOps(two), DumpOps(back));
  EXPECT_EQ(Lines(DumpOps(back)).size(), 3u);  // note, header, note
}

TEST(Import, Failure_LeavesNoFileBehind) {
  const TempFolder folder;
  const std::string bad = folder.Write("letter", "Dear A,\n");
  const Ran ran = RunCommand(ImportCommand(), {bad, "-o", folder.File("out.tblog")});
  EXPECT_THAT(ran.error, HasSubstr("letter: this is a text file, not a log"));
  EXPECT_EQ(folder.FileCount(), 1u);
}

TEST(Import, DamagedLine_IsLeftOutAndReported) {
  const TempFolder folder;
  const std::string bad = folder.Write("bad.ops.jsonl",
                                       "{\"op\":\"note\",\"text\":\"a\"}\n"
                                       "{\"op\":\"commit\",\"producer\":\"one\"}\n"
                                       "{\"op\":\"note\",\"text\":\"b\"}\n");
  const std::string log = folder.File("out.tblog");
  const Ran ran = RunCommand(ImportCommand(), {bad, "-o", log});
  EXPECT_EQ(ran.error, "");
  EXPECT_EQ(ran.code, ExitCode::kNotice);
  EXPECT_THAT(ran.err, HasSubstr("(record 1): line 2: key \"producer\""));
  const auto records = Lines(DumpOps(log));
  ASSERT_EQ(records.size(), 3u);
  EXPECT_THAT(records[1], HasSubstr(R"("op":"recorder_gap")"));
}

TEST(Import, WithoutAGoodLine_MakesNothing) {
  const TempFolder folder;
  const std::string log = folder.File("bad.tblog");
  const Ran ran =
      RunCommand(ImportCommand(), {std::string(RS_TESTDATA) + "/inputs/bad.ops.jsonl", "-o", log});
  EXPECT_THAT(ran.error, HasSubstr("no record of it can be read"));
  EXPECT_EQ(ran.code, ExitCode::kFailed);
  EXPECT_FALSE(fs::exists(log));
}

TEST(Import, ToStandardOutput_WritesNothingElse) {
  const TempFolder folder;
  const Ran ran =
      RunCommand(ImportCommand(), {"-", "-o", "-"}, "{\"op\":\"note\",\"text\":\"a\"}\n");
  EXPECT_EQ(ran.err, "");
  const std::string log = folder.Write("a.tblog", ran.out);
  EXPECT_EQ(Lines(DumpOps(log)).size(), 1u);
}

}  // namespace
}  // namespace ringscope
