#include "commands/report/table.h"

#include <algorithm>

#include "commands/shell/console.h"
#include "commands/shell/text.h"

namespace ringscope {
Cell CountCell(uint64_t count) { return {WithCommas(count), count}; }
Cell BytesCell(uint64_t bytes) { return {HumanSize(bytes), bytes}; }
Cell DurationCell(uint64_t ns) { return {HumanDuration(ns), ns}; }
Cell NumberCell(uint64_t number) { return {std::to_string(number), number}; }
Cell NameCell(std::string name) {
  std::string shown = Printable(name);
  return {std::move(shown), std::move(name)};
}
Cell DataCell(Json value) { return {"", std::move(value)}; }
std::vector<Cell> DataCells(std::initializer_list<Json> values) {
  std::vector<Cell> cells;
  for (const Json& value : values) cells.push_back(DataCell(value));
  return cells;
}

Column DataColumn(std::string key, unsigned in) { return {"", Align::kLeft, std::move(key), in}; }

void Table::AddRow(std::vector<Cell> cells) {
  cells.resize(columns_.size(), "");
  rows_.push_back(std::move(cells));
}

std::string Table::Line(const std::vector<const std::string*>& cells,
                        const std::vector<size_t>& widths, size_t indent) const {
  std::string line(indent, ' ');
  for (size_t i = 0; i < cells.size(); ++i) {
    if ((columns_[i].in & kInText) == 0) continue;
    const size_t padding = widths[i] - DisplayWidth(*cells[i]);
    if (columns_[i].align == Align::kRight) line.append(padding, ' ');
    line += *cells[i];
    if (columns_[i].align == Align::kLeft) line.append(padding, ' ');
    line += "  ";
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

bool Table::HasKey(size_t column, unsigned in) const {
  return !columns_[column].key.empty() && (columns_[column].in & in) != 0;
}

bool Table::HasTitles() const {
  return std::any_of(columns_.begin(), columns_.end(),
                     [](const Column& column) { return !column.title.empty(); });
}

/// All lines; the titles first, if there are any.
std::vector<std::string> Table::Lines(size_t indent) const {
  std::vector<std::vector<const std::string*>> texts;
  if (HasTitles()) {
    for (const Column& column : columns_)
      (&column == columns_.data() ? texts.emplace_back() : texts.back()).push_back(&column.title);
  }
  for (const std::vector<Cell>& row : rows_) {
    std::vector<const std::string*>& line = texts.emplace_back();
    for (const Cell& cell : row) line.push_back(&cell.text);
  }
  std::vector<size_t> widths(columns_.size());
  for (const auto& line : texts)
    for (size_t i = 0; i < line.size(); ++i)
      widths[i] = std::max(widths[i], DisplayWidth(*line[i]));
  std::vector<std::string> lines;
  for (const auto& line : texts) lines.push_back(Line(line, widths, indent));
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

Json Table::ToJson() const {
  Json array = Json::array();
  for (const std::vector<Cell>& row : rows_) {
    Json object = Json::object();
    for (size_t i = 0; i < row.size(); ++i) {
      const bool leave_out = (columns_[i].in & kUnlessNull) != 0 && row[i].value.is_null();
      if (HasKey(i, kInJson) && !leave_out) object.Set(columns_[i].key, row[i].value);
    }
    array.push_back(std::move(object));
  }
  return array;
}

std::string Table::CsvTitles() const {
  std::string line;
  for (size_t i = 0; i < columns_.size(); ++i)
    if (HasKey(i, kInCsv)) line += (line.empty() ? "" : ",") + columns_[i].key;
  std::replace(line.begin(), line.end(), '.', '_');
  return line + "\n";
}

std::string Table::CsvRows() const {
  std::string text;
  for (const std::vector<Cell>& row : rows_) {
    bool first = true;
    for (size_t i = 0; i < row.size(); ++i) {
      if (!HasKey(i, kInCsv)) continue;
      if (!std::exchange(first, false)) text += ',';
      text += CsvText(row[i].value);
    }
    text += '\n';
  }
  return text;
}

std::string CsvText(const Json& value) {
  if (value.is_null()) return "";
  if (!value.is_string()) return value.dump();
  std::string text = value.get<std::string>();
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

}  // namespace ringscope
