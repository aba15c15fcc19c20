#include <sstream>

#include "commands/session/examined.h"
#include "commands/session/session_view.h"
#include "commands/shell/commands.h"
#include "commands/sizes/sizes.h"
#include "core/compare/list_alignment.h"
#include "core/examine/remedies.h"

namespace ringscope {
namespace {

struct AdviseArgs {
  SessionSelection input;
  ReplayChoices choices;            // with the config to be changed
  std::optional<uint64_t> keep_ns;  // absent: nothing is to be overwritten
  Format format = Format::kText;    // kDiff: a patch of the config
  std::string output;               // the changed config; empty: none is written
  bool force = false;

  bool is_about_replays() const {
    return keep_ns || ChoosesAnything(choices) || !choices.config.empty();
  }
  /// Returns true if the config, or a patch of it, is all that is printed.
  bool prints_config() const { return format == Format::kDiff || output == "-"; }
};

void SetUp(CLI::App& app, AdviseArgs& args) {
  AddReplayOptions(app, args.choices, {.config = false});
  InGroup(app, "Goal");
  AddParsed(app, "--keep", args.keep_ns, ParsePositiveDuration, "TIME",
            "How far back each sequence should reach, like 30s (default: the whole log)");
  InGroup(app, kOutputGroup);
  AddText(
      app, "--config", args.choices.config, kFileType,
      "The session's trace config as text (.pbtxt): all of it is printed, with the changes "
      "marked. The file also gives the buffers of a log that was recorded without its consumer");
  AddFormat(app, args.format, {Format::kText, Format::kJson, Format::kDiff});
  AddText(app, "-o,--output", args.output, kFileType,
          "Write the whole config with the changed lines marked to this file");
  AddForce(app, args.force);
}

const OutputKind kConfigOutput = {"a trace config", true};

std::vector<std::string> LinesOf(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(std::move(line));
  return lines;
}

/// A patch in the unified format that makes the second config of the first.
/// @param path of the first
std::string PatchOf(const std::string& path, const std::string& before, const std::string& after) {
  constexpr size_t kContext = 3;
  const std::vector<std::string> old = LinesOf(before), changed = LinesOf(after);
  std::map<std::string_view, uint64_t> numbers;
  const auto numbered = [&](const std::vector<std::string>& lines) {
    std::vector<uint64_t> all;
    for (const std::string& line : lines)
      all.push_back(numbers.try_emplace(line, numbers.size()).first->second);
    return all;
  };
  struct Line {
    char mark;
    const std::string* text;
    size_t old_before, changed_before;
  };
  std::vector<Line> lines;
  std::vector<AlignedPair> same = AlignLists(numbered(old), numbered(changed));
  same.emplace_back(old.size(), changed.size());
  size_t i = 0, j = 0;
  for (const auto& [old_end, changed_end] : same) {
    for (; i < old_end; ++i) lines.push_back({'-', &old[i], i, j});
    for (; j < changed_end; ++j) lines.push_back({'+', &changed[j], i, j});
    if (i < old.size()) lines.push_back({' ', &old[i], i, j}), ++i, ++j;
  }
  std::string patch = fmt::format("--- {0}\n+++ {0}\n", path);
  for (size_t at = 0; at < lines.size();) {
    const auto is_change = [](const Line& line) { return line.mark != ' '; };
    const auto first =
        std::find_if(lines.begin() + static_cast<ptrdiff_t>(at), lines.end(), is_change);
    if (first == lines.end()) break;
    auto last = static_cast<size_t>(first - lines.begin());
    const size_t begin = std::max(at, last - std::min(kContext, last));
    for (size_t next = last; next < lines.size() && next <= last + 2 * kContext; ++next)
      if (is_change(lines[next])) last = next;
    const size_t end = std::min(lines.size(), last + kContext + 1);
    const auto hunk = std::span(lines).subspan(begin, end - begin);
    const auto count = [&](char without) {
      return std::ranges::count_if(hunk, [&](const Line& line) { return line.mark != without; });
    };
    patch += fmt::format("@@ -{},{} +{},{} @@\n", hunk.front().old_before + 1, count('+'),
                         hunk.front().changed_before + 1, count('-'));
    for (const Line& line : hunk) patch += fmt::format("{}{}\n", line.mark, *line.text);
    at = end;
  }
  return patch;
}

/// Writes the changed config, or a patch of it, as the command line asks for.
/// @return false: it does not, or there is no change
Result<bool> WriteConfig(const AdviseArgs& args, const Examination& examination, Context& context) {
  if (args.output.empty() && args.format != Format::kDiff) return false;
  if (!examination.changed_config) {
    context.console.Say(
        fmt::format("{}: no change of its config is advised", Printable(examination.subject.file)));
    return false;
  }
  if (args.format == Format::kDiff)
    context.console.Print(
        PatchOf(args.choices.config.empty() ? "config.pbtxt" : args.choices.config,
                examination.own_config, *examination.changed_config));
  if (args.output.empty()) return true;
  RS_ASSIGN_OR_RETURN(const std::unique_ptr<OutputFile> file,
                      CreateOutput(context, args.output, kConfigOutput, args.force));
  RS_RETURN_IF_ERROR(file->Write(*examination.changed_config));
  RS_RETURN_IF_ERROR(file->Commit());
  if (file->path() != "-") context.console.Say(fmt::format("wrote {}", file->path()));
  return true;
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

/// Advice on the session that `sessions` is at.
Result<ExitCode> AdviseOnSession(const AdviseArgs& args, SessionReader& sessions, Report& out,
                                 Context& context) {
  ExaminedSession session(context, sessions, args.choices);
  RS_ASSIGN_OR_RETURN(const Examination examination, session.Examine(args.keep_ns));
  if (!args.output.empty() || args.format == Format::kDiff)
    RS_RETURN_IF_ERROR(ExpectNoFurtherSession(sessions, "a config"));
  RS_ASSIGN_OR_RETURN(const bool is_written, WriteConfig(args, examination, context));
  if (args.prints_config()) return is_written ? ExitCode::kNotice : ExitCode::kClean;
  return ReportAdvice(examination, args.keep_ns, out);
}

/// Of a trace: as doctor does, and its config.
Result<ExitCode> AdviseOnTraces(const AdviseArgs& args, Context& context) {
  if (args.output.empty() && args.format != Format::kDiff)
    return ReportTraces(context, args.input, args.format);
  RS_ASSIGN_OR_RETURN(const ExaminedInputs inputs,
                      ExamineInputs(context, args.input.paths, {}, args.input.only));
  const Examination& examination = inputs.examinations.front();
  if (inputs.examinations.size() > 1)
    return Fail(ErrorCode::kUsage, "the input has several traces, and the config of one is changed",
                {args.input.paths.front(), {}, {}},
                "name one of them: " + examination.subject.file);
  if (examination.error)
    return Fail(ErrorCode::kCorrupt, *examination.error, {examination.subject.file, {}, {}});
  RS_ASSIGN_OR_RETURN(const bool is_written, WriteConfig(args, examination, context));
  return is_written ? ExitCode::kNotice : ExitCode::kClean;
}

Result<ExitCode> RunAdvise(const AdviseArgs& args, SessionReader& sessions, Context& context) {
  RS_RETURN_IF_ERROR(sessions.recording().Spool());
  Report out(context.console, args.prints_config() ? Format::kText : args.format, "advise");
  const auto advise = [&] { return AdviseOnSession(args, sessions, out, context); };
  if (args.prints_config()) return ForEachSession(sessions, advise);
  RS_ASSIGN_OR_RETURN(const ExitCode code, ReportSessions(sessions, out, advise));
  return out.Finish(code);
}

}  // namespace

ExitCode ReportAdvice(const Examination& examination, std::optional<uint64_t> keep_ns,
                      Report& out) {
  const ReplayOutcome& outcome = examination.log->outcome;
  const RemedyList& remedies = examination.remedies;
  ReportReplayTitle(out, outcome);
  const bool has_change = examination.changed_config.has_value();
  out.Data({{"input", outcome.path},
            {"session", outcome.session},
            {"duration_ns", outcome.duration_ns()},
            {"keep_ns", keep_ns},
            {"to_do", has_change},
            {"lost_now", remedies.now.lost},
            {"now", FieldsToJson(remedies.now)},
            {"together", FieldsToJson(remedies.together)},
            {"remedies", FieldsToJson(remedies.remedies)},
            {"refused", FieldsToJson(remedies.refused)}});
  out.Add("buffers", BufferTable(examination));
  std::vector<std::string> texts = RemedyTexts(remedies, examination.log->notes);
  const std::vector<ConfigChange> changes = examination.changes();
  for (size_t i = remedies.changes.size(); i < changes.size(); ++i) {
    const ConfigChange& change = changes[i];
    const auto of = std::ranges::find_if(examination.findings, [&](const Finding& finding) {
      return std::ranges::find(finding.changes, change) != finding.changes.end();
    });
    texts.push_back(fmt::format("{}: {}{}. {}", change.path, change.value,
                                change.is_estimate ? " (an estimate)" : "", of->what.text));
  }
  std::ranges::move(OtherTexts(examination.log->gaps, remedies), std::back_inserter(texts));
  if (texts.empty())
    texts.push_back(examination.answer.severity >= Harm::kWarning
                        ? "No change of the config is known to help; 'ringscope doctor' explains."
                        : "Nothing to do.");
  if (has_change) out.Heading("What would help, the most effective first");
  if (!has_change) out.Print("\n");
  for (const std::string& text : texts) out.Paragraph(text, has_change ? "  - " : "");
  if (!has_change) return ExitCode::kClean;
  out.Data("config", *examination.changed_config);
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
  for (const std::string& line : LinesOf(*examination.changed_config))
    out.Print("  " + line + "\n");
  return ExitCode::kNotice;
}

Command AdviseCommand() {
  return {
      "advise",
      "List changes of the config that would have kept what was lost",
      "Lists what would have helped, the most effective first: other buffer sizes, a buffer of its "
      "own for a sequence that overwrites others, a shorter period of writing into a file, another "
      "fill policy, flushes, cleared state, more shared memory. What a replay can try was tried, "
      "and the rest is called an estimate. At the end is the trace config with these changes; "
      "--output writes the config to a file.",
      {{"ringscope advise session.tblog", "What should I change?"},
       {"ringscope advise --keep 30s session.tblog", "How do I keep 30 seconds?"},
       {"ringscope advise --config a.pbtxt a.tblog -o b.pbtxt", "My config, changed as advised"},
       {"ringscope advise --format diff session.tblog", "The changes, as a patch"},
       {"ringscope advise --format json session.tblog", "The numbers, for a script"}},
      BindSessions({Needs::Logs::kOne, Traces::kExamined}, SetUp, RunAdvise, AdviseOnTraces),
      {.clean = "Done; there is nothing to change.",
       .notice = "Done, and a change is recommended; or the input was damaged and what could be "
                 "read was used."}};
}

}  // namespace ringscope
