#include "core/base/unified_diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace ringscope {
namespace {

/// With their line breaks: a last line without one is another than one with it.
std::vector<std::string_view> SplitLines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return lines;
}

}  // namespace

std::string UnifiedDiff(std::string_view name, std::string_view before, std::string_view after) {
  const std::vector<std::string_view> a = SplitLines(before), b = SplitLines(after);
  // Lengths of the longest common rests.
  std::vector<std::vector<uint32_t>> common(a.size() + 1, std::vector<uint32_t>(b.size() + 1));
  for (size_t i = a.size(); i-- > 0;)
    for (size_t j = b.size(); j-- > 0;)
      common[i][j] =
          a[i] == b[j] ? common[i + 1][j + 1] + 1 : std::max(common[i + 1][j], common[i][j + 1]);
  struct Line {
    char mark;
    std::string_view text;
  };
  std::vector<Line> lines;
  for (size_t i = 0, j = 0; i < a.size() || j < b.size();) {
    if (i < a.size() && j < b.size() && a[i] == b[j]) {
      lines.push_back({' ', a[i++]});
      ++j;
    } else if (i < a.size() && (j == b.size() || common[i + 1][j] >= common[i][j + 1])) {
      lines.push_back({'-', a[i++]});
    } else {
      lines.push_back({'+', b[j++]});
    }
  }
  constexpr size_t kContext = 3;
  std::string diff;
  size_t line_a = 1, line_b = 1;
  for (size_t at = 0; at < lines.size();) {
    const auto is_changed = [](const Line& line) { return line.mark != ' '; };
    const auto first =
        std::find_if(lines.begin() + static_cast<std::ptrdiff_t>(at), lines.end(), is_changed);
    if (first == lines.end()) break;
    const size_t changed = static_cast<size_t>(first - lines.begin());
    const size_t begin = changed - std::min(changed - at, kContext);
    line_a += begin - at;
    line_b += begin - at;
    // Up to so many unchanged lines that the next change is no part of it.
    size_t end = changed, last = changed;
    for (; end < lines.size() && end - last <= 2 * kContext; ++end)
      if (is_changed(lines[end])) last = end;
    end = std::min(lines.size(), last + 1 + kContext);
    std::string text;
    size_t count_a = 0, count_b = 0;
    for (size_t i = begin; i < end; ++i) {
      count_a += lines[i].mark != '+' ? 1 : 0;
      count_b += lines[i].mark != '-' ? 1 : 0;
      text += lines[i].mark + std::string(lines[i].text);
      if (lines[i].text.back() != '\n') text += "\n\\ No newline at end of file\n";
    }
    if (diff.empty()) diff = fmt::format("--- {0}\n+++ {0}\n", name);
    diff += fmt::format("@@ -{},{} +{},{} @@\n", count_a == 0 ? line_a - 1 : line_a, count_a,
                        count_b == 0 ? line_b - 1 : line_b, count_b) +
            text;
    line_a += count_a;
    line_b += count_b;
    at = end;
  }
  return diff;
}

}  // namespace ringscope
