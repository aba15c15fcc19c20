#include "formats/draw/svg_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

namespace ringscope {
namespace {

struct TextClass {
  std::string_view name;
  int size;  // pixels
  bool bold;
};
constexpr int kTextSize = 11;
constexpr TextClass kTextClasses[] = {
    {"title", 17, true}, {"heading", 14, true}, {"id", 12, true}, {"small", 10, false}};

/// Of the characters from the space on, in thousandths of the font's size.
constexpr std::array<uint16_t, 95> kAdvances = {
    318, 401, 460, 838, 636, 950, 780, 275, 390, 390, 500, 838, 318, 361,  318, 337, 636, 636, 636,
    636, 636, 636, 636, 636, 636, 636, 337, 337, 838, 838, 838, 531, 1000, 684, 686, 698, 770, 632,
    575, 775, 752, 295, 295, 656, 557, 863, 748, 787, 603, 787, 695, 635,  611, 732, 684, 989, 685,
    611, 685, 390, 337, 390, 838, 500, 500, 613, 635, 550, 635, 615, 352,  635, 634, 278, 278, 579,
    278, 974, 634, 612, 635, 635, 411, 521, 392, 634, 592, 818, 592, 592,  525, 636, 337, 636, 838};
constexpr double kLatinAdvance = 636;
constexpr double kOtherAdvance = 1000;
constexpr double kBoldFactor = 1.12;

bool ContinuesCharacter(char c) { return (static_cast<uint8_t>(c) & 0xC0) == 0x80; }

double Advance(char c) {
  if (ContinuesCharacter(c)) return 0;
  if (static_cast<uint8_t>(c) == 0xC2) return kLatinAdvance;  // begins U+0080 to U+00BF
  const size_t index = static_cast<uint8_t>(c) - size_t{' '};
  return index < kAdvances.size() ? kAdvances[index] : kOtherAdvance;
}

bool HasClass(std::string_view classes, std::string_view name) {
  while (!classes.empty()) {
    const std::string_view one = classes.substr(0, classes.find(' '));
    if (one == name) return true;
    classes.remove_prefix(std::min(classes.size(), one.size() + 1));
  }
  return false;
}

/// As many bytes of whole characters as fit, at least one character.
size_t Fitting(std::string_view text, double width, std::string_view classes) {
  size_t end = 0;
  for (size_t i = 1; i <= text.size(); ++i) {
    if (i < text.size() && ContinuesCharacter(text[i])) continue;
    if (end > 0 && SvgTextWidth(text.substr(0, i), classes) > width) break;
    end = i;
  }
  return end;
}

}  // namespace

std::string SvgTextRules() {
  std::string rules = fmt::format(
      "text {{ font-family: \"DejaVu Sans\", Verdana, Helvetica, Arial, sans-serif; "
      "font-size: {}px;\n  fill: var(--ink); white-space: pre; }}\n",
      kTextSize);
  for (const TextClass& text : kTextClasses)
    rules += fmt::format("text.{} {{ font-size: {}px;{} }}\n", text.name, text.size,
                         text.bold ? " font-weight: bold;" : "");
  return rules;
}

double SvgTextWidth(std::string_view text, std::string_view classes) {
  double width = 0;
  for (const char c : text) width += Advance(c);
  TextClass font{"", kTextSize, false};
  for (const TextClass& known : kTextClasses)
    if (HasClass(classes, known.name)) font = known;
  return width * font.size / 1000 * (font.bold ? kBoldFactor : 1);
}

std::vector<std::string> SvgTextLines(std::string_view text, double width,
                                      std::string_view classes) {
  std::vector<std::string> lines;
  std::string line;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    const std::string longer = line.empty() ? std::string(word) : line + " " + std::string(word);
    if (SvgTextWidth(longer, classes) <= width) {
      line = longer;
      text.remove_prefix(std::min(text.size(), word.size() + 1));
    } else if (!line.empty()) {
      lines.push_back(std::exchange(line, {}));
    } else {
      const size_t end = Fitting(word, width, classes);
      lines.emplace_back(word.substr(0, end));
      text.remove_prefix(end);
    }
  }
  if (!line.empty()) lines.push_back(line);
  return lines;
}

}  // namespace ringscope
