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

/// A column of a table as text: its title and cells, how wide it is, and how narrow it could be.
struct TextColumn {
  TextColumn(const Column& column, const std::vector<std::vector<Cell>>& rows, size_t index)
      : align(column.align), texts{&column.title} {
    broken_title = LongestLine(column.title, 0);
    size_t longest_word = broken_title;
    for (const std::vector<Cell>& row : rows) {
      texts.push_back(&row[index].text);
      cells = std::max(cells, DisplayWidth(row[index].text));
      longest_word = std::max(longest_word, LongestLine(row[index].text, 0));
    }
    width = std::max(DisplayWidth(column.title), cells);
    broken_title = std::max(broken_title, cells);
    least = align == Align::kRight ? broken_title : longest_word;
  }

  Align align;
  std::vector<const std::string*> texts;  // the title, and the cell of each row
  size_t width = 0;
  size_t cells = 0;         // the width with all cells in one line
  size_t broken_title = 0;  // with all cells in one line, and a word of the title in each
  size_t least = 0;
};

/// Narrows the columns until the table fits, as far as they can be: first those whose title is
/// wider than their cells, then the widest. A column whose title is broken is no wider than the
/// title's lines and its cells.
void Narrow(std::vector<TextColumn>& columns, size_t limit) {
  size_t sum = 0;
  for (const TextColumn& column : columns) sum += column.width + kColumnGap;
  const auto spare = [](const TextColumn& column) {
    return std::pair(column.width - std::min(column.width, column.broken_title),
                     column.width > column.least ? column.width : 0);
  };
  for (; sum > limit + kColumnGap; --sum) {
    TextColumn& widest = *std::ranges::max_element(columns, {}, spare);
    if (spare(widest) == std::pair<size_t, size_t>()) break;
    --widest.width;
  }
  for (TextColumn& column : columns)
    if (column.width >= column.cells)
      column.width = std::max(column.cells, LongestLine(*column.texts[0], column.width));
}

/// The lines of the titles, row 0, or of a row of cells, in some of the columns. A title with fewer
/// lines than others is below, a cell above.
std::vector<std::string> RowLines(const std::vector<const TextColumn*>& columns, size_t row,
                                  size_t indent) {
  std::vector<std::vector<std::string>> cells;
  size_t height = 1;
  for (const TextColumn* column : columns) {
    cells.push_back(LinesOf(*column->texts[row], column->width));
    height = std::max(height, cells.back().size());
  }
  std::vector<std::string> lines;
  for (size_t y = 0; y < height; ++y) {
    std::string& line = lines.emplace_back(indent, ' ');
    for (size_t x = 0; x < columns.size(); ++x) {
      const size_t above = row == 0 ? height - cells[x].size() : 0;
      const bool is_here = y >= above && y - above < cells[x].size();
      const std::string& text = is_here ? cells[x][y - above] : std::string();
      const size_t padding = columns[x]->width - std::min(columns[x]->width, DisplayWidth(text));
      const bool is_right = columns[x]->align == Align::kRight;
      line.append(is_right ? padding : 0, ' ').append(text);
      line.append((is_right ? 0 : padding) + kColumnGap, ' ');
    }
    line.erase(line.find_last_not_of(' ') + 1);
  }
  return lines;
}

}  // namespace

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
  const size_t limit = width - std::min(width, indent);
  std::vector<TextColumn> columns;
  for (size_t i = 0; i < columns_.size(); ++i)
    if (columns_[i].is_shown) columns.emplace_back(columns_[i], rows_, i);
  Narrow(columns, limit);
  const auto titled = std::ranges::find_if(
      columns, [](const TextColumn& column) { return !column.texts[0]->empty(); });
  // The columns that name the rows end with the first that has a title.
  const auto keys = static_cast<size_t>(titled - columns.begin()) + 1;

  std::string text;
  for (size_t next = 0; next < columns.size();) {
    std::vector<const TextColumn*> shown;
    size_t sum = 0;
    const auto show = [&](const TextColumn& column) {
      sum += column.width + (shown.empty() ? 0 : kColumnGap);
      shown.push_back(&column);
    };
    for (size_t i = 0; next > 0 && i < keys && i < columns.size(); ++i) show(columns[i]);
    do {
      show(columns[next++]);
    } while (next < columns.size() && sum + kColumnGap + columns[next].width <= limit);
    if (!text.empty()) text += '\n';
    if (titled != columns.end())
      for (const std::string& line : RowLines(shown, 0, indent))
        text += (console == nullptr ? line : console->Bold(line)) + "\n";
    for (size_t row = 1; row <= rows_.size(); ++row)
      for (const std::string& line : RowLines(shown, row, indent)) text += line + "\n";
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
