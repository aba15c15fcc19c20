// The map in docs/architecture.md is true: every folder below core, formats and commands is a row
// of its tables and only those, every quoted include is one that the rows allow, and the rows are
// in an order without cycles. Core is pure, no command runs another by its name, and the sum of all
// lines has a limit.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace ringscope {
namespace {

namespace fs = std::filesystem;

constexpr size_t kAllLines = 67000;  // of .h and .cc, tests apart

// The table of all commands.
constexpr const char* kRegistry = "commands/shell/registry.h";

// Headers that core must not use: files, clocks, sockets, threads, loading of code, randomness
// (that no seed repeats).
const std::vector<std::string> kImpureHeaders = {"chrono",   "dlfcn.h", "filesystem",    "fstream",
                                                 "iostream", "mutex",   "random_device", "sys/",
                                                 "thread",   "unistd.h"};
const std::vector<std::string> kCoreLibraries = {"fmt/", "tl/", "xxhash.h"};

/// Each folder with those that its tests may include, too.
const std::map<std::string, std::vector<std::string>> kFolders = {
    {"include", {}},
    {"core", {"core/"}},
    {"formats", {"formats/", "core/"}},
    {"commands", {"commands/", "formats/", "core/", "include/"}},
    {"cli", {"cli/", "commands/", "formats/", "core/", "include/"}},
};

struct Room {
  std::string name;                   // "core/engine"
  std::set<std::string> may_include;  // rooms, or folders that mean all of their rooms
};

std::string Trimmed(const std::string& text) {
  const size_t begin = text.find_first_not_of(" `");
  if (begin == std::string::npos) return {};
  return text.substr(begin, text.find_last_not_of(" `") + 1 - begin);
}

std::vector<std::string> Split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(Trimmed(part));
  return parts;
}

/// The rows of the map's tables, in their order.
std::vector<Room> ReadMap() {
  std::vector<Room> rooms;
  std::ifstream file(fs::path(RS_SOURCE_DIR) / "docs/architecture.md");
  for (std::string line; std::getline(file, line);) {
    const std::vector<std::string> cells = Split(line, '|');
    if (cells.size() != 5 || cells[1].find('/') == std::string::npos) continue;
    Room room{cells[1], {}};
    if (room.name.starts_with("formats/")) room.may_include.insert("core");
    if (room.name.starts_with("commands/")) room.may_include.insert({"core", "formats", "include"});
    for (const std::string& name : Split(cells[3], ',')) {
      if (name.empty()) continue;
      room.may_include.insert(name);
      for (const Room& above : rooms)
        if (above.name == name)
          room.may_include.insert(above.may_include.begin(), above.may_include.end());
    }
    rooms.push_back(std::move(room));
  }
  return rooms;
}

/// "core/engine" of "core/engine/v2_engine.cc"; "cli" of "cli/main.cc".
std::string RoomOf(const std::string& path) {
  const size_t folder = path.find('/');
  const size_t room = path.find('/', folder + 1);
  return path.substr(0, room == std::string::npos ? folder : room);
}

std::string FolderOf(const std::string& path) { return path.substr(0, path.find('/')); }

bool BeginsWithAny(const std::string& text, const std::vector<std::string>& starts) {
  return std::any_of(starts.begin(), starts.end(),
                     [&](const std::string& start) { return text.starts_with(start); });
}

struct SourceFile {
  std::string path;  // relative to the project
  size_t lines = 0;
  std::vector<std::string> quoted;  // includes
  std::vector<std::string> system;
  bool joins = false;  // uses fmt::join

  /// Part of a test, benchmark or fuzzer.
  bool IsForTests() const {
    return path.ends_with("_test.cc") || path.ends_with("_bench.cc") ||
           path.ends_with("_fuzz.cc") || path.find("/testing/") != std::string::npos;
  }
};

SourceFile ReadSource(const fs::path& path) {
  SourceFile source{fs::relative(path, RS_SOURCE_DIR).string(), 0, {}, {}, false};
  const std::string join = std::string("fmt::") + "join(";  // not as a whole, or this is one
  std::ifstream file(path);
  for (std::string line; std::getline(file, line); ++source.lines) {
    source.joins |= line.find(join) != std::string::npos;
    if (line.find("std::random_device") != std::string::npos)
      source.system.emplace_back("random_device");
    constexpr std::string_view kStart = "#include ";
    if (!line.starts_with(kStart) || line.size() < kStart.size() + 3) continue;
    const bool quoted = line[kStart.size()] == '"';
    const size_t end = line.find(quoted ? '"' : '>', kStart.size() + 1);
    (quoted ? source.quoted : source.system)
        .push_back(line.substr(kStart.size() + 1, end - kStart.size() - 1));
  }
  return source;
}

