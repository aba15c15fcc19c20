#ifndef RINGSCOPE_COMMANDS_GAPS_GAPS_DATA_H_
#define RINGSCOPE_COMMANDS_GAPS_GAPS_DATA_H_

#include <string>
#include <vector>

#include "commands/gaps/shown_gaps.h"
#include "commands/view/report.h"

namespace ringscope {

/// One session's losses for programs: in a document, or if `lines` as lines of one object each,
/// whose "type" is what it describes.
void WriteGaps(Report& out, const ShownGaps& selection, bool summary, bool lines);

/// When a replay read, as an object on a line.
std::string ReadsJsonl(const ReadsUsed& used, uint64_t session, std::optional<uint64_t> clone);

/// Gaps as rows.
Table GapTable();
void AddGaps(const ShownGaps& selection, Table& table);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_GAPS_GAPS_DATA_H_
