#ifndef RINGSCOPE_FORMATS_DRAW_SVG_STYLE_H_
#define RINGSCOPE_FORMATS_DRAW_SVG_STYLE_H_

#include <string>
#include <string_view>

namespace ringscope {

/// Returns the style sheet of all pictures, light and dark. Tones are classes: "good", "lost", ...
/// @param more further rules, with tones like `var(--good)`, which it replaces by colours
std::string SvgStyle(std::string_view more = {});

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_DRAW_SVG_STYLE_H_
