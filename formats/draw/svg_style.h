#ifndef RINGSCOPE_FORMATS_DRAW_SVG_STYLE_H_
#define RINGSCOPE_FORMATS_DRAW_SVG_STYLE_H_

#include <string>
#include <string_view>

namespace ringscope {

/// The style sheet of all pictures: colours that can be distinguished, also by those who do not
/// see red and green, on light and dark backgrounds. Tones are classes: "good", "lost", ...
/// @param more further rules; a colour is the name of a tone, like `var(--good)`, of which only the
///     colour itself goes into the style sheet: many viewers of SVG know no variables
std::string SvgStyle(std::string_view more = {});

/// The same for pictures that are part of a web page, where the tones are variables that the page
/// can use, too. Light or dark as the reader's system is, unless the page's root element has the
/// attribute data-theme="light" or "dark"; light on paper.
std::string PageToneStyle(std::string_view more = {});

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_DRAW_SVG_STYLE_H_
