#include "commands/shell/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

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

std::string Shortened(std::string_view text, size_t columns) {
  if (DisplayWidth(text) <= columns) return std::string(text);
  size_t end = 0;
  for (size_t column = 0; end < text.size(); ++end)
    if ((static_cast<uint8_t>(text[end]) & 0xC0) != 0x80 && ++column == columns) break;
  return std::string(text.substr(0, end)) + "…";
}

std::string ShellWord(std::string_view text) {
  const bool is_plain = !text.empty() && std::ranges::all_of(text, [](unsigned char c) {
    return std::isalnum(c) != 0 || std::string_view("/._-+=:,@%").find(static_cast<char>(c)) !=
                                       std::string_view::npos;
  });
  if (is_plain) return std::string(text);
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
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
