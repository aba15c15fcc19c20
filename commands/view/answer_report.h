#ifndef RINGSCOPE_COMMANDS_VIEW_ANSWER_REPORT_H_
#define RINGSCOPE_COMMANDS_VIEW_ANSWER_REPORT_H_

#include <string>

#include "commands/view/json_fields.h"
#include "commands/view/report.h"
#include "core/doctor/finding.h"

namespace ringscope {

inline void ListFields(JsonFieldWriter& io, const AnswerLine& line) {
  io("label", line.label, "text", line.text);
}

inline void ListFields(JsonFieldWriter& io, const Answer& answer) {
  io("severity", answer.severity, "headline", answer.headline, "change", answer.change, "lines",
     answer.lines);
}

/// "data loss": as people read it.
std::string HarmText(Harm harm);
/// The style that shows how bad it is.
TextStyle StyleOf(Harm harm);

/// Lines below a headline that fit on a screen.
inline constexpr size_t kAnswerLines = 9;

/// As text: "NAME: data loss: HEADLINE" with the change, and the most important lines below it.
/// @param name of the trace or session; empty: the headline alone
void PrintAnswer(Report& report, const std::string& name, const Answer& answer);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_VIEW_ANSWER_REPORT_H_
