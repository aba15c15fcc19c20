// Golden runs: each file testdata/cli/COMMAND/CASE.txt has command lines and what each prints and
// returns, in this order:
//
//   # Comments.
//   $ ringscope info nothing.tblog
//   lines of standard output
//   ! lines of standard error
//   [status 1]
//
// Inputs that several cases use are in testdata/inputs. A new case needs its `$` lines only; after
// scripts/test --golden it has the answers of today, as have all others: review the difference.

#include "cli/testing/golden.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <sstream>

#include "cli/testing/script.h"
#include "commands/shell/registry.h"
#include "commands/testing/memory_run.h"

namespace ringscope {
namespace {

namespace fs = std::filesystem;

const fs::path kCases = fs::path(RS_TESTDATA) / "cli";

/// Paths of the cases relative to kCases: "dump/json.txt".
std::vector<std::string> Cases() {
  std::vector<std::string> cases;
  for (const auto& entry : fs::recursive_directory_iterator(kCases))
    if (entry.is_regular_file()) cases.push_back(entry.path().lexically_relative(kCases));
  std::sort(cases.begin(), cases.end());
  return cases;
}

/// Each line of a text after a prefix. An output that ends within a line gets a note.
std::string Lines(const std::string& text, const char* prefix) {
  std::string lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines += prefix + line + "\n";
  if (!text.empty() && text.back() != '\n') lines += "[no newline]\n";
  return lines;
}

/// A case as it should be: its comments and commands, and what the commands print now.
std::string RunCase(const std::string& text) {
  std::string made;
  bool in_output = false;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    if (line.starts_with("$ ")) {
      const ScriptResult result = RunScriptLine(line.substr(2));
      made += fmt::format("{}\n{}{}[status {}]\n", line, Lines(result.out, ""),
                          Lines(result.err, "! "), result.status);
      in_output = true;
    } else if (!in_output) {
      made += line + "\n";
    } else if (line.starts_with("[status ")) {
      in_output = false;
    }
  }
  return made;
}

class Golden : public ::testing::TestWithParam<std::string> {};

TEST_P(Golden, Run) {
  const fs::path path = kCases / GetParam();
  const std::string text = ReadFile(path);
  // A working folder that has what a case refers to: testdata, the conformance cases, the example
  // plug-in and broken ones, and the files it makes.
  const TempFolder work;
  fs::current_path(work.path());
  fs::create_directory_symlink(RS_TESTDATA, "testdata");
  fs::create_directory_symlink(RS_UNPACKED "/conformance", "conformance");
  fs::create_directory_symlink(RS_PLUGINS, "plugins");
  const std::string made = RunCase(text);
  fs::current_path("/");

  EXPECT_NE(made.find("$ ringscope"), std::string::npos) << "no command";
  ExpectGolden(path, made);
}

INSTANTIATE_TEST_SUITE_P(Cli, Golden, ::testing::ValuesIn(Cases()), [](const auto& test) {
  std::string name = test.param.substr(0, test.param.rfind('.'));
  std::replace_if(
      name.begin(), name.end(), [](char c) { return std::isalnum(c) == 0; }, '_');
  return name;
});

TEST(GoldenCases, EachCommandHasAFolder) {
  std::set<std::string> folders;
  for (const std::string& name : Cases()) folders.insert(name.substr(0, name.find('/')));
  const std::vector<std::string> commands = CommandNames();
  EXPECT_EQ(folders, std::set<std::string>(commands.begin(), commands.end()));
}

}  // namespace
}  // namespace ringscope
