#include "commands/view/table.h"

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

bool Table::HasKey(size_t column, unsigned in) const {
  return !columns_[column].key.empty() && (columns_[column].in & in) != 0;
}

std::string Table::Text(size_t indent, const Console* console) const {
  std::vector<TextColumn> columns;
  for (size_t i = 0; i < columns_.size(); ++i) {
    if ((columns_[i].in & kInText) == 0) continue;
    TextColumn& column = columns.emplace_back(TextColumn{columns_[i].title, columns_[i].align, {}});
    for (const std::vector<Cell>& row : rows_) column.cells.push_back(&row[i].text);
  }
  std::string text;
  for (const TextBlock& block : LayOutTable(columns, indent, kTextColumns)) {
    if (!text.empty()) text += '\n';
    for (const std::string& line : block.titles)
      text += (console == nullptr ? line : console->Bold(line)) + "\n";
    for (const std::string& line : block.rows) text += line + "\n";
  }
  return text;
}

void Table::Print(Console& console, size_t indent) const { console.Print(Text(indent, &console)); }

Json Table::ToJson() const {
  Json array = Json::array();
  for (const std::vector<Cell>& row : rows_) {
    Json object = Json::object();
    for (size_t i = 0; i < row.size(); ++i)
      if (HasKey(i, kInJson)) object[KeyPath(columns_[i].key)] = row[i].value;
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
  if (!value.is_string()) return JsonText(value);
  std::string text = value.get<std::string>();
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

}  // namespace ringscope
