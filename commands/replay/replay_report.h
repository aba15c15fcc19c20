#ifndef RINGSCOPE_COMMANDS_REPLAY_REPLAY_REPORT_H_
#define RINGSCOPE_COMMANDS_REPLAY_REPLAY_REPORT_H_

#include <functional>
#include <map>

#include "commands/replays/replay_run.h"
#include "commands/view/report.h"

namespace ringscope {

/// What was written, read and lost, buffer by buffer.
/// @param accounts of the same replay: written = read + lost + left + elsewhere
void ReportReplay(Report& report, const ReplayOutcome& outcome,
                  const std::map<BufferId, LedgerTotals>& accounts);

/// Facts about the buffers of a replay, stated once: as text a row with a column for each buffer,
/// in the document an object for each buffer.
class BufferTable {
 public:
  explicit BufferTable(const ReplayOutcome& outcome) : outcome_(outcome) {}

  using Show = std::function<Cell(const BufferOutcome&)>;
  using Value = std::function<uint64_t(const BufferOutcome&)>;
  enum class Shown { kAlways, kIfAny, kNever };  // as text

  /// @param group, title of the row; @param key in the object, like "written.chunks"
  void Add(std::string group, std::string title, std::string key, Show show,
           Shown shown = Shown::kAlways);
  void AddCount(std::string group, std::string title, std::string key, Value value,
                Shown shown = Shown::kAlways);
  void AddBytes(std::string group, std::string title, std::string key, Value value,
                Shown shown = Shown::kAlways);
  /// A number, with its part of `whole` after it.
  void AddPart(std::string group, std::string title, std::string key, Value part, Value whole);
  /// Which buffer this is: engine, size, policy.
  void AddIdentity();

  /// The array "buffers"; as text a few buffers at a time so that lines stay short.
  void AddTo(Report& report) const;

 private:
  struct Row {
    std::string group;
    std::string title;
    std::string key;
    Show show;
    Shown shown;
  };

  bool IsShown(const Row& row) const;

  const ReplayOutcome& outcome_;
  std::vector<Row> rows_;
};

/// The losses that a buffer's packets carry.
inline uint64_t FlaggedPackets(const BufferOutcome& buffer) {
  return buffer.losses.sequence_packet_loss;
}
inline uint64_t SequencesDropped(const BufferOutcome& buffer) {
  return buffer.losses.incremental_sequences_dropped;
}
/// A row for each loss bit. @param prefix of the keys: "data_loss."
void AddLossBits(BufferTable& table, const std::string& prefix);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_REPLAY_REPLAY_REPORT_H_
