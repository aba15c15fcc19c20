#include "formats/draw/svg.h"

#include <fmt/format.h>

#include <array>

#include "core/base/text.h"
#include "core/base/wire.h"

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

/// Widths of the characters from the space on, in thousandths of the font's size.
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
  return fmt::format(" {} ", classes).find(fmt::format(" {} ", name)) != std::string::npos;
}

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD
using Escape = std::pair<char, std::string_view>;
constexpr Escape kEscapes[] = {{'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}};

constexpr std::string_view kRules = R"(
.page { fill: #ffffff; }
text.soft { fill: #5b6168; }
text.right { text-anchor: end; }
.gap { fill: none; stroke: #cc3340; stroke-dasharray: 5 4; }
.good { fill: #3f8f5b; }
.folded { fill: #7d5fb2; }
.unread { fill: #2f7ed8; }
.waiting { fill: #c79a00; }
.partly { fill: #e0781e; }
.lost { fill: #cc3340; }
.unknown { fill: #8a9099; }
.hollow { fill: #f6f7f9; stroke: #2f7ed8; stroke-width: 2; }
.struck { stroke: #ffffff; stroke-width: 2; }
.half-struck { stroke: #ffffff; stroke-width: 2; stroke-dasharray: 3 3; }
.barred { stroke: #ffffff; stroke-width: 2; }
line, path { stroke: #b6bcc4; stroke-width: 1; fill: none; }
.link-read { stroke: #3f8f5b; stroke-width: 3; }
.link-not_read { stroke: #5b6168; stroke-width: 3; }
.link-torn { stroke: #cc3340; stroke-width: 3; stroke-dasharray: 4 3; }
@media (prefers-color-scheme: dark) {
  text { fill: #e8eaed; }
  text.soft { fill: #a3abb5; }
  .page { fill: #16181c; }
  .hollow { fill: #22262c; stroke: #5aa2f0; }
  .struck, .half-struck, .barred { stroke: #16181c; }
  line, path { stroke: #4d545e; }
  .link-read { stroke: #5dbb7e; }
  .link-not_read { stroke: #a3abb5; }
  .gap, .link-torn { stroke: #f2616c; }
}
)";

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

std::string XmlEscaped(std::string_view text) {
  const bool is_utf8 = IsUtf8(text);
  std::string escaped;
  escaped.reserve(text.size());
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool is_invalid = byte >= 0x80 ? !is_utf8 : byte < 0x20 && c != '\n' && c != '\t';
    const auto* const escape = std::ranges::find(kEscapes, c, &Escape::first);
    if (is_invalid)
      escaped += kReplacement;
    else if (escape != std::end(kEscapes))
      escaped += escape->second;
    else
      escaped += c;
  }
  return escaped;
}

std::string SvgNumber(double value) {
  return fmt::format("{}", std::round(value * 10) / 10 + 0.0);  // no -0
}

bool HasDrawnMark(Bytes start) { return wire::AsText(start).find(kDrawnMark) != std::string::npos; }

void SvgWriter::Box(const SvgBox& box, std::string_view classes) {
  body_ += fmt::format(R"(<rect x="{}" y="{}" width="{}" height="{}" class="{}"/>)"
                       "\n",
                       SvgNumber(box.x), SvgNumber(box.y), SvgNumber(box.width),
                       SvgNumber(box.height), XmlEscaped(classes));
}

void SvgWriter::Line(double x1, double y1, double x2, double y2, std::string_view classes) {
  body_ +=
      fmt::format(R"(<line x1="{}" y1="{}" x2="{}" y2="{}" class="{}"/>)"
                  "\n",
                  SvgNumber(x1), SvgNumber(y1), SvgNumber(x2), SvgNumber(y2), XmlEscaped(classes));
}

void SvgWriter::Text(double x, double y, std::string_view text, std::string_view classes) {
  body_ += fmt::format(R"(<text x="{}" y="{}" class="{}">{}</text>)"
                       "\n",
                       SvgNumber(x), SvgNumber(y), XmlEscaped(classes), XmlEscaped(text));
}

std::string SvgWriter::Finish(double width, double height, std::string_view title) {
  return fmt::format(
      R"(<?xml version="1.0" encoding="UTF-8"?>)"
      "\n"
      R"(<svg xmlns="http://www.w3.org/2000/svg" width="{0}" height="{1}" viewBox="0 0 {0} {1}" role="img">)"
      "\n<title>{2}</title>\n<metadata>{5}</metadata>\n<style>\n{3}</style>\n"
      R"(<rect width="{0}" height="{1}" class="page"/>)"
      "\n{4}</svg>\n",
      SvgNumber(width), SvgNumber(height), XmlEscaped(title), SvgStyle(), body_, kDrawnMark);
}

std::string SvgStyle() {
  std::string rules = fmt::format(
      "text {{ font-family: \"DejaVu Sans\", Verdana, Helvetica, Arial, sans-serif; "
      "font-size: {}px;\n  fill: #1c1e21; white-space: pre; }}\n",
      kTextSize);
  for (const TextClass& text : kTextClasses)
    rules += fmt::format("text.{} {{ font-size: {}px;{} }}\n", text.name, text.size,
                         text.bold ? " font-weight: bold;" : "");
  return rules.append(kRules);
}

}  // namespace ringscope