const std::vector<SourceFile>& AllSources() {
  static const std::vector<SourceFile> kSources = [] {
    std::vector<SourceFile> sources;
    for (const auto& [folder, below] : kFolders) {
      for (const auto& entry : fs::recursive_directory_iterator(fs::path(RS_SOURCE_DIR) / folder)) {
        const std::string extension = entry.path().extension();
        if (extension == ".h" || extension == ".cc") sources.push_back(ReadSource(entry.path()));
      }
    }
    return sources;
  }();
  return kSources;
}

TEST(Layers, MapHasEveryRoomAndNoOther) {
  std::vector<std::string> mapped;
  for (const Room& room : ReadMap()) mapped.push_back(room.name);
  std::sort(mapped.begin(), mapped.end());
  std::vector<std::string> found;
  for (const char* folder : {"core", "formats", "commands"}) {
    for (const auto& entry : fs::directory_iterator(fs::path(RS_SOURCE_DIR) / folder)) {
      const std::string name = std::string(folder) + "/" + entry.path().filename().string();
      if (entry.is_directory()) found.push_back(name);
      EXPECT_TRUE(entry.is_directory() || name.ends_with("CMakeLists.txt"))
          << name << " is in no room";
    }
  }
  std::sort(found.begin(), found.end());
  EXPECT_EQ(mapped, found);
}

TEST(Layers, RoomsIncludeOnlyThoseAboveThemInTheMap) {
  std::set<std::string> above = {"core", "formats", "commands", "include"};
  for (const Room& room : ReadMap()) {
    for (const std::string& name : room.may_include)
      EXPECT_TRUE(above.contains(name)) << room.name << " may include " << name;
    above.insert(room.name);
  }
  // Folders: their names mean rooms of folders below, or a room of tests.
  for (const Room& room : ReadMap()) {
    if (room.name.ends_with("/testing")) continue;
    EXPECT_FALSE(room.may_include.contains(FolderOf(room.name))) << room.name;
    if (room.name.starts_with("core/")) {
      EXPECT_FALSE(room.may_include.contains("formats")) << room.name;
    }
    EXPECT_FALSE(room.may_include.contains("commands")) << room.name;
  }
}

TEST(Layers, IncludesAreWhatTheMapAllows) {
  std::map<std::string, std::set<std::string>> may_include;
  for (Room& room : ReadMap()) may_include[room.name] = std::move(room.may_include);
  size_t checked = 0;
  for (const SourceFile& source : AllSources()) {
    const std::string room = RoomOf(source.path);
    const std::string folder = FolderOf(source.path);
    for (const std::string& header : source.quoted) {
      ++checked;
      const std::string target = RoomOf(header);
      if (source.IsForTests() || folder == "cli") {
        EXPECT_TRUE(BeginsWithAny(header, kFolders.at(folder)))
            << source.path << " includes " << header;
        continue;
      }
      const std::set<std::string>& allowed = may_include[room];
      const bool is_testing = target.ends_with("/testing");
      EXPECT_TRUE(target == room || allowed.contains(target) ||
                  (allowed.contains(FolderOf(target)) && !is_testing))
          << source.path << " includes " << header;
    }
  }
  EXPECT_GT(checked, 1000U);
}

TEST(Layers, NoCommandRunsAnotherByItsName) {
  for (const SourceFile& source : AllSources()) {
    const bool may_run = RoomOf(source.path) == "commands/shell" || FolderOf(source.path) == "cli";
    EXPECT_TRUE(may_run || std::ranges::count(source.quoted, kRegistry) == 0) << source.path;
  }
}

TEST(Layers, AllLinesAreWithinTheLimit) {
  size_t lines = 0;
  for (const SourceFile& source : AllSources())
    if (!source.IsForTests()) lines += source.lines;
  EXPECT_LE(lines, kAllLines);
}

// Some versions of fmt have it in <fmt/format.h>, others not.
TEST(Layers, WhatUsesJoinIncludesItsHeader) {
  size_t checked = 0;
  for (const SourceFile& source : AllSources()) {
    if (!source.joins) continue;
    ++checked;
    EXPECT_TRUE(std::ranges::find(source.system, "fmt/ranges.h") != source.system.end())
        << source.path << " does not include <fmt/ranges.h>";
  }
  EXPECT_GT(checked, 8U);
}

TEST(Layers, CoreIsPure) {
  for (const SourceFile& source : AllSources()) {
    if (FolderOf(source.path) != "core" || source.IsForTests()) continue;
    for (const std::string& header : source.system) {
      EXPECT_FALSE(BeginsWithAny(header, kImpureHeaders))
          << source.path << " includes <" << header << ">";
      // Headers of the standard library have neither folder nor suffix.
      const bool is_standard = header.find_first_of("/.") == std::string::npos;
      EXPECT_TRUE(is_standard || BeginsWithAny(header, kCoreLibraries))
          << source.path << " includes <" << header << ">";
    }
  }
}

}  // namespace
}  // namespace ringscope
