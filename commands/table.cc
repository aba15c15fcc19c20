#include "commands/table.h"

#include <algorithm>

namespace ringscope {

size_t DisplayWidth(std::string_view text) {
  return static_cast<size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<uint8_t>(c) & 0xC0) != 0x80; }));
}

void Table::AddRow(std::vector<std::string> cells) {
  cells.resize(columns_.size());
  rows_.push_back(std::move(cells));
}

std::string Table::Line(const std::vector<std::string>& cells, const std::vector<size_t>& widths,
                        size_t indent) const {
  std::string line(indent, ' ');
  for (size_t i = 0; i < cells.size(); ++i) {
    if (i > 0) line += "  ";
    const size_t padding = widths[i] - DisplayWidth(cells[i]);
    if (columns_[i].align == Align::kRight) line.append(padding, ' ');
    line += cells[i];
    if (columns_[i].align == Align::kLeft) line.append(padding, ' ');
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

void Table::Print(Console& console, size_t indent) const {
  std::vector<std::string> titles;
  std::vector<size_t> widths;
  bool has_titles = false;
  for (const Column& column : columns_) {
    titles.push_back(column.title);
    widths.push_back(DisplayWidth(column.title));
    has_titles = has_titles || !column.title.empty();
  }
  for (const std::vector<std::string>& row : rows_)
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], DisplayWidth(row[i]));
  if (has_titles) console.Print(console.Bold(Line(titles, widths, indent)) + "\n");
  for (const std::vector<std::string>& row : rows_) console.Print(Line(row, widths, indent) + "\n");
}

}  // namespace ringscope
