#ifndef RINGSCOPE_COMMANDS_TABLE_H_
#define RINGSCOPE_COMMANDS_TABLE_H_

#include <string>
#include <vector>

#include "commands/console.h"

namespace ringscope {

enum class Align { kLeft, kRight };

struct Column {
  std::string title;
  Align align = Align::kLeft;
};

/// Rows of text in aligned columns, two spaces apart, titles in bold where there are colours.
class Table {
 public:
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  /// @param cells at most as many as there are columns; missing ones are empty
  void AddRow(std::vector<std::string> cells);
  bool empty() const { return rows_.empty(); }

  /// Writes the table with `indent` spaces in front of each line. Without titles, no title line.
  void Print(Console& console, size_t indent = 0) const;
  /// The same as text, without colours.
  std::string Text(size_t indent = 0) const;

 private:
  bool HasTitles() const;
  std::vector<std::string> Lines(size_t indent) const;
  std::string Line(const std::vector<std::string>& cells, const std::vector<size_t>& widths,
                   size_t indent) const;

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

/// Columns that UTF-8 text takes on a terminal, for text of one column per character.
size_t DisplayWidth(std::string_view text);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_TABLE_H_
