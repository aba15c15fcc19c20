#ifndef RINGSCOPE_FORMATS_DRAW_HTML_H_
#define RINGSCOPE_FORMATS_DRAW_HTML_H_

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/draw/svg.h"

namespace ringscope {

/// An attribute of an element; the value is any text.
using HtmlAttribute = std::pair<std::string_view, std::string>;
using HtmlAttributes = std::vector<HtmlAttribute>;

/// `text` as HTML shows it: markup escaped, and what Printable escapes as it does.
std::string HtmlEscaped(std::string_view text);

/// Text of unknown length, cut to `characters` with an ellipsis.
std::string HtmlShortened(std::string_view text, size_t characters);

/// A page that has kDrawnMark near its beginning.
inline constexpr OutputKind kPageOutput = {"a page", false, HasDrawnMark};

/// Writes HTML in which elements are closed as they were opened, and texts cannot be markup.
class HtmlWriter {
 public:
  /// Begins an element; what follows, up to Close, is in it.
  void Open(std::string_view tag, const HtmlAttributes& attributes = {});
  /// Ends the element that was opened last.
  void Close();
  void Text(std::string_view text);
  /// An element that has only a text.
  void Element(std::string_view tag, std::string_view text, const HtmlAttributes& attributes = {});
  /// An element without content and end: <input>, <meta>.
  void Void(std::string_view tag, const HtmlAttributes& attributes);
  /// HTML that a writer made, or that is part of the tool.
  void Html(std::string_view html);

  size_t size() const { return html_.size(); }
  /// All of it; everything must be closed.
  std::string Take();

 private:
  std::string html_;
  std::vector<std::string> open_;
};

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_DRAW_HTML_H_
