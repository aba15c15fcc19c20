#include "commands/session/examined.h"
#include "commands/shell/commands.h"

namespace ringscope {
namespace {

struct DoctorArgs {
  std::vector<std::string> inputs;
  ReplayChoices choices;            // of logs; a config without an input is checked alone
  std::optional<uint64_t> session;  // of each input; absent: all
  std::optional<std::string> rule;  // only findings of this one
  bool all = false;                 // as text, all findings and what was checked
  bool brief = false;
  Format format = Format::kText;
  Gate gate;
};

Result<std::string> ParseRule(std::string_view text) {
  std::vector<std::string> ids;
  for (const Rule& rule : DoctorRules()) ids.emplace_back(rule.id);
  return ParseChoice(text, ids, "rule", "'man ringscope-doctor' lists the rules");
}

void SetUp(CLI::App& app, DoctorArgs& args) {
  InGroup(app, kInputGroup);
  AddTexts(
      app, "TRACE", args.inputs, "TRACE|LOG",
      "Perfetto traces, plain or compressed (zstd, gzip); zip archives of them, such as bug "
      "reports; commit logs (.tblog) or operations (.ops.jsonl); folders of all these; - reads "
      "standard input",
      Need::kOptional);
  AddText(
      app, "--config", args.choices.config, kFileType,
      "Check this trace config, as text (.pbtxt) or binary, if no input is named; replay a log as "
      "if its session had had it; - reads standard input");
  AddSession(app, args.session);
  AddReplayOptions(app, args.choices, {.config = false});
  InGroup(app, kOutputGroup);
  AddParsed(app, "--rule", args.rule, ParseRule, "RULE", "Report only what this rule finds");
  AddFlag(app, "--all", args.all,
          "Explain each finding; list what was checked, and print the trace's config with the "
          "changes, as text; of many traces, list all that have findings");
  AddFlag(app, "--brief", args.brief,
          "Print the answer alone, as text: what is wrong, why, and what to change, in about ten "
          "lines; 'ringscope FILE' does the same");
  Exclude(app, "--brief", {"--rule", "--all"});
  AddFormat(app, args.format,
            {Format::kText, Format::kMarkdown, Format::kJson, Format::kJsonl, Format::kCsv});
  AddGate(app, args.gate);
}

Result<ExitCode> RunDoctor(const DoctorArgs& args, Context& context) {
  const std::string& config_path = args.choices.config;
  if (args.inputs.empty() && config_path.empty())
    return Fail(ErrorCode::kUsage, "there is nothing to examine", {},
                "name a trace, or a trace config with --config");
  ExaminedInputs examined;
  if (args.inputs.empty()) {
    RS_ASSIGN_OR_RETURN(const ConfigFile config, ReadConfigFile(context, config_path));
    examined.examinations.push_back(ExamineConfigFile(config_path, config));
  } else {
    RS_ASSIGN_OR_RETURN(examined, ExamineInputs(context, args.inputs, args.choices, args.session));
  }
  if (args.rule)
    for (Examination& examination : examined.examinations) KeepRule(examination, *args.rule);
  return ReportExaminations(context, args.format, examined, args.gate, args.brief, args.all);
}

}  // namespace

Command DoctorCommand() {
  return {
      "doctor",
      "Find what is wrong with a trace, and what to change",
      "Reads a Perfetto trace once, by the rules of trace processor, and reports what is wrong "
      "with it: a verdict first, then findings, the worst first, each with what, where, the cause, "
      "the proof, and the remedy as lines of the trace config; then what was checked without "
      "finding a problem. "
      "Also reads zip archives such as Android bug reports, each trace and log in them by itself, "
      "and logs, whose sessions are replayed. Several inputs are examined on all cores, "
      "and traces with the same findings share a row, the worst first.",
      {{"ringscope doctor trace.pftrace", "What is wrong with this trace, and what do I change?"},
       {"ringscope doctor bugreport.zip", "The same for each trace in a bug report"},
       {"ringscope doctor traces/", "What is wrong with all of these?"},
       {"ringscope doctor --rule buffer.overwritten --format csv traces/",
        "Which traces lost data to a full buffer?"},
       {"ringscope doctor --config trace.pbtxt", "Is this config likely to lose data?"},
       {"ringscope doctor --max-lost 1% --min-reach 10s traces/",
        "Which of these break the limits of continuous integration?"},
       {"ringscope doctor session.tblog session.pftrace", "A log, read as its trace shows"},
       {"adb exec-out cat /data/misc/perfetto-traces/trace | ringscope doctor -",
        "A trace from standard input"}},
      Bind(SetUp, RunDoctor),
      {.clean = "Done; there is no warning and nothing worse, or no limit is broken.",
       .notice = "Done, and there is a warning, a loss or an error, or a limit is broken "
                 "(--fail-on, --max-lost, --min-reach, --min-usable); or some of several traces "
                 "could not be read."}};
}

}  // namespace ringscope
