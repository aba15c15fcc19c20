#ifndef RINGSCOPE_FORMATS_DRAW_SVG_TEXT_H_
#define RINGSCOPE_FORMATS_DRAW_SVG_TEXT_H_

#include <string>
#include <string_view>
#include <vector>

namespace ringscope {

/// The rules of the style sheet for texts: fonts and sizes, by class.
std::string SvgTextRules();

/// How wide a text is, pixels: in DejaVu Sans, which is the widest of the fonts that the style
/// sheet names but for Verdana, its equal. In others it takes less.
/// @param classes space-separated, as SvgWriter::Text has them
double SvgTextWidth(std::string_view text, std::string_view classes);

/// A text in lines that are no wider, pixels; none for an empty text. Broken at spaces, but for
/// U+00A0; a word that is wider than a line is divided.
std::vector<std::string> SvgTextLines(std::string_view text, double width,
                                      std::string_view classes);

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_DRAW_SVG_TEXT_H_
