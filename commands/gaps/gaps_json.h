#ifndef RINGSCOPE_COMMANDS_GAPS_GAPS_JSON_H_
#define RINGSCOPE_COMMANDS_GAPS_GAPS_JSON_H_

#include <string>

#include "commands/gaps/shown_gaps.h"
#include "commands/report/json.h"
#include "commands/shell/console.h"

namespace ringscope {

/// One session's report as an object.
Json GapsJson(const ShownGaps& selection, bool summary);

/// The same as lines of one object each, whose "type" says what it is.
void PrintGapsJsonl(Console& console, const ShownGaps& selection, bool summary);
/// A lost packet as such a line.
std::string LostPacketJsonl(const PacketAccount& account, uint64_t session);

/// Gaps as rows.
extern const char* const kGapsCsvTitles;
void PrintGapsCsv(Console& console, const ShownGaps& selection);
/// Lost packets as rows.
extern const char* const kLostPacketsCsvTitles;
std::string LostPacketCsv(const PacketAccount& account, uint64_t session);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_GAPS_GAPS_JSON_H_
