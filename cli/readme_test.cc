// The README's ```console blocks are run: each `$ ringscope ...` line, one after the other in one
// folder that has the project's testdata and the example plug-in, must print the lines that follow it. With
// RINGSCOPE_UPDATE_GOLDEN=1 in the environment they are written anew.

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "cli/testing/script.h"
#include "commands/testing/memory_run.h"

namespace ringscope {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrompt = "$ ringscope ";

/// The README as it should be: the output of each command made anew.
std::string RunAll(const std::string& readme, int& commands) {
  std::string made;
  bool in_block = false;
  bool in_output = false;
  std::istringstream stream(readme);
  for (std::string line; std::getline(stream, line);) {
    if (line == "```console") {
      in_block = true;
    } else if (line == "```") {
      in_block = in_output = false;
    } else if (in_block && line.starts_with(kPrompt)) {
      const ScriptResult result = RunScriptLine(line.substr(2));
      made += line + "\n" + result.out + result.err;
      in_output = true;
      ++commands;
      continue;
    } else if (in_output) {
      continue;  // made anew
    }
    made += line + "\n";
  }
  return made;
}

TEST(Readme, ExamplesPrintWhatItSays) {
  const std::string path = std::string(RS_SOURCE_DIR) + "/README.md";
  const std::string readme = ReadFile(path);
  const TempFolder work;
  fs::current_path(work.path());
  fs::create_directory_symlink(RS_TESTDATA, "testdata");
  fs::create_symlink(RS_PLUGINS "/v2_plugin.so", "libmybuffer.so");
  int commands = 0;
  const std::string made = RunAll(readme, commands);
  fs::current_path("/");
  EXPECT_GE(commands, 8);
  if (std::getenv("RINGSCOPE_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(path, std::ios::binary) << made;
  } else {
    EXPECT_EQ(readme, made);
  }
}

}  // namespace
}  // namespace ringscope
