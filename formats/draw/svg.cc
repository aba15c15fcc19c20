#include "formats/draw/svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/text.h"
#include "core/base/wire.h"
#include "formats/draw/svg_text.h"

namespace ringscope {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

void AppendEscaped(std::string& out, char c) {
  switch (c) {
    case '&':
      out += "&amp;";
      return;
    case '<':
      out += "&lt;";
      return;
    case '>':
      out += "&gt;";
      return;
    case '"':
      out += "&quot;";
      return;
    default:
      break;
  }
  const auto byte = static_cast<unsigned char>(c);
  if (byte < 0x20 && c != '\n' && c != '\t')
    out += kReplacement;
  else
    out += c;
}

struct ToneColours {
  std::string_view name;
  std::string_view light;
  std::string_view dark;
};

constexpr ToneColours kToneColours[] = {
    {"page", "#ffffff", "#16181c"},    {"ink", "#1c1e21", "#e8eaed"},
    {"soft", "#5b6168", "#a3abb5"},    {"line", "#b6bcc4", "#4d545e"},
    {"card", "#f6f7f9", "#22262c"},    {"good", "#3f8f5b", "#5dbb7e"},
    {"unread", "#2f7ed8", "#5aa2f0"},  {"waiting", "#c79a00", "#e3bb3a"},
    {"partly", "#e0781e", "#f0964a"},  {"lost", "#cc3340", "#f2616c"},
    {"unknown", "#8a9099", "#8a9099"},
};

constexpr std::string_view kRules = R"(
.page { fill: var(--page); }
text.soft { fill: var(--soft); }
text.right { text-anchor: end; }
.gap { fill: none; stroke: var(--lost); stroke-dasharray: 5 4; }
.good { fill: var(--good); }
.unread { fill: var(--unread); }
.waiting { fill: var(--waiting); }
.partly { fill: var(--partly); }
.lost { fill: var(--lost); }
.unknown { fill: var(--unknown); }
.hollow { fill: var(--card); stroke: var(--unread); stroke-width: 2; }
.struck { stroke: var(--page); stroke-width: 2; }
.half-struck { stroke: var(--page); stroke-width: 2; stroke-dasharray: 3 3; }
.barred { stroke: var(--page); stroke-width: 2; }
line, path { stroke: var(--line); stroke-width: 1; fill: none; }
.link-read { stroke: var(--good); stroke-width: 3; }
.link-continues { stroke: var(--soft); stroke-width: 3; }
.link-torn { stroke: var(--lost); stroke-width: 3; stroke-dasharray: 4 3; }
)";

constexpr std::string_view kVariable = "var(--";

/// The rules with the tones' colours.
std::string WithColours(std::string_view rules, std::string_view ToneColours::*ground) {
  std::string text;
  while (true) {
    const size_t begin = rules.find(kVariable);
    text += rules.substr(0, begin);
    if (begin == std::string_view::npos) return text;
    rules.remove_prefix(begin + kVariable.size());
    const std::string_view name = rules.substr(0, rules.find(')'));
    for (const ToneColours& tone : kToneColours)
      if (tone.name == name) text += tone.*ground;
    rules.remove_prefix(name.size() + 1);
  }
}

/// Of rules like ".card { fill: var(--card); stroke-width: 1; }" only what names a tone.
std::string ColoursOf(std::string_view rules) {
  std::string text;
  while (true) {
    const size_t open = rules.find('{');
    if (open == std::string_view::npos) return text;
    const std::string_view selector = rules.substr(0, open);
    std::string_view body = rules.substr(open + 1, rules.find('}') - open - 1);
    rules.remove_prefix(open + body.size() + 2);
    std::string colours;
    while (!body.empty()) {
      const std::string_view declaration = body.substr(0, body.find(';'));
      if (declaration.find(kVariable) != std::string_view::npos)
        colours.append(declaration).append(";");
      body.remove_prefix(std::min(body.size(), declaration.size() + 1));
    }
    if (!colours.empty()) text.append(selector).append("{").append(colours).append(" }");
  }
}

}  // namespace

std::string XmlEscaped(std::string_view text) {
  const bool is_utf8 = IsUtf8(text);
  std::string escaped;
  escaped.reserve(text.size());
  for (const char c : text) {
    if (!is_utf8 && static_cast<unsigned char>(c) >= 0x80)
      escaped += kReplacement;
    else
      AppendEscaped(escaped, c);
  }
  return escaped;
}

std::string SvgNumber(double value) {
  const double rounded = std::round(value * 10) / 10;
  if (rounded == std::trunc(rounded)) return fmt::format("{:.0f}", rounded + 0.0);
  return fmt::format("{:.1f}", rounded);
}

bool HasDrawnMark(Bytes start) { return wire::AsText(start).find(kDrawnMark) != std::string::npos; }

void SvgWriter::Box(const SvgBox& box, std::string_view classes, double radius) {
  body_ += fmt::format(R"(<rect x="{}" y="{}" width="{}" height="{}" class="{}")", SvgNumber(box.x),
                       SvgNumber(box.y), SvgNumber(box.width), SvgNumber(box.height),
                       XmlEscaped(classes));
  if (radius > 0) body_ += fmt::format(R"( rx="{}")", SvgNumber(radius));
  body_ += "/>\n";
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

std::string SvgWriter::Finish(double width, double height, std::string_view title,
                              std::string_view style) {
  const std::string w = SvgNumber(width), h = SvgNumber(height);
  return fmt::format(
      R"(<?xml version="1.0" encoding="UTF-8"?>)"
      "\n"
      R"(<svg xmlns="http://www.w3.org/2000/svg" width="{0}" height="{1}" viewBox="0 0 {0} {1}" role="img">)"
      "\n<title>{2}</title>\n<metadata>{5}</metadata>\n<style>\n{3}</style>\n"
      R"(<rect width="{0}" height="{1}" class="page"/>)"
      "\n{4}</svg>\n",
      w, h, XmlEscaped(title), style, body_, kDrawnMark);
}

std::string SvgStyle(std::string_view more) {
  const std::string rules = SvgTextRules().append(kRules).append(more);
  return WithColours(rules, &ToneColours::light) + "@media (prefers-color-scheme: dark) {" +
         WithColours(ColoursOf(rules), &ToneColours::dark) + "\n}\n";
}

}  // namespace ringscope
