#ifndef RINGSCOPE_COMMANDS_REPORT_PAGE_PARTS_H_
#define RINGSCOPE_COMMANDS_REPORT_PAGE_PARTS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "commands/report/page_results.h"
#include "formats/draw/html.h"

namespace ringscope {

/// Bytes that a part of the page may take, so that the page as a whole has a limit.
class PageBudget {
 public:
  explicit PageBudget(size_t bytes) : left_(bytes) {}

  /// Whether there is space for something of that size; takes it.
  bool Take(size_t bytes) {
    if (bytes > left_) return false;
    left_ -= bytes;
    return true;
  }
  size_t left() const { return left_; }

 private:
  size_t left_;
};

struct PageColumn {
  std::string title;
  bool is_number = false;
};

struct PageCell {
  PageCell(std::string its_text) : text(std::move(its_text)) {}  // NOLINT: a text is a cell
  PageCell(const char* its_text) : text(its_text) {}             // NOLINT: likewise
  PageCell(std::string its_text, uint64_t its_value)
      : text(std::move(its_text)), value(its_value) {}

  std::string text;
  std::optional<uint64_t> value;  // to sort by
};
/// "1,234", sorted as a number.
PageCell CountCellOf(uint64_t count);
/// "1.5 MiB", likewise.
PageCell SizeCellOf(uint64_t bytes);

/// The parts of which all sections of a page are made.
class PageWriter : public HtmlWriter {
 public:
  /// @param results what the page is of
  explicit PageWriter(const PageResults& results) : results_(results) {}

  /// A section with a heading and an entry in the contents.
  void BeginSection(const char* id, const std::string& title);
  void EndSection() { Close(); }
  /// A section of what a replay shows: of a trace that lacks what its buffers lost, it says so.
  void BeginReplaySection(const char* id, const std::string& title);
  void Heading(const std::string& title) { Element("h3", title); }
  void Paragraph(std::string_view text) { Element("p", text); }
  /// What is not in the page, what was assumed, or the like.
  void Note(std::string_view text) { Element("p", text, {{"class", "note"}}); }
  /// "12 smaller gaps are left out: ringscope gaps --limit 0 FILE"; nothing if it is none.
  void LeftOut(uint64_t count, const char* noun, const std::string& command);
  /// The command that gives the same figures.
  /// @param words up to the file: "gaps --limit 0"
  void Reproduce(const std::string& words);
  /// The command line: the words, the file and, of several sessions, which one.
  std::string CommandLine(const std::string& words) const;

  /// A table; its rows follow. The first cell of a row is its heading.
  /// @param sortable whether the columns' headings sort it, where there is JavaScript
  void BeginTable(const std::string& caption, const std::vector<PageColumn>& columns,
                  bool sortable = false);
  void Row(const std::vector<PageCell>& cells);
  void EndTable();
  /// A row, for tables whose rows are in groups.
  void Cells(const std::vector<PageCell>& cells, const std::vector<PageColumn>& columns);

  /// What can be wider than the page, with a name for those who do not see it.
  void BeginScroll(const std::string& name);
  void EndScroll() { Close(); }
  /// A picture as the commands draw it.
  /// @return false: it is larger than the budget has space for, and left out
  bool Picture(const std::string& svg, const std::string& name, PageBudget& budget);

  /// A trace config as text. Lines that a change made, with the comment before them, are marked in
  /// a way that is not copied with them.
  /// @param limit bytes that it may take, about
  void Config(const std::string& config, const std::string& name, size_t limit);

  struct Entry {
    std::string id, title;
  };
  const std::vector<Entry>& contents() const { return contents_; }

 private:
  const PageResults& results_;
  std::vector<Entry> contents_;
  std::vector<PageColumn> columns_;
};

/// A name or a sentence of any length, cut to what a cell has space for.
std::string CellText(const std::string& text);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_REPORT_PAGE_PARTS_H_
