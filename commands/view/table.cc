#include "commands/view/table.h"

#include <algorithm>
#include <sstream>

#include "commands/shell/console.h"

namespace ringscope {
namespace {

constexpr size_t kColumnGap = 2;  // spaces between columns

/// The lines of a text, of at most `width` columns but for longer words; at least one.
std::vector<std::string> LinesOf(std::string_view text, size_t width) {
  std::vector<std::string> lines;
  std::istringstream wrapped(Wrap(text, size_t{0}, width));
  for (std::string line; std::getline(wrapped, line);) lines.push_back(line);
  if (lines.empty()) lines.emplace_back();
  return lines;
}

/// Columns of the longest line of a text that is wrapped at `width`; at 0, of its longest word.
size_t LongestLine(std::string_view text, size_t width) {
  size_t longest = 0;
  for (const std::string& line : LinesOf(text, width))
    longest = std::max(longest, DisplayWidth(line));
  return longest;
}

/// How wide a column is, and how narrow it could be.
struct ColumnWidth {
  explicit ColumnWidth(const TextColumn& column) {
    size_t longest_word = LongestLine(column.title, 0);
    broken_title = longest_word;
    for (const std::string* cell : column.cells) {
      cells = std::max(cells, DisplayWidth(*cell));
      longest_word = std::max(longest_word, LongestLine(*cell, 0));
    }
    now = std::max(DisplayWidth(column.title), cells);
    broken_title = std::max(broken_title, cells);
    least = column.align == Align::kRight ? broken_title : longest_word;
  }

