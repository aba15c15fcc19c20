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

bool Table::HasTitles() const {
  return std::any_of(columns_.begin(), columns_.end(),
                     [](const Column& column) { return !column.title.empty(); });
}

/// All lines; the titles first, if there are any.
std::vector<std::string> Table::Lines(size_t indent) const {
  std::vector<std::string> titles;
  std::vector<size_t> widths;
  for (const Column& column : columns_) {
    titles.push_back(column.title);
    widths.push_back(DisplayWidth(column.title));
  }
  for (const std::vector<std::string>& row : rows_)
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], DisplayWidth(row[i]));
  std::vector<std::string> lines;
  if (HasTitles()) lines.push_back(Line(titles, widths, indent));
  for (const std::vector<std::string>& row : rows_) lines.push_back(Line(row, widths, indent));
  return lines;
}

void Table::Print(Console& console, size_t indent) const {
  bool is_title = HasTitles();
  for (const std::string& line : Lines(indent)) {
    console.Print((is_title ? console.Bold(line) : line) + "\n");
    is_title = false;
  }
}

std::string Table::Text(size_t indent) const {
  std::string text;
  for (const std::string& line : Lines(indent)) text += line + "\n";
  return text;
}

}  // namespace ringscope
