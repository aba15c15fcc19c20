#ifndef RINGSCOPE_COMMANDS_LOG_STORY_REPORT_H_
#define RINGSCOPE_COMMANDS_LOG_STORY_REPORT_H_

#include "commands/view/report.h"
#include "core/log/summary.h"

namespace ringscope {

/// What happened in a session, in order: for people a line each, with what is routine summed up;
/// for programs all events (`events`), data sources, flushes and configs.
void ReportStory(Report& report, const SessionSummary& session);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_LOG_STORY_REPORT_H_
