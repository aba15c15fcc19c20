// An answer of any command fits on a screen, and ends with the same status.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "cli/app.h"
#include "commands/shell/registry.h"
#include "commands/testing/memory_run.h"
#include "formats/testing/files.h"
#include "formats/testing/testdata.h"

namespace ringscope {
namespace {

class Answers : public ::testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(Captures, Answers,
                         ::testing::Values("ring-v1", "two-buffers-v2", "stream-v2"),
                         testing::NameOfParam<const char*>);

// By default a person gets a screen; --all and --help have the rest.
TEST_P(Answers, FitOnAScreen) {
  const std::string folder = testing::TestdataPath("captures") / GetParam();
  const std::string log = testing::CapturePath(GetParam()), trace = folder + "/trace.pftrace.zst";
  for (const std::vector<std::string>& args : std::vector<std::vector<std::string>>{
           {log},
           {trace},
           {"gaps", log},
           {"doctor", log},
           {"doctor", trace},
           {"advise", log},
           {"diff", log, "--a", "v1", "--b", "v2"},
           {"diff", log, "--a", "v2@54", "--b", "v2@58", "--b-size", "64k"},
           {"diff", log, trace}}) {
    MemoryRun memory;
    ASSERT_THAT(RunApp(args, memory.streams), ::testing::AnyOf(0, 3)) << memory.err.text;
    EXPECT_LE(testing::Lines(memory.out.text).size(), 40u) << memory.out.text;
  }
}

/// All captures and small sessions: logs and traces.
std::vector<std::filesystem::path> AllInputs() {
  std::vector<std::filesystem::path> inputs;
  for (const char* folder : {"captures", "sessions"})
    for (const auto& entry :
         std::filesystem::recursive_directory_iterator(testing::TestdataPath(folder)))
      if (const std::string name = entry.path().filename();
          name.find("ops.jsonl") != std::string::npos || name.find(".pftrace") != std::string::npos)
        inputs.push_back(entry.path());
  return inputs;
}

// A sentence or two with one change, and at most nine facts, each in at most two rows; the account
// of all stages in three.
TEST(Answer, OfAFile_IsShort) {
  const TempFolder folder;
  ASSERT_GT(AllInputs().size(), 30u);
  for (const std::filesystem::path& input : AllInputs()) {
    SCOPED_TRACE(input);
    const std::string file = folder.File(input.filename());
    std::filesystem::copy_file(input, file, std::filesystem::copy_options::overwrite_existing);
    MemoryRun memory;
    ASSERT_THAT(RunApp(std::vector<std::string>{file}, memory.streams), ::testing::AnyOf(0, 3))
        << memory.err.text;
    size_t facts = 0, rows_of_fact = 0, most_rows = 2, changes = 0;
    for (const std::string_view line : testing::Lines(memory.out.text)) {
      const bool is_fact = line.starts_with("  ") && line[2] != ' ';
      facts += is_fact ? 1 : 0;
      rows_of_fact = is_fact ? 1 : rows_of_fact + 1;
      if (is_fact) most_rows = line.starts_with("  Stages ") ? 3 : 2;
      EXPECT_TRUE(facts == 0 || rows_of_fact <= most_rows) << line;
      changes += line.find("Change") != std::string_view::npos ? 1 : 0;
    }
    EXPECT_LE(facts, 9u);
    EXPECT_LE(changes, 1u);
    EXPECT_LE(testing::Lines(memory.out.text).size(), 15u) << memory.out.text;
  }
}

// All commands that search for losses end in the same way, and doctor and gaps never contradict.
TEST(ExitStatus, IsTheSameForAllCommandsThatSearch) {
  for (const std::filesystem::path& input : AllInputs()) {
    const auto run = [&](std::vector<std::string> args) {
      args.push_back(input);
      MemoryRun memory;
      return RunApp(args, memory.streams);
    };
    SCOPED_TRACE(input);
    const int doctor = run({"doctor"});
    EXPECT_EQ(run({}), doctor);
    EXPECT_EQ(run({"gaps"}), doctor);
    EXPECT_EQ(run({"report", "--quick"}), doctor);
    const bool is_trace = input.string().find(".pftrace") != std::string::npos;
    if (!is_trace) continue;
    EXPECT_EQ(run({"stats"}), doctor);
    EXPECT_EQ(run({"advise"}), doctor);
  }
}

TEST(Help, OfACommand_FitsOnAScreen) {
  for (const Command& command : Commands()) {
    MemoryRun memory;
    ASSERT_EQ(RunApp(std::vector<std::string>{command.name, "-h"}, memory.streams), 0);
    EXPECT_LE(testing::Lines(memory.out.text).size(), 40u) << command.name;
  }
}

}  // namespace
}  // namespace ringscope
