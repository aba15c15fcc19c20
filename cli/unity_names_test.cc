// The demo compiles the rooms of a folder as one unit, and the release some of them. So constants
// and types in the anonymous namespaces of a folder have names of their own.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <string>
#include <vector>

namespace ringscope {
namespace {

namespace fs = std::filesystem;

bool IsCompiledWithOthers(const std::string& path) {
  if (!path.ends_with(".cc") || path.find("/testing/") != std::string::npos) return false;
  for (const char* const end : {"_test.cc", "_bench.cc", "_fuzz.cc", "main.cc"})
    if (path.ends_with(end)) return false;
  return true;
}

/// The constants and types that a source defines in its anonymous namespaces, with the namespace
/// around these: "ringscope::kSize".
std::vector<std::string> NamesIn(const fs::path& path) {
  static const std::regex kConstant(
      R"(^(?:inline )?(?:constexpr|const) [^=({]*?\b(k[A-Z]\w*)(?:\[[^\]]*\])* ?(?:=|\{|\().*)");
  static const std::regex kType(
      R"(^(?:struct|class|enum class|enum) (\w+)(?: final)?(?: :[^:].*| \{.*|)$)");
  std::vector<std::string> names;
  std::ifstream file(path);
  std::string around;
  bool is_anonymous = false;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("namespace {")) {
      is_anonymous = true;
    } else if (line.starts_with("namespace ")) {
      around = line.substr(10, line.find(" {") - 10);
    } else if (line.starts_with("}  // namespace")) {
      is_anonymous = false;
    } else if (is_anonymous && !line.empty() && line.front() != ' ') {
      std::smatch match;
      if (std::regex_match(line, match, kConstant) || std::regex_match(line, match, kType))
        names.push_back(around + "::" + match[1].str());
    }
  }
  return names;
}

TEST(UnityNames, AreUsedOnceInAFolder) {
  for (const char* const folder : {"core", "formats", "commands"}) {
    std::map<std::string, std::string> files;  // by the name that they define
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(RS_SOURCE_DIR) / folder)) {
      const std::string path = entry.path().string();
      if (!IsCompiledWithOthers(path)) continue;
      for (const std::string& name : NamesIn(path)) {
        const auto [other, is_new] = files.emplace(name, path);
        EXPECT_TRUE(is_new || other->second == path)
            << name << " is defined in " << path << " and in " << other->second
            << ", which may be compiled as one: give one of them another name";
      }
    }
    EXPECT_GT(files.size(), 50u) << folder;
  }
}

}  // namespace
}  // namespace ringscope
