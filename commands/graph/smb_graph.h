#ifndef RINGSCOPE_COMMANDS_GRAPH_SMB_GRAPH_H_
#define RINGSCOPE_COMMANDS_GRAPH_SMB_GRAPH_H_

#include <optional>
#include <string>

#include "commands/replays/session_reader.h"
#include "commands/shell/exit_code.h"
#include "commands/view/report.h"
#include "core/graph/moment_watch.h"

namespace ringscope {

/// Draws the pages and chunks of a producer's shared memory, as a session's log has them.
/// @param at the moment; absent: when most of its chunks were in use
/// @param format "text", "svg" or "json"
/// kUsage: the log has no such producer.
Result<ExitCode> DrawMemory(ProducerId producer, const std::optional<LayoutMoment>& at,
                            const std::string& format, SessionReader& sessions, Report& report);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_GRAPH_SMB_GRAPH_H_
