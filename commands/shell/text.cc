#include "commands/shell/text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace ringscope {
namespace {

constexpr size_t kLineWidth = 80;
constexpr uint64_t kMs = 1'000'000;
constexpr uint64_t kSecond = 1'000'000'000;
constexpr uint64_t kMinute = 60 * kSecond;
constexpr uint64_t kHour = 60 * kMinute;

}  // namespace

std::string HumanDuration(uint64_t ns) {
  if (ns < 1000) return fmt::format("{} ns", ns);
  if (ns < kMs) return fmt::format("{:.1f} us", static_cast<double>(ns) / 1e3);
  if (ns < kSecond) return fmt::format("{:.1f} ms", static_cast<double>(ns) / 1e6);
  if (ns < kMinute) return fmt::format("{:.3f} s", static_cast<double>(ns) / 1e9);
  if (ns < kHour) return fmt::format("{} min {} s", ns / kMinute, ns % kMinute / kSecond);
  return fmt::format("{} h {} min", ns / kHour, ns % kHour / kMinute);
}

std::string HumanRate(uint64_t count, uint64_t ns) {
  if (ns == 0) return "-";
  const double rate = static_cast<double>(count) * 1e9 / static_cast<double>(ns);
  if (rate >= 9.5) return WithCommas(static_cast<uint64_t>(rate + 0.5));
  return fmt::format("{:.{}f}", rate, rate == 0 ? 0 : 2);
}

std::string Percent(uint64_t part, uint64_t whole) {
  if (whole == 0) return "";
  return fmt::format("{:.1f}%", 100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

std::string ShareText(uint64_t part, uint64_t whole) {
  if (whole == 0) return "-";
  const std::string text = Percent(part, whole);
  if (part == 0) return "0%";
  if (part == whole) return "100%";
  if (text == "0.0%") return "<0.1%";
  return text == "100.0%" ? ">99.9%" : text;
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

std::string Joined(const std::vector<std::string>& parts, std::string_view between) {
  return fmt::format("{}", fmt::join(parts, between));
}

}  // namespace ringscope
