#include "core/base/text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cctype>

namespace ringscope {
namespace {

struct Utf8Character {
  char32_t code = 0;
  size_t length = 0;  // bytes; 0: the text does not begin with a character
};

Utf8Character FirstCharacter(std::string_view text) {
  constexpr char32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};  // of so many bytes
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC0 || lead > 0xF7 || text.size() < length) return {};
  char32_t code = lead & (0x7Fu >> length);
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return {};
    code = code << 6 | (byte(i) & 0x3Fu);
  }
  const bool is_surrogate = code >= 0xD800 && code <= 0xDFFF;
  if (code < kLeast[length] || is_surrogate || code > 0x10FFFF) return {};
  return {code, length};
}

/// Returns false for control characters, and for those that only change the direction of the text
/// after them: with such, a name can make other text look different from what it is.
bool IsShown(char32_t code) {
  constexpr std::pair<char32_t, char32_t> kHidden[] = {{0, 0x1F},        {0x7F, 0x9F},
                                                       {0x61C, 0x61C},   {0x200E, 0x200F},
                                                       {0x202A, 0x202E}, {0x2066, 0x2069}};
  return std::ranges::none_of(
      kHidden, [&](const auto& range) { return code >= range.first && code <= range.second; });
}

/// The least number of insertions, deletions, replacements, and swaps of two neighbours that make
/// one word of the other.
size_t EditDistance(std::string_view a, std::string_view b) {
  const size_t width = b.size() + 1;
  std::vector<size_t> table((a.size() + 1) * width);
  for (size_t i = 0; i <= a.size(); ++i) {
    for (size_t j = 0; j <= b.size(); ++j) {
      size_t& cost = table[i * width + j];
      if (i == 0 || j == 0) {
        cost = i + j;
        continue;
      }
      const size_t replace = table[(i - 1) * width + j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      cost = std::min({replace, table[(i - 1) * width + j] + 1, table[i * width + j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        cost = std::min(cost, table[(i - 2) * width + j - 2] + 1);
    }
  }
  return table.back();
}

}  // namespace

size_t Utf8Length(std::string_view text) { return FirstCharacter(text).length; }

bool IsUtf8(std::string_view text) {
  while (!text.empty()) {
    const size_t length = Utf8Length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string Printable(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const auto [code, length] = FirstCharacter(text);
    const bool is_shown = length > 0 && IsShown(code);
    if (is_shown)
      out += text.substr(0, length);
    else
      out += fmt::format("\\x{:02x}", static_cast<uint8_t>(text.front()));
    text.remove_prefix(is_shown ? length : 1);
  }
  return out;
}

std::string WithCommas(uint64_t number) {
  std::string text = std::to_string(number);
  for (size_t at = text.size(); at > 3;) text.insert(at -= 3, 1, ',');
  return text;
}

std::string SizeWithKb(uint64_t bytes) {
  return fmt::format("{} (size_kb: {})", HumanSize(bytes), bytes / 1024);
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
  constexpr uint64_t kMs = 1'000'000;
  constexpr uint64_t kSecond = 1'000'000'000;
  constexpr uint64_t kMinute = 60 * kSecond;
  constexpr uint64_t kHour = 60 * kMinute;
  if (ns == 0) return "0 s";
  if (ns < 1000) return fmt::format("{} ns", ns);
  // A time that would print as 1000.0 of a unit is 1 of the next one.
  if (ns < kMs - 50) return fmt::format("{:.1f} us", static_cast<double>(ns) / 1e3);
  if (ns < kSecond - kMs / 20) return fmt::format("{:.1f} ms", static_cast<double>(ns) / 1e6);
  if (ns < kMinute - kMs / 2) return fmt::format("{:.3f} s", static_cast<double>(ns) / 1e9);
  if (ns < kHour) return fmt::format("{} min {} s", ns / kMinute, ns % kMinute / kSecond);
  return fmt::format("{} h {} min", ns / kHour, ns % kHour / kMinute);
}

std::string Percent(uint64_t part, uint64_t whole) {
  return whole == 0 ? "" : ShareText(part, whole);
}

std::string ShareText(uint64_t part, uint64_t whole) {
  if (whole == 0) return "-";
  if (part == 0) return "0%";
  if (part == whole) return "100%";
  const std::string text =
      fmt::format("{:.1f}%", 100.0 * static_cast<double>(part) / static_cast<double>(whole));
  if (text == "0.0%") return "<0.1%";
  return text == "100.0%" ? ">99.9%" : text;
}

std::string Count(uint64_t count, std::string_view noun) {
  const char* const ending = count == 1                                     ? ""
                             : noun.ends_with("ch") || noun.ends_with("sh") ? "es"
                                                                            : "s";
  return fmt::format("{} {}{}", WithCommas(count), noun, ending);
}

std::string Joined(const std::vector<std::string>& parts, std::string_view between) {
  return fmt::format("{}", fmt::join(parts, between));
}

std::string ToString(BufferKey key) {
  return fmt::format(fmt::runtime(key.is_index ? "buffers[{}]" : "{}"), key.number);
}

std::string ToString(SequenceKey key) {
  return fmt::format("{}:{}", Raw(key.producer), Raw(key.writer));
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
    return std::isalnum(c) != 0 ||
           std::string_view("/._-+=:,@%").find(static_cast<char>(c)) != std::string_view::npos;
  });
  if (text.size() > 1 && text.front() == '-') return ShellWord("./" + std::string(text));
  if (is_plain) return std::string(text);
  const bool is_odd = Printable(text) != text;
  std::string out;
  for (const char c : text)
    out += c == '\''             ? std::string(is_odd ? "\\'" : "'\\''")
           : c == '\\' && is_odd ? "\\\\"
                                 : std::string(1, c);
  return is_odd ? "$'" + Printable(out) + "'" : "'" + out + "'";
}

std::string Wrap(std::string_view text, std::string_view mark, size_t hanging, size_t width) {
  const size_t indent = DisplayWidth(mark) + hanging;
  std::string out(mark);
  size_t column = DisplayWidth(mark);
  bool line_start = true;
  while (!text.empty()) {
    const size_t size = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, size);
    text.remove_prefix(std::min(size + 1, text.size()));
    if (!line_start && column + 1 + DisplayWidth(word) > width) {
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

std::string Wrap(std::string_view text, size_t indent, size_t width) {
  return Wrap(text, std::string(indent, ' '), 0, width);
}

std::optional<std::string_view> NearestName(std::string_view word,
                                            std::span<const std::string_view> candidates) {
  // A third of the word may be wrong; beyond that a suggestion is noise.
  size_t best = std::max<size_t>(1, word.size() / 3) + 1;
  std::optional<std::string_view> nearest;
  constexpr size_t kLongestWord = 64;
  if (word.size() > kLongestWord) return std::nullopt;
  for (const std::string_view candidate : candidates) {
    const size_t distance = EditDistance(word, candidate);
    if (distance < best) best = distance, nearest = candidate;
  }
  return nearest;
}

std::string DidYouMean(std::string_view word, std::span<const std::string> candidates,
                       std::string otherwise) {
  const std::vector<std::string_view> views(candidates.begin(), candidates.end());
  std::optional<std::string_view> nearest = NearestName(word, views);
  const auto begins = [&](std::string_view candidate) { return candidate.starts_with(word); };
  // "comp" for "completions", if it can mean nothing else.
  if (!nearest && word.size() > 1 && std::ranges::count_if(views, begins) == 1)
    nearest = *std::ranges::find_if(views, begins);
  return nearest ? fmt::format("did you mean '{}'?", *nearest) : std::move(otherwise);
}

}  // namespace ringscope
