#ifndef RINGSCOPE_COMMANDS_VIEW_REPORT_H_
#define RINGSCOPE_COMMANDS_VIEW_REPORT_H_

#include <string>
#include <string_view>
#include <utility>

#include "commands/shell/command.h"
#include "commands/view/json_fields.h"
#include "commands/view/table.h"
#include "core/examine/examination.h"
#include "core/trace/stage_account.h"

namespace ringscope {

/// A command's result, stated once. The part for people is printed at once where the format is
/// kText or kMarkdown; the part for programs is gathered in a document where it is kJson. Of any
/// other format a command prints all itself.
class Report {
 public:
  /// The indent of a document in one line, for commands whose lines of JSONL are documents.
  static constexpr int kOneLine = -1;

  /// @param schema of the document: "info"
  /// @param indent of the document's members
  Report(Console& console, Format format, std::string_view schema, int indent = 2);
  /// Results go to `file`, not to the console. It must outlive the report.
  void WriteTo(ByteSink& file) { file_ = &file; }

  /// A format that people read.
  bool is_text() const { return format_ == Format::kText || is_markdown(); }
  bool is_json() const { return format_ == Format::kJson; }
  /// Text in a style, if it goes where there are colours; in Markdown in bold.
  std::string Styled(TextStyle style, std::string_view text) const;
  std::string Bold(std::string_view text) const { return Styled(TextStyle::kBold, text); }

  // For people.

  /// Text as it is; nothing in JSON.
  void Print(std::string_view text);
  /// Columns of text for people, see Console::width().
  size_t width() const { return is_markdown() ? kUnbroken : console_.width(); }
  /// A text of one paragraph after `mark`, in lines of width(), the others indented as far. In
  /// Markdown it is an item of a list if there is a mark.
  void Paragraph(std::string_view text, std::string_view mark = {});
  /// Lines of code as they are; in Markdown a block of code.
  void Code(std::string_view lines);
  /// `styled + rest` wrapped, `styled` in this style.
  /// @param rest begins with a space, or is empty
  void PrintWrapped(TextStyle style, const std::string& styled, const std::string& rest,
                    size_t indent = 0);
  /// "title: rest", the title in bold.
  void Title(std::string_view title, std::string_view rest);
  /// A line in bold after an empty line.
  void Heading(std::string_view title, size_t indent = 0);
  void Print(const Table& table, size_t indent = 0);
  /// A table after an empty line and a title in bold, unless the table is empty.
  /// @param title may be empty
  void Section(std::string_view title, const Table& table, size_t indent = 0);

  // For programs.

  void Data(std::string_view key, Json value);
  void Data(Json members);

  // For both.

  /// A fact among others: as text a line of two aligned columns, unless it is empty.
  /// @param key in the document; empty: it is only for people
  void Fact(const char* title, const Cell& cell, std::string_view key = {});
  /// Writes the facts so far, so that the next ones are aligned for themselves.
  void EndFacts();
  /// A table: as text a section without a title, in the document the array `key`.
  void Add(std::string_view key, const Table& table, size_t indent = 0);
  /// The data that `state` reports becomes an object of the array `key`. @return what it returns
  template <typename State>
  auto AddItem(std::string_view key, State state) {
    const Inside inside{*this, key, /*is_item=*/true};
    return state();
  }
  /// The data that `state` reports becomes the object `key`.
  template <typename State>
  auto AddObject(std::string_view key, State state) {
    const Inside inside{*this, key, /*is_item=*/false};
    return state();
  }

  /// Returns the document, for one that is part of something else. Call it last.
  Json Take() { return std::move(data_); }
  /// Ends the report, writes the document. Call it last. @return what went wrong with a file
  Status Finish();
  /// Ends the report of a command that ends with this code.
  Result<ExitCode> Finish(ExitCode code) {
    RS_RETURN_IF_ERROR(Finish());
    return code;
  }

 private:
  /// The data that is reported while it lives becomes an object of its own.
  struct Inside {
    ~Inside() {
      outer.swap(report.data_);
      Json& place = report.data_[key];
      is_item ? place.push_back(std::move(outer)) : place.swap(outer);
    }
    Report& report;
    std::string_view key;
    bool is_item;  // of an array
    Json outer = std::exchange(report.data_, Json::object());
  };
  bool is_markdown() const { return format_ == Format::kMarkdown; }
  void Write(std::string_view text);

  Console& console_;
  const Format format_;
  const int indent_;
  ByteSink* file_ = nullptr;
  Status status_;
  Json data_;
  Table facts_;
};

inline void ListFields(JsonFieldWriter& io, const AnswerLine& line) {
  io("label", line.label, "text", line.text);
}

inline void ListFields(JsonFieldWriter& io, const Answer& answer) {
  io("severity", answer.severity, "headline", answer.headline, "change", answer.change,
     "more_changes", answer.more_changes, "packets", answer.packets, "usable_packets",
     answer.usable, "lines", answer.lines, "figures", answer.figures);
}

void ListFields(JsonFieldWriter& io, const StageCount& stage);
void ListFields(JsonFieldWriter& io, const StageAccounts& accounts);
/// "1,203", "? + 3x": three times an unknown number.
std::string EndedText(const StageCount& at);
/// Prints where the packets of each sequence ended.
void PrintStages(Report& report, const StageAccounts& accounts);

/// "data loss": as people read it.
std::string HarmText(Harm harm);
/// The style that shows how bad it is.
TextStyle StyleOf(Harm harm);

/// Lines below a headline, and rows of a terminal with it, that an answer has at most.
inline constexpr size_t kAnswerLines = 9;
inline constexpr ptrdiff_t kAnswerRows = 15;

/// As text: "NAME: data loss: HEADLINE" with the change, and the most important lines below it.
/// @param name of the trace or session; empty: the headline alone
void PrintAnswer(Report& report, const std::string& name, const Answer& answer);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_VIEW_REPORT_H_
