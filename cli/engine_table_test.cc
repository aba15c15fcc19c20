// The README's table of what each engine delivers of each capture is what scripts/engine-table
// prints. With RINGSCOPE_UPDATE_GOLDEN=1 in the environment it is written anew.

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include "commands/testing/memory_run.h"

namespace ringscope {
namespace {

/// What a shell command prints.
std::string OutputOf(const std::string& command) {
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return {};
  std::string output;
  char part[4096];
  while (const size_t size = fread(part, 1, sizeof part, pipe)) output.append(part, size);
  EXPECT_EQ(pclose(pipe), 0) << command;
  return output;
}

TEST(EngineTable, IsWhatTheReadmeSays) {
  const std::string root = RS_SOURCE_DIR;
  const std::string table =
      OutputOf("'" + root + "/scripts/engine-table' '" + std::string(RS_BINARY) + "'");
  ASSERT_TRUE(table.starts_with("| capture | size |")) << table;
  const std::string path = root + "/README.md";
  const std::string readme = ReadFile(path);
  const size_t begin = readme.find("| capture | size |");
  ASSERT_NE(begin, std::string::npos);
  const size_t end = readme.find("\n\n", begin) + 1;
  if (std::getenv("RINGSCOPE_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(path, std::ios::binary) << readme.substr(0, begin) + table + readme.substr(end);
  } else {
    EXPECT_EQ(readme.substr(begin, end - begin), table);
  }
}

}  // namespace
}  // namespace ringscope
