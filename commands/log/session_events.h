#ifndef RINGSCOPE_COMMANDS_LOG_SESSION_EVENTS_H_
#define RINGSCOPE_COMMANDS_LOG_SESSION_EVENTS_H_

#include <string>

#include "commands/view/report.h"
#include "core/log/summary.h"

namespace ringscope {

/// "periodic", "before the stop, by the perfetto command"; empty: not known.
std::string FlushReasonText(uint64_t flags);

/// The buffer as the config names it: "buffers[0]"; one that was not set up: "buffer 7".
std::string BufferNameIn(const SessionSummary& session, BufferId id);

/// Reports what happened in a session: lines for people, `events`, `configs` and `flushes` for
/// programs. Of many events alike the first ones have a line
/// each, and one line counts the others.
void ReportEvents(Report& report, const SessionSummary& session);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_LOG_SESSION_EVENTS_H_
