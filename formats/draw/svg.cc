#include "formats/draw/svg.h"

#include <fmt/format.h>

#include <cmath>

#include "core/base/text.h"
#include "core/base/wire.h"

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

}  // namespace ringscope
