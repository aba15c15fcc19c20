#ifndef RINGSCOPE_COMMANDS_VIEW_TABLE_H_
#define RINGSCOPE_COMMANDS_VIEW_TABLE_H_

#include <cstddef>
#include <string>
#include <vector>

#include "commands/view/json_fields.h"

namespace ringscope {

enum class Align { kLeft, kRight };

class Console;

/// A value and how people read it. Plain text is only for people: it has no value.
struct Cell {
  Cell(std::string shown) : text(std::move(shown)) {}
  Cell(const char* shown) : text(shown) {}
  Cell(std::string shown, Json data) : text(std::move(shown)), value(std::move(data)) {}

  std::string text;
  Json value;
};

Cell CountCell(uint64_t count);    // "1,234"
Cell BytesCell(uint64_t bytes);    // "64 KiB"
Cell DurationCell(uint64_t ns);    // "1.130 s"
Cell NumberCell(uint64_t number);  // "1234": an id, an offset, a place
/// Text of unknown origin, made fit for a terminal.
Cell NameCell(std::string name);
/// A value that people do not see, or read elsewhere.
Cell DataCell(Json value);

struct Column {
  std::string title;
  Align align = Align::kLeft;
  std::string key = {};  // "packets"; "written.packets" is in an object; empty: only in text
  bool is_shown = true;  // in text
};
inline Column Left(std::string title, std::string key = {}) {
  return {std::move(title), Align::kLeft, std::move(key)};
}
inline Column Right(std::string title, std::string key = {}) {
  return {std::move(title), Align::kRight, std::move(key)};
}
/// A column that people do not see.
Column DataColumn(std::string key);

/// Rows of typed cells, stated once: as text in aligned columns, as wide as the console, with
/// titles in bold where there are colours; as JSON an array of objects.
class Table {
 public:
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  /// @param cells at most as many as there are columns; missing ones are empty
  void AddRow(std::vector<Cell> cells);
  bool empty() const { return rows_.empty(); }

  /// Writes the table with `indent` spaces in front of each line. Without titles, no title line.
  void Print(Console& console, size_t indent = 0) const;
  /// The table as text, after `indent` spaces, in lines of at most `width` columns. Where it is
  /// wider, titles take several lines; then the cells of the widest left-aligned columns do; then
  /// the columns that are too many follow in further blocks, after the columns up to the first one
  /// with a title. Words end at spaces, and between '/' or '+' and a name.
  /// @param console its titles are in bold as there; nullptr if no colours
  std::string Text(size_t indent = 0, size_t width = kTextColumns,
                   const Console* console = nullptr) const;
  /// The table in GitHub's Markdown.
  std::string Markdown() const;
  /// The rows as objects of the columns that have a key.
  Json ToJson() const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<Cell>> rows_;
};

/// Text in which Markdown finds no markup.
std::string MarkdownText(std::string_view text);

/// A value as a field of a CSV row: quoted where it must be; null is empty.
std::string CsvText(const Json& value);
/// The titles of CSV, and an object as a row of it.
/// @param columns "TITLE=PATH ...", where a path is like "written.packets"; that alone has the
///   title "written_packets". What an object lacks is empty.
std::string CsvTitles(std::string_view columns);
std::string CsvRow(std::string_view columns, const Json& object);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_VIEW_TABLE_H_
