#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>

#include "commands/advise/advise_gather.h"
#include "commands/advise/advise_input.h"
#include "commands/advise/advise_report.h"
#include "commands/common/sweep_workers.h"
#include "commands/report/json.h"
#include "commands/shell/commands.h"
#include "commands/shell/muted_context.h"
#include "commands/shell/options.h"
#include "commands/shell/values.h"
#include "core/advice/advice_scan.h"
#include "core/advice/advice_solve.h"
#include "core/engine/catalogue.h"

namespace ringscope {
namespace {

struct AdviseArgs {
  std::string log;                  // or a Perfetto trace
  std::optional<uint64_t> keep_ns;  // absent: all of the log
  std::optional<uint64_t> memory;   // bytes, for all buffers; absent: four times today's
  std::string format = "text";
  std::optional<uint64_t> session;
};

constexpr uint64_t kMemoryTimes = 4;  // today's sizes, unless the user says otherwise
constexpr uint64_t kMillisecondNs = 1'000'000;

void SetUp(CLI::App& app, AdviseArgs& args) {
  AddLog(app, args.log);
  AddSession(app, args.session);
  InGroup(app, "Goal");
  AddParsed(app, "--keep", args.keep_ns, ParseDuration, "TIME",
            "How far back each sequence should reach, like 30s (default: the whole log)");
  AddParsed(app, "--memory", args.memory, ParseSize, "SIZE",
            "Memory that all buffers together may take, like 64M (default: four times their "
            "present size)");
  AddFormat(app, args.format, {"text", "json"});
}

/// What is late, for a session of that duration: so much that reads at its end miss it.
uint64_t LateFor(uint64_t duration_ns) {
  return std::clamp(duration_ns / 4 / (100 * kMillisecondNs) * (100 * kMillisecondNs),
                    500 * kMillisecondNs, 5000 * kMillisecondNs);
}

/// Advice for the session that `sessions` stands at.
Result<AdviceReport> Advise(const AdviseArgs& args, const AdviseInput& input,
                            SessionReader& sessions, Context& context) {
  AdviceReport report;
  report.name = input.name;
  report.session = sessions.session();
  AdviceReads reads;
  RS_ASSIGN_OR_RETURN(report.facts, ScanForAdvice(sessions, reads));
  report.facts.is_trace = input.is_trace;
  const SessionSelection selection{.paths = {input.path}, .only = report.session, .quiet = true};
  SessionReader session(context, selection, "replaying");
  RS_RETURN_IF_ERROR(session.NextSession());
  // The page itself reports what a trace lacks.
  MutedContext muted(context);
  RS_RETURN_IF_ERROR(GatherFacts(input.is_trace ? muted.context() : context, session, reads,
                                 LateFor(report.facts.duration_ns), report.facts));
  AdviceWish wish;
  wish.keep_ns = args.keep_ns;
  wish.memory = args.memory.value_or(kMemoryTimes * report.facts.TotalSize());
  SweepInput sweeps;
  sweeps.open = [&] { return OpenSession(context, selection, "replaying"); };
  sweeps.find_engine = FindEngine;
  sweeps.run_lanes = SweepThreads(context);
  sweeps.warn = [](const std::string&) {};  // the first replay gave these warnings
  RS_ASSIGN_OR_RETURN(report.findings,
                      InFile(input.name, SolveAdvice(sweeps, report.facts, reads, wish)));
  report.advice = MakeAdvice(report.facts, report.findings);
  return report;
}

Result<ExitCode> RunAdvise(const AdviseArgs& args, Context& context) {
  RS_ASSIGN_OR_RETURN(const AdviseInput input, OpenAdviseInput(context, args.log));
  SessionReader sessions(context, {{input.path}, args.session}, "reading");
  Json document = JsonDocument("advise");
  document["sessions"] = Json::array();
  ExitCode code = input.code;
  RS_ASSIGN_OR_RETURN(bool more, sessions.NextSession());
  for (bool first = true; more; first = false) {
    RS_ASSIGN_OR_RETURN(const AdviceReport report, Advise(args, input, sessions, context));
    if (args.format == "json") {
      document["sessions"].push_back(AdviceJson(report));
    } else {
      if (!first) context.console.Print("\n");
      PrintAdvice(context.console, report);
    }
    if (AnyToDo(report.advice)) code = ExitCode::kNotice;
    RS_ASSIGN_OR_RETURN(more, sessions.NextSession());
  }
  if (args.format == "json") context.console.Print(JsonText(document));
  return Worse(sessions.Finish(), code);
}

}  // namespace

Command AdviseCommand() {
  return {
      "advise",
      "Explain",
      "Advise on buffer sizes and the trace config, with numbers",
      "Recommends a trace config for sessions like the recorded one: buffer sizes for the history "
      "that is wanted, which sequences overwrite others and whether a separate buffer would help, "
      "how often to write into a file, to flush and to clear incremental state, the size of the "
      "producers' shared memory, and fill policies that do not have the intended effect. Ends with "
      "the recommended part of the trace config, and with what it would have kept of this session, "
      "determined by an exact replay. Also takes a Perfetto trace.",
      {{"ringscope advise session.tblog", "What should I change?"},
       {"ringscope advise --keep 30s --memory 64M session.tblog",
        "How do I keep 30 seconds in 64 MiB?"},
       {"ringscope advise trace.pftrace", "The same from a trace alone"},
       {"ringscope advise --format json session.tblog", "The numbers, for a script"}},
      Bind(SetUp, RunAdvise),
      {.clean = "Done; there is nothing to change.",
       .notice = "Done, and a change is recommended; or the input was damaged and what could be "
                 "read was used."}};
}

}  // namespace ringscope
