#ifndef RINGSCOPE_COMMANDS_GAPS_GAPS_DATA_H_
#define RINGSCOPE_COMMANDS_GAPS_GAPS_DATA_H_

#include <cstdint>
#include <optional>
#include <string>

#include "commands/gaps/gaps_words.h"
#include "commands/view/report.h"
#include "core/gaps/gap_report.h"
#include "core/ledger/ledger.h"
#include "core/session/session_notes.h"

namespace ringscope {

/// One session's losses for programs: in a document, or if `lines` as lines of one object each with
/// its "type".
void WriteGaps(Report& out, const ShownGaps& selection, bool lines);

/// When a replay read, as an object on a line.
std::string ReadsJsonl(const ReplayOutcome& outcome);

/// The titles of CSV, of gaps or of packets.
std::string CsvTitles(bool of_packets);
/// Gaps as rows of CSV.
std::string GapCsvRows(const ShownGaps& selection);

/// A lost packet for programs: an object on a line, or a row of CSV.
/// @param clone whose holder's view this is; absent: the session's own
/// @param kind its name, see PacketKinds; may be empty
std::string PacketLine(const PacketAccount& account, uint64_t session,
                       std::optional<uint64_t> clone, const std::string& kind, bool as_csv);

/// The first columns of LostPacketText, to which what follows is indented.
inline constexpr size_t kLostPacketMargin = 27;
/// "1:4#7.0            320 B  track_event written 1.2 s, lost 1.5 s: evicted, for 2:1"
/// @param kind its name, see PacketKinds; may be empty
std::string LostPacketText(const PacketAccount& account, const std::string& kind,
                           const SessionNotes& notes);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_GAPS_GAPS_DATA_H_
