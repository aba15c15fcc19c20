#ifndef RINGSCOPE_COMMANDS_GAPS_PACKET_ROWS_H_
#define RINGSCOPE_COMMANDS_GAPS_PACKET_ROWS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/gaps/gap_report.h"
#include "core/ledger/ledger.h"
#include "core/session/session_notes.h"

namespace ringscope {

/// Lost packets of a session for programs, one after the other: a log may have millions.
class LostPacketRows {
 public:
  /// @param csv rows of CSV; else objects on lines
  /// @param clone whose holder's view this is; absent: the session's own
  LostPacketRows(bool csv, uint64_t session, std::optional<uint64_t> clone)
      : csv_(csv), session_(session), clone_(clone) {}

  static const char* CsvTitles();
  /// @param kind its name, see PacketKinds; may be empty
  /// @return the line, valid until the next call
  const std::string& Row(const PacketAccount& account, const std::string& kind);

 private:
  enum Where { kBoth, kJsonOnly, kCsvOnly };

  void Begin(std::string_view key);
  void Number(std::string_view key, std::optional<uint64_t> value, Where where = kBoth);
  /// @param text of characters that need no quotes in CSV, and no escapes in JSON
  void Plain(std::string_view key, std::string_view text);
  void Name(std::string_view key, const std::string& text);

  const bool csv_;
  const uint64_t session_;
  const std::optional<uint64_t> clone_;
  std::string line_;
  uint32_t content_ = 0;  // whose name is the next one
  std::string content_name_;
  std::string name_;  // the one written last
  std::string escaped_;
};

/// The first columns of such a line, to which what follows is indented.
inline constexpr size_t kLostPacketMargin = 27;

/// Lost packets of a session for people. Consecutive packets have much in common, which is put into
/// words once.
class LostPacketLines {
 public:
  explicit LostPacketLines(const SessionNotes& notes) : notes_(notes) {}

  /// "1:4#7.0            320 B  track_event written 1.2 s, lost 1.5 s: evicted, for 2:1"
  /// @param kind its name, see PacketKinds; may be empty
  /// @return the line without a line break, valid until the next call
  const std::string& Line(const PacketAccount& account, const std::string& kind);

 private:
  using Time = std::pair<std::optional<uint64_t>, std::optional<uint64_t>>;  // record, ns

  void Pad(size_t start, size_t width);

  const SessionNotes& notes_;
  std::string line_;
  std::optional<uint32_t> content_;
  std::string content_name_;
  std::optional<Time> written_;
  std::string written_text_;
  std::optional<std::optional<uint64_t>> lost_ns_;
  std::string lost_text_;
  std::optional<CauseCount> cause_;
  std::string cause_text_;
};

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_GAPS_PACKET_ROWS_H_
