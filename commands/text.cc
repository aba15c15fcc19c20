#include "commands/text.h"

#include <fmt/format.h>

#include <array>

namespace ringscope {
namespace {

constexpr uint64_t kMs = 1'000'000;
constexpr uint64_t kSecond = 1'000'000'000;
constexpr uint64_t kMinute = 60 * kSecond;
constexpr uint64_t kHour = 60 * kMinute;

/// Bytes of the well-formed, printable UTF-8 character at the front of `text`; 0 if there is none.
size_t PrintableCharacter(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  if (byte(0) < 0x80) return byte(0) >= 0x20 && byte(0) != 0x7F ? 1 : 0;
  const size_t size = byte(0) >= 0xF0 ? 4 : byte(0) >= 0xE0 ? 3 : 2;
  if (byte(0) < 0xC2 || byte(0) > 0xF4 || text.size() < size) return 0;
  for (size_t i = 1; i < size; ++i)
    if ((byte(i) & 0xC0) != 0x80) return 0;
  const bool overlong_or_surrogate =
      (byte(0) == 0xE0 && byte(1) < 0xA0) || (byte(0) == 0xED && byte(1) > 0x9F) ||
      (byte(0) == 0xF0 && byte(1) < 0x90) || (byte(0) == 0xF4 && byte(1) > 0x8F);
  const bool c1_control = byte(0) == 0xC2 && byte(1) < 0xA0;
  return overlong_or_surrogate || c1_control ? 0 : size;
}

}  // namespace

std::string WithCommas(uint64_t number) {
  std::string text = std::to_string(number);
  for (size_t at = text.size(); at > 3;) text.insert(at -= 3, 1, ',');
  return text;
}

std::string HumanSize(uint64_t bytes) {
  constexpr std::array<const char*, 7> kUnits = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (bytes < 1024) return fmt::format("{} B", bytes);
  double value = static_cast<double>(bytes);
  size_t unit = 0;
  // 1023.5 and more would print as 1024 of the smaller unit.
  while (value >= 1023.5 && unit + 1 < kUnits.size()) value /= 1024, ++unit;
  if (bytes % (uint64_t{1} << (10 * unit)) == 0 || value >= 99.95)
    return fmt::format("{:.0f} {}", value, kUnits[unit]);
  return fmt::format("{:.{}f} {}", value, value < 9.995 ? 2 : 1, kUnits[unit]);
}

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

std::string Count(uint64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", WithCommas(count), noun, count == 1 ? "" : "s");
}

std::string ToString(SequenceKey key) {
  return fmt::format("{}:{}", Raw(key.producer), Raw(key.writer));
}

std::string Printable(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    if (const size_t size = PrintableCharacter(text); size > 0) {
      out += text.substr(0, size);
      text.remove_prefix(size);
    } else {
      out += fmt::format("\\x{:02x}", static_cast<uint8_t>(text.front()));
      text.remove_prefix(1);
    }
  }
  return out;
}

}  // namespace ringscope
