#ifndef RINGSCOPE_COMMANDS_GAPS_GAPS_DATA_H_
#define RINGSCOPE_COMMANDS_GAPS_GAPS_DATA_H_

#include <string>
#include <vector>

#include "commands/gaps/shown_gaps.h"
#include "commands/many_logs/gaps_logs.h"
#include "commands/report/report.h"
#include "core/log/session_story.h"

namespace ringscope {

/// The totals of one session.
GapsSession TotalsOf(const ShownGaps& selection);

/// One session's losses for programs: in a document, or if `lines` as lines of one object each,
/// whose "type" is what it describes.
/// @param idle data sources and producers without data
void WriteGaps(Report& out, const ShownGaps& selection, const std::vector<SourceFinding>& idle,
               bool summary, bool lines);

/// When a replay read, as an object on a line.
std::string ReadsJsonl(const ReadsUsed& used, uint64_t session, std::optional<uint64_t> clone);

/// Gaps as rows.
Table GapTable();
void AddGaps(const ShownGaps& selection, Table& table);

/// Lost packets as rows.
Table LostPacketTable();
/// @param clone whose holder's view this is; absent: the session's own
/// @param kind its name, see PacketKinds; may be empty
void AddLostPacket(const PacketAccount& account, const std::string& kind, uint64_t session,
                   std::optional<uint64_t> clone, Table& table);
/// The only row as an object on a line.
std::string LostPacketJsonl(const Table& row, uint64_t session, std::optional<uint64_t> clone);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_GAPS_GAPS_DATA_H_
