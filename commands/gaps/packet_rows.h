#ifndef RINGSCOPE_COMMANDS_GAPS_PACKET_ROWS_H_
#define RINGSCOPE_COMMANDS_GAPS_PACKET_ROWS_H_

#include <cstdint>
#include <optional>
#include <string>

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

  static std::string CsvTitles();
  /// @param kind its name, see PacketKinds; may be empty
  /// @return the line, valid until the next call
  const std::string& Row(const PacketAccount& account, const std::string& kind);

 private:
  const bool csv_;
  const uint64_t session_;
  const std::optional<uint64_t> clone_;
  std::string line_;
};

/// The first columns of LostPacketText, to which what follows is indented.
inline constexpr size_t kLostPacketMargin = 27;
/// "1:4#7.0            320 B  track_event written 1.2 s, lost 1.5 s: evicted, for 2:1"
/// @param kind its name, see PacketKinds; may be empty
std::string LostPacketText(const PacketAccount& account, const std::string& kind,
                           const SessionNotes& notes);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_GAPS_PACKET_ROWS_H_
