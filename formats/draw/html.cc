#include "formats/draw/html.h"

#include <cassert>

#include "core/base/text.h"
#include "formats/draw/svg.h"

namespace ringscope {

std::string HtmlEscaped(std::string_view text) {
  std::string lines;
  // Printable would escape line breaks, which HTML takes as spaces or, in <pre>, as they are.
  while (true) {
    const size_t end = text.find('\n');
    lines += XmlEscaped(Printable(text.substr(0, end)));
    if (end == std::string_view::npos) return lines;
    lines += '\n';
    text.remove_prefix(end + 1);
  }
}

std::string HtmlShortened(std::string_view text, size_t characters) {
  size_t at = 0;
  for (size_t taken = 0; at < text.size(); ++taken) {
    if (taken == characters) return std::string(text.substr(0, at)) + "…";
    const size_t length = Utf8Length(text.substr(at));
    at += length == 0 ? 1 : length;
  }
  return std::string(text);
}

void HtmlWriter::Open(std::string_view tag, const HtmlAttributes& attributes) {
  Void(tag, attributes);
  open_.emplace_back(tag);
}

void HtmlWriter::Close() {
  assert(!open_.empty());
  html_.append("</").append(open_.back()).append(">");
  // Lines that people can read, where spaces do not matter.
  if (open_.back() != "span" && open_.back() != "a" && open_.back() != "code" &&
      open_.back() != "mark")
    html_ += '\n';
  open_.pop_back();
}

void HtmlWriter::Text(std::string_view text) { html_ += HtmlEscaped(text); }

void HtmlWriter::Element(std::string_view tag, std::string_view text,
                         const HtmlAttributes& attributes) {
  Open(tag, attributes);
  Text(text);
  Close();
}

void HtmlWriter::Void(std::string_view tag, const HtmlAttributes& attributes) {
  html_.append("<").append(tag);
  for (const auto& [name, value] : attributes) {
    html_.append(" ").append(name);
    if (!value.empty()) html_.append("=\"").append(HtmlEscaped(value)).append("\"");
  }
  html_ += '>';
}

void HtmlWriter::Html(std::string_view html) { html_ += html; }

std::string HtmlWriter::Take() {
  assert(open_.empty());
  return std::move(html_);
}

}  // namespace ringscope
