#include "commands/shell/text.h"

#include <fmt/format.h>

#include <algorithm>

namespace ringscope {
namespace {

constexpr size_t kLineWidth = 80;

}  // namespace

std::string HumanRate(uint64_t count, uint64_t ns) {
  if (ns == 0) return "-";
  const double rate = static_cast<double>(count) * 1e9 / static_cast<double>(ns);
  if (rate >= 9.5) return WithCommas(static_cast<uint64_t>(rate + 0.5));
  return fmt::format("{:.{}f}", rate, rate == 0 ? 0 : 2);
}

size_t DisplayWidth(std::string_view text) {
  return static_cast<size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<uint8_t>(c) & 0xC0) != 0x80; }));
}

std::string Wrap(std::string_view text, std::string_view mark) {
  const size_t indent = DisplayWidth(mark);
  std::string out(mark);
  size_t column = indent;
  bool line_start = true;
  while (!text.empty()) {
    const size_t size = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, size);
    text.remove_prefix(std::min(size + 1, text.size()));
    if (!line_start && column + 1 + DisplayWidth(word) > kLineWidth) {
      out += "\n" + std::string(indent, ' ');
      column = indent;
      line_start = true;
    }
    if (!line_start) out += ' ', ++column;
    out += word;
    column += DisplayWidth(word);
    line_start = false;
  }
  return out;
}

std::string Wrap(std::string_view text, size_t indent) {
  return Wrap(text, std::string(indent, ' '));
}

}  // namespace ringscope
