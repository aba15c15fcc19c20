#ifndef RINGSCOPE_COMMANDS_GAPS_GAPS_DATA_H_
#define RINGSCOPE_COMMANDS_GAPS_GAPS_DATA_H_

#include <string>

#include "commands/gaps/gaps_words.h"
#include "commands/view/report.h"

namespace ringscope {

/// One session's losses for programs: in a document, or if `lines` as lines of one object each with
/// its "type".
void WriteGaps(Report& out, const ShownGaps& selection, bool lines);

/// When a replay read, as an object on a line.
std::string ReadsJsonl(const ReadsUsed& used, uint64_t session, std::optional<uint64_t> clone);

/// Gaps as rows of CSV.
std::string GapCsvTitles();
std::string GapCsvRows(const ShownGaps& selection);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_GAPS_GAPS_DATA_H_
