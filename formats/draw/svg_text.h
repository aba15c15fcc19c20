#ifndef RINGSCOPE_FORMATS_DRAW_SVG_TEXT_H_
#define RINGSCOPE_FORMATS_DRAW_SVG_TEXT_H_

#include <string>
#include <string_view>
#include <vector>

namespace ringscope {

/// The rules of the style sheet for texts: fonts and sizes, by class.
std::string SvgTextRules();

/// Returns the width of a text in pixels, in DejaVu Sans, the widest font of the style sheet.
/// @param classes space-separated, as SvgWriter::Text has them
double SvgTextWidth(std::string_view text, std::string_view classes);

/// Breaks a text into lines of a width in pixels, at spaces but not at U+00A0, or within long
/// words.
std::vector<std::string> SvgTextLines(std::string_view text, double width,
                                      std::string_view classes);

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_DRAW_SVG_TEXT_H_
