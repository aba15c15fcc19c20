#include "cli/testing/golden.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <regex>
#include <sstream>
#include <vector>

#include "commands/testing/memory_run.h"

namespace ringscope {
namespace {

std::vector<std::smatch> LogSizes(const std::string& text) {
  static const std::regex kSize(R"(records, ([0-9.]+) (KiB|MiB))");
  return {std::sregex_iterator(text.begin(), text.end(), kSize), std::sregex_iterator()};
}

bool AreClose(const std::smatch& a, const std::smatch& b) {
  const double size = std::stod(a[1]), other = std::stod(b[1]);
  return a[2] == b[2] && std::abs(size - other) <= size / 100;
}

/// `made`, with those sizes of logs that are close to the size in the same place of `expected`
/// replaced by it. All sizes are left as they are if the two texts have not the same number of
/// them.
std::string WithLogSizesOf(const std::string& expected, const std::string& made) {
  const std::vector<std::smatch> wanted = LogSizes(expected), found = LogSizes(made);
  if (wanted.size() != found.size()) return made;
  std::string text;
  auto copied = made.begin();
  for (size_t i = 0; i < found.size(); ++i) {
    const std::smatch& size = AreClose(wanted[i], found[i]) ? wanted[i] : found[i];
    text.append(copied, found[i][0].first).append(size.str());
    copied = found[i][0].second;
  }
  return text.append(copied, made.end());
}

std::vector<std::string> LinesOf(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

}  // namespace

bool UpdatesGoldens() { return std::getenv("RINGSCOPE_UPDATE_GOLDEN") != nullptr; }

void ExpectGolden(const std::filesystem::path& path, const std::string& made) {
  if (UpdatesGoldens()) std::ofstream(path, std::ios::binary) << made;
  const std::string expected = ReadFile(path), found = WithLogSizesOf(expected, made);
  if (expected == found) return;
  ADD_FAILURE() << path.string() << "\nis not what is printed now (-: the file, +: now):\n"
                << ::testing::internal::edit_distance::CreateUnifiedDiff(LinesOf(expected),
                                                                         LinesOf(found))
                << "If the change is wanted: scripts/test --golden, then look at 'git diff'.";
}

void ExpectGoldenPart(const std::filesystem::path& path, size_t begin, size_t end,
                      const std::string& made) {
  ExpectGolden(path, ReadFile(path).replace(begin, end - begin, made));
}

}  // namespace ringscope