  size_t cells = 0;  // with all cells in one line
  size_t now = 0;
  size_t broken_title = 0;  // with all cells in one line, and a word of the title in each
  size_t least = 0;
};

/// Narrows the columns until the table fits, as far as they can be: first those whose title is
/// wider than their cells, then the widest. A column whose title is broken is no wider than the
/// title's lines and its cells.
void Narrow(std::vector<ColumnWidth>& widths, const std::vector<TextColumn>& columns,
            size_t limit) {
  size_t sum = kColumnGap * (widths.size() - 1);
  for (const ColumnWidth& width : widths) sum += width.now;
  const auto spare = [](const ColumnWidth& width) {
    return std::pair(width.now - std::min(width.now, width.broken_title),
                     width.now > width.least ? width.now : 0);
  };
  for (; sum > limit; --sum) {
    ColumnWidth& widest = *std::ranges::max_element(widths, {}, spare);
    if (spare(widest) == std::pair<size_t, size_t>()) break;
    --widest.now;
  }
  for (size_t i = 0; i < widths.size(); ++i)
    if (widths[i].now >= widths[i].cells)
      widths[i].now = std::max(widths[i].cells, LongestLine(columns[i].title, widths[i].now));
}

/// The lines of some columns of a row, or of the titles.
/// @param texts of the columns; @param at_bottom a text with fewer lines than others is below
void AddRow(const std::vector<const std::string*>& texts, const std::vector<size_t>& shown,
            const std::vector<TextColumn>& columns, const std::vector<ColumnWidth>& widths,
            size_t indent, bool at_bottom, std::vector<std::string>& out) {
  std::vector<std::vector<std::string>> cells;
  size_t height = 1;
  for (const size_t i : shown) {
    cells.push_back(LinesOf(*texts[i], widths[i].now));
    height = std::max(height, cells.back().size());
  }
  for (size_t y = 0; y < height; ++y) {
    std::string line(indent, ' ');
    for (size_t x = 0; x < shown.size(); ++x) {
      const size_t above = at_bottom ? height - cells[x].size() : 0;
      const bool is_here = y >= above && y - above < cells[x].size();
      const std::string& text = is_here ? cells[x][y - above] : std::string();
      const size_t width = widths[shown[x]].now;
      const size_t padding = width - std::min(width, DisplayWidth(text));
      const bool is_right = columns[shown[x]].align == Align::kRight;
      line.append(is_right ? padding : 0, ' ').append(text);
      line.append((is_right ? 0 : padding) + kColumnGap, ' ');
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out.push_back(std::move(line));
  }
}

}  // namespace

std::vector<TextBlock> LayOutTable(const std::vector<TextColumn>& columns, size_t indent,
                                   size_t width) {
  if (columns.empty()) return {};
  const size_t limit = width - std::min(width, indent);
  std::vector<ColumnWidth> widths(columns.begin(), columns.end());
  Narrow(widths, columns, limit);

  std::vector<const std::string*> titles;
  bool has_titles = false;
  for (const TextColumn& column : columns) {
    titles.push_back(&column.title);
    has_titles = has_titles || !column.title.empty();
  }

  // What names the rows: up to the first column with a title.
  size_t keys = 0;
  while (keys + 1 < columns.size() && columns[keys].title.empty()) ++keys;
  ++keys;

  std::vector<TextBlock> blocks;
  for (size_t next = 0; next < columns.size();) {
    std::vector<size_t> shown;
    size_t sum = 0;
    for (size_t i = 0; next > 0 && i < keys; ++i) {
      shown.push_back(i);
      sum += widths[i].now + (i > 0 ? kColumnGap : 0);
    }
    const size_t first = next;
    for (; next < columns.size(); ++next) {
      const size_t more = widths[next].now + (shown.empty() ? 0 : kColumnGap);
      if (next > first && sum + more > limit) break;
      sum += more;
      shown.push_back(next);
    }
    TextBlock& block = blocks.emplace_back();
    if (has_titles) AddRow(titles, shown, columns, widths, indent, true, block.titles);
    std::vector<const std::string*> texts(columns.size());
    for (size_t row = 0; row < columns[0].cells.size(); ++row) {
      for (size_t i = 0; i < columns.size(); ++i) texts[i] = columns[i].cells[row];
      AddRow(texts, shown, columns, widths, indent, false, block.rows);
    }
  }
  return blocks;
}

Cell CountCell(uint64_t count) { return {WithCommas(count), count}; }
Cell BytesCell(uint64_t bytes) { return {HumanSize(bytes), bytes}; }
Cell DurationCell(uint64_t ns) { return {HumanDuration(ns), ns}; }
Cell NumberCell(uint64_t number) { return {std::to_string(number), number}; }
Cell NameCell(std::string name) {
  std::string shown = Printable(name);
  return {std::move(shown), std::move(name)};
}
Cell DataCell(Json value) { return {"", std::move(value)}; }

Column DataColumn(std::string key) { return {"", Align::kLeft, std::move(key), false}; }

void Table::AddRow(std::vector<Cell> cells) {
  cells.resize(columns_.size(), "");
  rows_.push_back(std::move(cells));
}

std::string Table::Text(size_t indent, size_t width, const Console* console) const {
  std::vector<TextColumn> columns;
  for (size_t i = 0; i < columns_.size(); ++i) {
    if (!columns_[i].is_shown) continue;
    TextColumn& column = columns.emplace_back(TextColumn{columns_[i].title, columns_[i].align, {}});
    for (const std::vector<Cell>& row : rows_) column.cells.push_back(&row[i].text);
  }
  std::string text;
  for (const TextBlock& block : LayOutTable(columns, indent, width)) {
    if (!text.empty()) text += '\n';
    for (const std::string& line : block.titles)
      text += (console == nullptr ? line : console->Bold(line)) + "\n";
    for (const std::string& line : block.rows) text += line + "\n";
  }
  return text;
}

void Table::Print(Console& console, size_t indent) const {
  console.Print(Text(indent, console.width(), &console));
}

std::string Table::Markdown() const {
  std::string titles = "|", line = "|", text;
  for (const Column& column : columns_) {
    if (!column.is_shown) continue;
    titles += " " + MarkdownText(column.title) + " |";
    line += column.align == Align::kRight ? " ---: |" : " --- |";
  }
  for (const std::vector<Cell>& row : rows_) {
    text += "|";
    for (size_t i = 0; i < row.size(); ++i)
      if (columns_[i].is_shown) text += " " + MarkdownText(row[i].text) + " |";
    text += "\n";
  }
  return titles + "\n" + line + "\n" + text;
}

Json Table::ToJson() const {
  Json array = Json::array();
  for (const std::vector<Cell>& row : rows_) {
    Json object = Json::object();
    for (size_t i = 0; i < row.size(); ++i)
      if (!columns_[i].key.empty()) object[KeyPath(columns_[i].key)] = row[i].value;
    array.push_back(std::move(object));
  }
  return array;
}

std::string MarkdownText(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '<')
      out += "&lt;";
    else if (c == '*' || c == '|' || c == '`')
      out += std::string("\\") + c;
    else
      out += c;
  }
  return out;
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

std::string CsvTitles(std::string_view columns) {
  std::string line;
  std::istringstream words{std::string(columns)};
  for (std::string word; words >> word;) line += word.substr(0, word.find('=')) + ",";
  std::ranges::replace(line, '.', '_');
  line.back() = '\n';
  return line;
}

std::string CsvRow(std::string_view columns, const Json& object) {
  std::string row;
  std::istringstream words{std::string(columns)};
  for (std::string word; words >> word;) {
    const auto key = KeyPath(word.substr(word.find('=') + 1));  // all of it without a title
    row += (object.contains(key) ? CsvText(object[key]) : "") + ",";
  }
  row.back() = '\n';
  return row;
}

}  // namespace ringscope
