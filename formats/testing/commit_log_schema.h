#ifndef RINGSCOPE_FORMATS_TESTING_COMMIT_LOG_SCHEMA_H_
#define RINGSCOPE_FORMATS_TESTING_COMMIT_LOG_SCHEMA_H_

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

namespace ringscope::testing {

inline bool HasProtoc() { return std::system("protoc --version >/dev/null 2>&1") == 0; }

/// What `protoc --decode` prints of a message of commit_log.proto; empty if it is not one.
/// @param name of the message, such as "CommitLog"
inline std::string DecodeWithProtoc(const std::string& name, const std::string& message) {
  const std::string path =
      fmt::format("{}/ringscope-schema-{}", ::testing::TempDir(), static_cast<long>(::getpid()));
  std::ofstream(path, std::ios::binary) << message;
  const std::string command = fmt::format(
      "protoc --decode=ringscope.{} -I '{}/formats/log' commit_log.proto <'{}' 2>/dev/null", name,
      RS_SOURCE_DIR, path);
  std::string text;
  if (std::FILE* pipe = ::popen(command.c_str(), "r")) {
    char part[4096];
    while (const size_t got = std::fread(part, 1, sizeof(part), pipe)) text.append(part, got);
    if (::pclose(pipe) != 0) text.clear();
  }
  std::remove(path.c_str());
  return text;
}

}  // namespace ringscope::testing

#endif  // RINGSCOPE_FORMATS_TESTING_COMMIT_LOG_SCHEMA_H_
