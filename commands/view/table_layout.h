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

/// Lays columns out side by side, after `indent` spaces, in at most `width` columns of a terminal.
/// Where they are wider, titles take several lines; then the cells of the widest left-aligned
/// columns do; then the columns that are too many follow in further blocks, after the columns up to
/// the first one with a title. Words end at spaces, and between '/' or '+' and a name.
std::vector<TextBlock> LayOutTable(const std::vector<TextColumn>& columns, size_t indent,
                                   size_t width);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_VIEW_TABLE_LAYOUT_H_
