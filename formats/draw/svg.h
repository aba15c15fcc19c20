#ifndef RINGSCOPE_FORMATS_DRAW_SVG_H_
#define RINGSCOPE_FORMATS_DRAW_SVG_H_

#include <vector>

#include "formats/io/output_file.h"

namespace ringscope {

/// Returns the width of a text in pixels, in DejaVu Sans, the widest font of the style sheet.
/// @param classes space-separated, as SvgWriter::Text has them
double SvgTextWidth(std::string_view text, std::string_view classes);

/// Breaks a text into lines of a width in pixels, at spaces but not at U+00A0, or within long
/// words.
std::vector<std::string> SvgTextLines(std::string_view text, double width,
                                      std::string_view classes);

/// Returns `text` fit for XML: markup escaped, invalid characters and bytes replaced.
std::string XmlEscaped(std::string_view text);

/// A position or size in pixels. Written with at most one decimal.
std::string SvgNumber(double value);

struct SvgBox {
  double x = 0;
  double y = 0;
  double width = 0;
  double height = 0;
};

/// The words by which a picture is known as one of ringscope, in any format.
inline constexpr std::string_view kDrawnMark = "drawn by ringscope";
bool HasDrawnMark(Bytes start);
inline constexpr OutputKind kPictureOutput = {"a picture", true, HasDrawnMark};

/// Draws an SVG document, with SvgStyle() inside.
class SvgWriter {
 public:
  /// @param classes space-separated, of the style sheet
  void Box(const SvgBox& box, std::string_view classes);
  void Line(double x1, double y1, double x2, double y2, std::string_view classes);
  /// Text that begins at x, its base line at y.
  void Text(double x, double y, std::string_view text, std::string_view classes);

  /// Returns the whole document.
  std::string Finish(double width, double height, std::string_view title);

 private:
  std::string body_;
};

/// Returns the style sheet of all pictures. Tones are classes: "good", "lost", ... Colours are in
/// the rules themselves: not all viewers support CSS variables.
std::string SvgStyle();

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_DRAW_SVG_H_
