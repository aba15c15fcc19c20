#ifndef RINGSCOPE_COMMANDS_LOG_STORY_WORDS_H_
#define RINGSCOPE_COMMANDS_LOG_STORY_WORDS_H_

#include <optional>
#include <string>
#include <vector>

#include "commands/view/report.h"
#include "core/log/session_story.h"

namespace ringscope {

/// "data source 'a' of producer 3 'app' was started, and wrote nothing to buffer 1"
std::string FindingText(const SourceFinding& finding);
/// An object for each.
Json FindingsJson(const std::vector<SourceFinding>& findings);
/// Data sources and producers that contributed nothing: a section for people where there are any,
/// and the array `idle_sources` for programs.
void ReportFindings(Report& report, const std::vector<SourceFinding>& findings, size_t indent = 0);
/// "periodic", "before a stop, by the perfetto command"; empty: not known.
std::string FlushReasonText(uint64_t flags);
/// "12.3 ms", "1.250 s"
std::string LatencyText(uint64_t ns);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_LOG_STORY_WORDS_H_
