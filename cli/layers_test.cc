#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace ringscope {
namespace {

namespace fs = std::filesystem;

struct Layer {
  const char* folder;
  std::vector<std::string> may_include;  // how its project includes begin
};

const std::vector<Layer> kLayers = {
    {"core", {"core/"}},
    {"formats", {"formats/", "core/"}},
    {"commands", {"commands/", "formats/", "core/"}},
    {"cli", {"cli/", "commands/", "formats/", "core/"}},
};

// What core must not use: files, clocks, sockets, threads, loading of code, randomness.
const std::vector<std::string> kImpureHeaders = {"chrono",   "dlfcn.h", "filesystem", "fstream",
                                                 "iostream", "mutex",   "random",     "sys/",
                                                 "thread",   "unistd.h"};
// stdint.h is for plugin_abi.h, which is C.
const std::vector<std::string> kCoreLibraries = {"fmt/", "tl/", "stdint.h", "xxhash.h"};

struct Include {
  std::string file;
  std::string header;
  bool quoted = false;
};

std::vector<Include> IncludesOf(const std::string& folder) {
  std::vector<Include> includes;
  const fs::path root = fs::path(RS_SOURCE_DIR) / folder;
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    const std::string extension = entry.path().extension();
    if (extension != ".h" && extension != ".cc") continue;
    std::ifstream file(entry.path());
    for (std::string line; std::getline(file, line);) {
      constexpr std::string_view kStart = "#include ";
      if (!line.starts_with(kStart) || line.size() < kStart.size() + 3) continue;
      const bool quoted = line[kStart.size()] == '"';
      const size_t end = line.find(quoted ? '"' : '>', kStart.size() + 1);
      includes.push_back({fs::relative(entry.path(), RS_SOURCE_DIR),
                          line.substr(kStart.size() + 1, end - kStart.size() - 1), quoted});
    }
  }
  return includes;
}

bool BeginsWithAny(const std::string& text, const std::vector<std::string>& starts) {
  return std::any_of(starts.begin(), starts.end(),
                     [&](const std::string& start) { return text.starts_with(start); });
}

bool IsTestOrBenchmark(const std::string& file) {
  return file.ends_with("_test.cc") || file.ends_with("_bench.cc") ||
         file.find("/testing/") != std::string::npos ||
         file.find("/examples/") != std::string::npos;
}

TEST(Layers, IncludesPointDownwards) {
  for (const Layer& layer : kLayers) {
    const std::vector<Include> includes = IncludesOf(layer.folder);
    EXPECT_FALSE(includes.empty()) << layer.folder;
    for (const Include& include : includes) {
      if (include.quoted) {
        EXPECT_TRUE(BeginsWithAny(include.header, layer.may_include))
            << include.file << " includes " << include.header;
      }
    }
  }
}

TEST(Layers, CoreIsPure) {
  for (const Include& include : IncludesOf("core")) {
    if (include.quoted || IsTestOrBenchmark(include.file)) continue;
    EXPECT_FALSE(BeginsWithAny(include.header, kImpureHeaders))
        << include.file << " includes <" << include.header << ">";
    // Headers of the standard library have neither folder nor suffix.
    const bool is_standard = include.header.find_first_of("/.") == std::string::npos;
    EXPECT_TRUE(is_standard || BeginsWithAny(include.header, kCoreLibraries))
        << include.file << " includes <" << include.header << ">";
  }
}

}  // namespace
}  // namespace ringscope
