// The table in docs/engines.md of what each engine delivers of each capture is what
// scripts/engine-table prints. scripts/test --golden replaces the table.

#include <gtest/gtest.h>

#include <cstdio>
#include <string>

#include "cli/testing/golden.h"
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

TEST(EngineTable, IsWhatTheDocsShow) {
  const std::string root = RS_SOURCE_DIR;
  const std::string table =
      OutputOf("'" + root + "/scripts/engine-table' '" + std::string(RS_BINARY) + "'");
  ASSERT_TRUE(table.starts_with("| capture | size |")) << table;
  const std::string path = root + "/docs/engines.md";
  const std::string page = ReadFile(path);
  const size_t begin = page.find("| capture | size |");
  ASSERT_NE(begin, std::string::npos);
  const size_t end = page.find("\n\n", begin) + 1;
  ExpectGoldenPart(path, begin, end, table);
}

}  // namespace
}  // namespace ringscope
