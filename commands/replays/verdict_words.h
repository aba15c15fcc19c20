#ifndef RINGSCOPE_COMMANDS_REPLAYS_VERDICT_WORDS_H_
#define RINGSCOPE_COMMANDS_REPLAYS_VERDICT_WORDS_H_

#include <string>
#include <vector>

#include "commands/shell/console.h"
#include "commands/view/json_fields.h"
#include "commands/view/report.h"
#include "core/log/op.h"

namespace ringscope {

// In what a recording is not exact, in words.

using Verdicts = std::vector<RecordingVerdict>;

/// "This recording is exact.", "This recording is exact but for the order of requests."
/// @param is_empty nothing was committed
std::string VerdictSentence(const Verdicts& verdicts, bool is_empty);
/// Why a recording may differ from what the service did, each reason once; empty: it is not marked
/// as inexact.
/// @param with_gaps of the recorder, too, which some commands report for themselves
std::string InexactText(const Verdicts& verdicts, bool with_gaps = false);
/// Each of them, with its details: "- session 1: the instant of 2 clones is an estimate: ...".
std::string VerdictLines(const Verdicts& verdicts, size_t indent);
/// Warns that a log's recording is not exact, if so.
void WarnOfInexact(Console& console, const std::string& path, const Verdicts& verdicts);
/// Adds "inexact" to the document, if there is anything to report.
void AddInexact(Report& report, const Verdicts& verdicts);
/// {"reason": "order", "times": 1, "session": null, "detail": ...}
void ListFields(JsonFieldWriter& io, const RecordingVerdict& verdict);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_REPLAYS_VERDICT_WORDS_H_
