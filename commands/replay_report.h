#ifndef RINGSCOPE_COMMANDS_REPLAY_REPORT_H_
#define RINGSCOPE_COMMANDS_REPLAY_REPORT_H_

#include <functional>

#include "commands/json_output.h"
#include "commands/replay_run.h"

namespace ringscope {

/// "x.tblog: session 1: 4,732 records over 1.130 s, 2 read passes"
std::string ReplayHeading(const ReplayOutcome& outcome);
/// The same, with the name of the log in bold.
void PrintReplayHeading(Console& console, const ReplayOutcome& outcome);

/// What was written, read and lost, for people: a column for each buffer.
void PrintReplaySummary(Console& console, const ReplayOutcome& outcome);

/// The same as an object.
Json ReplaySummaryJson(const ReplayOutcome& outcome);

/// Rows of a table that has two columns of titles and then one for each buffer.
class BufferTable {
 public:
  explicit BufferTable(const ReplayOutcome& outcome) : outcome_(outcome) {}

  using Cell = std::function<std::string(const BufferOutcome&)>;
  using Value = std::function<uint64_t(const BufferOutcome&)>;

  void AddRow(std::string group, std::string title, Cell cell);
  /// A number with separators.
  void AddNumber(std::string group, std::string title, const Value& value);
  /// A number, with its part of `whole` behind it.
  void AddPart(std::string group, std::string title, const Value& part, const Value& whole);
  void AddSize(std::string group, std::string title, const Value& value);
  /// Whether any buffer has a value other than 0.
  bool Any(const Value& value) const;

  /// Writes the table, a few buffers at a time so that lines stay short.
  void Print(Console& console) const;

 private:
  struct Row {
    std::string group;
    std::string title;
    Cell cell;
  };

  const ReplayOutcome& outcome_;
  std::vector<Row> rows_;
};

/// Rows that say which buffer this is: engine, size, policy.
void AddIdentityRows(BufferTable& table);
/// Rows of the losses that packets carry, those that there are.
void AddLossRows(BufferTable& table);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_REPLAY_REPORT_H_
