#include "cli/testing/log_sizes.h"

#include <cmath>
#include <iterator>
#include <regex>
#include <vector>

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

}  // namespace

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

}  // namespace ringscope
