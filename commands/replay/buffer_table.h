#ifndef RINGSCOPE_COMMANDS_REPLAY_BUFFER_TABLE_H_
#define RINGSCOPE_COMMANDS_REPLAY_BUFFER_TABLE_H_

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "commands/view/report.h"
#include "core/session/replay_outcome.h"

namespace ringscope {

/// A fact about each buffer of a replay, stated once: as text a row with a column for each buffer,
/// in the document a member of each buffer's object.
struct BufferRow {
  enum Shown { kAlways, kIfAny, kNever };  // as text
  using Value = std::function<uint64_t(const BufferOutcome&)>;

  std::string group;
  std::string title;
  std::string key;  // like "written.chunks"; empty: for people alone
  std::function<Cell(const BufferOutcome&)> cell;
  Shown shown = kAlways;
};

BufferRow CountRow(std::string group, std::string title, std::string key, BufferRow::Value value,
                   BufferRow::Shown shown = BufferRow::kAlways);
BufferRow BytesRow(std::string group, std::string title, std::string key, BufferRow::Value value,
                   BufferRow::Shown shown = BufferRow::kAlways);
/// A count, as text with its share of `whole`.
BufferRow ShareRow(std::string group, std::string title, std::string key, BufferRow::Value part,
                   BufferRow::Value whole);
BufferRow::Value Stat(uint64_t BufferStats::*field);

/// Rows that identify a buffer: id, index, engine, size, policy.
std::vector<BufferRow> IdentityRows();
/// Rows of the losses that a buffer's packets report, with one for each loss bit.
/// @param key of the sum, and `bits` before those of the loss bits: "data_loss."
void AddLossRows(std::vector<BufferRow>& rows, const std::string& key, const std::string& bits,
                 const std::string& unusable);

/// Adds the array "buffers"; as text a few buffers at a time so that lines stay short.
void ReportBuffers(Report& report, const ReplayOutcome& outcome,
                   const std::vector<BufferRow>& rows);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_REPLAY_BUFFER_TABLE_H_
