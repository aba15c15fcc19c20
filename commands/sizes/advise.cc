#include "commands/sizes/advise.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <sstream>
#include <string>

#include "commands/session/examined.h"
#include "commands/session/session_loop.h"
#include "commands/session/session_reader.h"
#include "commands/shell/commands.h"
#include "commands/shell/input.h"
#include "commands/shell/options.h"
#include "commands/shell/text.h"
#include "commands/shell/values.h"
#include "core/examine/remedy_words.h"

namespace ringscope {
namespace {

struct AdviseArgs {
  SessionSelection input;
  std::optional<uint64_t> keep_ns;  // absent: nothing is to be overwritten
  std::string config;               // to be changed, as text; empty: none
  Format format = Format::kText;

  bool is_about_replays() const { return false; }
};

void SetUp(CLI::App& app, AdviseArgs& args) {
  InGroup(app, "Goal");
  AddParsed(app, "--keep", args.keep_ns, ParsePositiveDuration, "TIME",
            "How far back each sequence should reach, like 30s (default: the whole log)");
  InGroup(app, kOutputGroup);
  AddConfig(app, args.config,
            "The session's trace config as text (.pbtxt): all of it is printed, with the changes "
            "marked. It also has the buffers of a log that was recorded without its consumer");
  AddFormat(app, args.format, {Format::kText, Format::kJson});
}

Table BufferTable(const Examination& examination) {
  Table table({{"buffer", Align::kLeft, "buffer"},
               {"policy", Align::kLeft, "policy"},
               {"size now", Align::kRight, "size_now"},
               {"then", Align::kRight, "size_then"},
               {"packets", Align::kRight, "packets"},
               {"lost now", Align::kRight, "lost_now"},
               {"then", Align::kRight, "lost_then"}});
  for (const BufferOutcome& buffer : examination.log->outcome.buffers) {
    const BufferGaps* const of = examination.log->gaps.Find(buffer.id);
    const LedgerTotals total = of == nullptr ? LedgerTotals() : of->totals;
    const Remedy* const remedy = FindSizeRemedy(examination.remedies.remedies, buffer.id);
    const uint64_t lost = total.lost().packets;
    table.AddRow({NameCell(fmt::format("buffers[{}]", buffer.index)), NameCell(Name(buffer.policy)),
                  BytesCell(buffer.size), BytesCell(remedy != nullptr ? remedy->size : buffer.size),
                  CountCell(total.written.packets), CountCell(lost),
                  CountCell(remedy != nullptr && remedy->outcome ? remedy->outcome->lost : lost)});
  }
  return table;
}

}  // namespace

ExitCode ReportAdvice(const Examination& examination, std::optional<uint64_t> keep_ns,
                      Report& out) {
  const ReplayOutcome& outcome = examination.log->outcome;
  const RemedyList& remedies = examination.remedies;
  ReportReplayTitle(out, outcome);
  out.Data({{"input", outcome.path},
            {"session", outcome.session},
            {"duration_ns", outcome.duration_ns()},
            {"keep_ns", keep_ns},
            {"to_do", !remedies.changes.empty()},
            {"lost_now", remedies.now.lost},
            {"now", FieldsToJson(remedies.now)},
            {"together", FieldsToJson(remedies.together)},
            {"remedies", FieldsToJson(remedies.remedies)},
            {"refused", FieldsToJson(remedies.refused)}});
  out.Add("buffers", BufferTable(examination));
  if (remedies.changes.empty()) {
    for (const std::string& refused : RefusedTexts(remedies)) out.Print(Wrap(refused, "\n") + "\n");
    if (remedies.refused.empty()) out.Print("\nNothing to do.\n");
    return ExitCode::kClean;
  }
  out.Heading("What would help, the most effective first");
  for (const std::string& text : RemedyTexts(remedies, examination.log->notes))
    out.Paragraph(text, "  - ");
  for (const std::string& text : RefusedTexts(remedies)) out.Paragraph(text, "  - ");
  const std::string text = examination.changed_config.value_or("");
  out.Data("config", text);
  out.Heading("Trace config");
  const auto reach = std::ranges::find_if(remedies.remedies, &Remedy::is_for_reach);
  if (remedies.together)
    out.Paragraph(fmt::format(
        "A replay with this config {}.",
        keep_ns && reach != remedies.remedies.end()
            ? "keeps the last " + HumanDuration(*reach->reach_ns)
            : OutcomeText(*remedies.together, remedies.now).text +
                  fmt::format("; {} {} lost without it", Count(remedies.now.lost, "packet"),
                              Was(remedies.now.lost))));
  std::istringstream config(text);
  for (std::string line; std::getline(config, line);) out.Print("  " + line + "\n");
  return ExitCode::kNotice;
}

namespace {

/// Advice on the session that `sessions` is at.
Result<ExitCode> AdviseOnSession(const AdviseArgs& args, SessionReader& sessions, Report& out,
                                 Context& context) {
  ReplayChoices choices;
  choices.config = args.config;
  ExaminedSession session(context, sessions, choices);
  RS_ASSIGN_OR_RETURN(const Examination examination, session.Examine(args.keep_ns));
  return ReportAdvice(examination, args.keep_ns, out);
}

Result<ExitCode> RunAdvise(const AdviseArgs& args, SessionReader& sessions, Context& context) {
  if (args.config == "-" && args.input.IsReadOnce())
    return Fail(ErrorCode::kUsage, "the log and --config cannot both be standard input", {},
                "name a file for one of them");
  RS_RETURN_IF_ERROR(sessions.recording().Spool());
  Report out(context.console, args.format, "advise");
  RS_ASSIGN_OR_RETURN(const ExitCode code, ReportSessions(sessions, out, [&] {
                        return AdviseOnSession(args, sessions, out, context);
                      }));
  RS_RETURN_IF_ERROR(out.Finish());
  return code;
}

}  // namespace

Command AdviseCommand() {
  return {
      "advise",
      "List changes of the config that would have kept what was lost",
      "Lists what would have helped, the most effective first: other buffer sizes, a buffer of its "
      "own for a sequence that overwrites others, a shorter period of writing into a file, another "
      "fill policy, flushes, cleared state, more shared memory. What a replay can try was tried, "
      "and the rest is called an estimate. Ends with the trace config, changed so.",
      {{"ringscope advise session.tblog", "What should I change?"},
       {"ringscope advise --keep 30s session.tblog", "How do I keep 30 seconds?"},
       {"ringscope advise --config a.pbtxt a.tblog", "My config, changed as advised"},
       {"ringscope advise --format json session.tblog", "The numbers, for a script"}},
      BindSessions({Needs::Logs::kOne, Traces::kExamined}, SetUp, RunAdvise),
      {.clean = "Done; there is nothing to change.",
       .notice = "Done, and a change is recommended; or the input was damaged and what could be "
                 "read was used."}};
}

}  // namespace ringscope
