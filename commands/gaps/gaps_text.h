#ifndef RINGSCOPE_COMMANDS_GAPS_GAPS_TEXT_H_
#define RINGSCOPE_COMMANDS_GAPS_GAPS_TEXT_H_

#include "commands/gaps/shown_gaps.h"
#include "commands/shell/console.h"

namespace ringscope {

/// The loss report for people.
/// @param stale_ns the limit for stale packets
void PrintGaps(Console& console, const ShownGaps& selection, bool summary, uint64_t stale_ns);

/// A lost packet, on one line.
std::string LostPacketLine(const PacketAccount& account, const SessionNotes& notes);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_GAPS_GAPS_TEXT_H_
