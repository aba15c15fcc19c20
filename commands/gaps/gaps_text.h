#ifndef RINGSCOPE_COMMANDS_GAPS_GAPS_TEXT_H_
#define RINGSCOPE_COMMANDS_GAPS_GAPS_TEXT_H_

#include <string>

#include "commands/gaps/shown_gaps.h"
#include "commands/report/report.h"

namespace ringscope {

/// One session's losses for people.
/// @param limit of the entries of each list; 0: all
/// @param stale_ns the limit for stale packets
void PrintGaps(Report& out, const ShownGaps& selection, bool summary, uint64_t limit,
               uint64_t stale_ns);

/// Columns of the place and the size in front of a lost packet's line.
inline constexpr size_t kLostPacketMargin = 27;
/// A lost packet, on one line. @param kind its name, see PacketKinds; may be empty
std::string LostPacketLine(const PacketAccount& account, const std::string& kind,
                           const SessionNotes& notes);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_GAPS_GAPS_TEXT_H_
