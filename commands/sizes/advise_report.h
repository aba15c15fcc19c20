#ifndef RINGSCOPE_COMMANDS_SIZES_ADVISE_REPORT_H_
#define RINGSCOPE_COMMANDS_SIZES_ADVISE_REPORT_H_

#include <string>
#include <vector>

#include "commands/shell/context.h"
#include "commands/view/report.h"
#include "core/log/session_story.h"
#include "core/remedies/advice.h"

namespace ringscope {

inline constexpr size_t kBodyIndent = 2;  // of what is below a heading

/// Passes over the log: reading, a replay, sizes that are tried, periods that are tried.
inline constexpr size_t kAdviseSteps = 4;

/// All that is advised for one session.
struct AdviceReport {
  std::string name;               // of the log
  uint64_t session = 0;           // number in the log, from 1
  std::optional<uint64_t> clone;  // whose holder's view this is; absent: the session's own
  uint64_t cleared = 0;  // packets that were cleared for a clone: beside what sizes can change
  AdviceFacts facts;
  ReadsUsed reads;                         // of the replay that the facts come from
  std::vector<RecordingVerdict> verdicts;  // in what the recording is not exact
  AdviceFindings findings;
  std::vector<Advice> advice;
  std::string config;                       // its text, as the user wrote it
  std::vector<SourceFinding> idle_sources;  // data sources and producers that contributed nothing
};

/// What 'ringscope advise' finds without further options, of one session of a log or of a trace
/// whose buffers lost nothing.
Result<AdviceReport> AdviseSession(Context& context, const std::string& path, uint64_t session,
                                   std::optional<uint64_t> clone);

/// The advice in one or two plain sentences.
std::string AdviceText(const Advice& advice, const AdviceReport& report);
/// Heading of a topic.
const char* AdviceHeading(AdviceTopic topic);
/// What is wanted: "all 3.710 s, in at most 1 MiB for all buffers".
std::string WishText(const AdviceReport& report);

/// "a, b and 4 more"
std::string SomeOf(const std::vector<std::string>& names);
/// The trace config that follows the advice, as text proto: all of the one given, with the changes
/// marked, or else the part of it that the advice is about.
std::string ConfigText(const AdviceReport& report);

/// A config below its heading, as text.
void PrintConfig(Report& out, const std::string& config);
/// Writes the advice on one session.
void ReportAdvice(Report& out, const AdviceReport& report);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_SIZES_ADVISE_REPORT_H_
