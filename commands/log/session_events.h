#ifndef RINGSCOPE_COMMANDS_LOG_SESSION_EVENTS_H_
#define RINGSCOPE_COMMANDS_LOG_SESSION_EVENTS_H_

#include <string>
#include <vector>

#include "commands/view/report.h"
#include "core/log/session_story.h"
#include "core/log/summary.h"

namespace ringscope {

/// An event of a session, as people read it.
struct EventLine {
  std::string seconds;  // since the session's first record, "1.250"; "-": not known; may be empty
  std::string text;
};

/// Describes a session's events in order. Of many events alike the first ones have a line each, and
/// one line counts the others. Empty if there is nothing but buffers.
std::vector<EventLine> DescribeEvents(const SessionSummary& session, const SessionStory& story);

/// Reports what happened in a session: lines for people; for programs all `events`, `configs`,
/// `data_sources` and `flushes`; for both, data sources without data and how fast producers
/// acknowledge flushes.
void ReportEvents(Report& report, const SessionSummary& session);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_LOG_SESSION_EVENTS_H_
