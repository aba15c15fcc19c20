#include "commands/session/session_loop.h"

#include <fmt/format.h>

#include <utility>

#include "commands/session/loss_view.h"

namespace ringscope {

Result<ExitCode> ForEachSession(SessionReader& sessions, const SessionTask& task) {
  ExitCode code = ExitCode::kClean;
  sessions.DivideRuns();
  RS_ASSIGN_OR_RETURN(bool more, sessions.NextSession());
  while (more) {
    RS_ASSIGN_OR_RETURN(const ExitCode ending, task());
    code = Worse(code, ending);
    RS_ASSIGN_OR_RETURN(more, sessions.NextSession());
  }
  return Worse(sessions.Finish(), code);
}

Result<ExitCode> ReportSessions(SessionReader& sessions, Report& report, const SessionTask& task) {
  report.Data("sessions", Json::array());
  bool first = true;
  if (report.is_text()) sessions.ReportsVerdicts();
  std::vector<std::string> inexact;
  const auto code = ForEachSession(sessions, [&]() -> Result<ExitCode> {
    if (!std::exchange(first, false) && report.is_text()) report.Print("\n");
    RS_ASSIGN_OR_RETURN(const ExitCode ending, report.AddItem("sessions", task));
    if (const std::string reasons = InexactText(sessions.Verdicts()); !reasons.empty())
      inexact.push_back(
          fmt::format("{}: session {}: {}", sessions.path(), sessions.session(), reasons));
    return ending;
  });
  const auto state = [&](const char* title, const char* key,
                         const std::vector<std::string>& sentences) {
    if (sentences.empty()) return;
    if (report.is_text()) report.Print("\n");
    for (const std::string& sentence : sentences)
      if (report.is_text()) report.Paragraph(fmt::format("{}: {}.", title, Printable(sentence)));
    report.Data(key, sentences);
  };
  state("Assumed", "assumed", sessions.assumptions());
  if (report.is_text()) state("Not exact", "", inexact);  // for programs: in each session
  state("Not complete", "not_complete", sessions.problems());
  return code;
}

void ReportTitle(Report& report, const SessionTitle& title) {
  report.PrintWrapped(
      TextStyle::kBold, Printable(title.path) + ":",
      fmt::format(
          " {}{}{}{}{}", title.session == 0 ? "" : fmt::format("session {}: ", title.session),
          title.clone ? fmt::format("clone {}: ", *title.clone) : "",
          Count(title.records, "record"),
          title.duration_ns > 0 ? " over " + HumanDuration(title.duration_ns) : "", title.more));
}

void ReportClones(Report& report, const ReplayOutcome& session) {
  if (session.clone) return;
  std::vector<std::string> numbers;
  for (const CloneFacts& clone : session.clones) {
    if (!clone.failed) numbers.push_back(std::to_string(clone.clone));
    if (clone.failed)
      report.Paragraph(fmt::format("\nClone {} was not made{}{}.", clone.clone,
                                   clone.error.empty() ? "" : ": ", Printable(clone.error)));
  }
  if (numbers.empty()) return;
  report.Data("clones", numbers);
  report.Paragraph(
      fmt::format("\nThis is what the session's own consumer has. The holder of {} {} may have "
                  "other packets: see --clone.",
                  numbers.size() == 1 ? "clone" : "clones", Joined(numbers)));
}

void ReportReplayTitle(Report& report, const ReplayOutcome& outcome) {
  ReportTitle(report, {.path = outcome.path,
                       .session = outcome.is_only_session ? 0 : outcome.session,
                       .records = outcome.records,
                       .duration_ns = outcome.duration_ns(),
                       .clone = outcome.clone,
                       .more = fmt::format(", {}, {}", Count(outcome.read_passes, "read"),
                                           ReadsText(outcome.reads))});
  if (outcome.clone) report.Data("clone", *outcome.clone);
  if (const std::string notes = ReadsNotes(outcome.reads); !notes.empty()) report.Paragraph(notes);
  if (report.is_text() && outcome.buffers.empty()) report.Print("The session has no buffer.\n");
}

}  // namespace ringscope
