#ifndef RINGSCOPE_COMMANDS_VIEW_TABLE_LAYOUT_H_
#define RINGSCOPE_COMMANDS_VIEW_TABLE_LAYOUT_H_

#include <cstddef>
#include <string>
#include <vector>

namespace ringscope {

enum class Align { kLeft, kRight };

/// A column of a table as text. All columns have as many cells.
struct TextColumn {
  std::string title;
  Align align = Align::kLeft;
  std::vector<const std::string*> cells;
};

/// A table as lines of text, the titles and the rows apart.
struct TextBlock {
  std::vector<std::string> titles;  // none, if no column has one
  std::vector<std::string> rows;
};

/// Columns side by side, two spaces apart, after `indent` spaces, in at most `width` columns of a
/// terminal. What is wider has titles of several lines; then the cells of the widest left-aligned
/// columns take several lines; then the columns that are too many follow in further blocks, each
/// with what names the rows again: the columns up to the first one with a title. Only a single word
/// that is too long goes beyond the width. Words end at spaces, and between '/' or '+' and a name;
/// numbers, which are right-aligned, are never broken.
std::vector<TextBlock> LayOutTable(const std::vector<TextColumn>& columns, size_t indent,
                                   size_t width);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_VIEW_TABLE_LAYOUT_H_
