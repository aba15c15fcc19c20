#ifndef RINGSCOPE_COMMANDS_SESSION_LOSS_VIEW_H_
#define RINGSCOPE_COMMANDS_SESSION_LOSS_VIEW_H_

#include <string>

#include "commands/shell/console.h"
#include "commands/view/json_fields.h"
#include "commands/view/report.h"
#include "core/examine/loss_words.h"
#include "core/log/op.h"
#include "core/perfetto/commit_request.h"

namespace ringscope {

/// Warns that a log's recording is not exact, if so.
void WarnOfInexact(Console& console, const std::string& path, const Verdicts& verdicts);
/// Adds "inexact" to the document, if there is anything to report.
void AddInexact(Report& report, const Verdicts& verdicts);
/// {"reason": "order", "times": 1, "session": null, "detail": ...}
void ListFields(JsonFieldWriter& io, const RecordingVerdict& verdict);

/// "10 fragments, 4,080 bytes, continues on next, needs patching"
std::string DescribeChunk(const ChunkToMove& chunk);
/// "2 patches at 12, 30, more patches follow"
std::string DescribePatches(const ChunkToPatch& patch);
/// The fields of any record but a commit: "producer 1, uid 10, name 'app'".
std::string DescribeRecord(const OpBody& body);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_SESSION_LOSS_VIEW_H_
