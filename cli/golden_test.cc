// Golden runs: each folder of testdata/cli has a `cmd` file of command lines and what they print
// and return. With RINGSCOPE_UPDATE_GOLDEN=1 in the environment the answers are written anew.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "cli/testing/script.h"
#include "commands/testing/memory_run.h"

namespace ringscope {
namespace {

namespace fs = std::filesystem;

const fs::path kCases = fs::path(RS_TESTDATA) / "cli";

std::vector<std::string> CaseNames() {
  std::vector<std::string> names;
  if (fs::exists(kCases))
    for (const auto& entry : fs::directory_iterator(kCases))
      if (entry.is_directory()) names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

/// Lines of a text that are neither blank nor comments.
std::vector<std::string> CommandLines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);)
    if (!line.empty() && line.front() != '#') lines.push_back(line);
  return lines;
}

class Golden : public testing::TestWithParam<std::string> {};

TEST_P(Golden, Run) {
  const fs::path folder = kCases / GetParam();
  // A working folder that holds what a case refers to: testdata, the example plug-in and
  // broken ones, and the files it makes.
  const TempFolder work;
  fs::current_path(work.path());
  fs::create_directory_symlink(RS_TESTDATA, "testdata");
  fs::create_directory_symlink(RS_PLUGINS, "plugins");

  ScriptResult all;
  for (const std::string& line : CommandLines(ReadFile(folder / "cmd"))) {
    const ScriptResult result = RunScriptLine(line);
    all.out += result.out;
    all.err += result.err;
    all.status = result.status;
  }
  fs::current_path("/");

  const std::pair<const char*, std::string> answers[] = {
      {"stdout", all.out}, {"stderr", all.err}, {"status", std::to_string(all.status) + "\n"}};
  for (const auto& [name, text] : answers) {
    if (std::getenv("RINGSCOPE_UPDATE_GOLDEN") != nullptr) {
      std::ofstream(folder / name, std::ios::binary) << text;
    } else {
      EXPECT_EQ(ReadFile(folder / name), text) << folder / name;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Cli, Golden, testing::ValuesIn(CaseNames()), [](const auto& test) {
  std::string name = test.param;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return std::isalnum(c) == 0; }, '_');
  return name;
});

TEST(GoldenCases, AreThere) { EXPECT_GE(CaseNames().size(), 10u); }

}  // namespace
}  // namespace ringscope
