#include "commands/advise.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "commands/advise_input.h"
#include "commands/advise_report.h"
#include "commands/advise_solve.h"
#include "commands/json_output.h"
#include "commands/muted_context.h"
#include "commands/options.h"
#include "commands/values.h"

namespace ringscope {
namespace {

constexpr uint64_t kMemoryTimes = 4;  // today's sizes, unless the user says otherwise
constexpr uint64_t kMs = 1'000'000;

void SetUp(CLI::App& app, AdviseArgs& args) {
  AddLog(app, args.log);
  AddParsed(app, "--keep", args.keep_ns, ParseDuration, "TIME",
            "How far back each sequence is to reach, like 30s (default: all of the log)");
  AddParsed(app, "--memory", args.memory, ParseSize, "SIZE",
            "What all buffers together may take, like 64M (default: four times what they take "
            "now)");
  AddFormat(app, args.format, {"text", "json"});
  AddSession(app, args.session);
}

/// What is late, for a session of that duration: so much that reads at its end miss it.
uint64_t LateFor(uint64_t duration_ns) {
  return std::clamp(duration_ns / 4 / (100 * kMs) * (100 * kMs), 500 * kMs, 5000 * kMs);
}

/// Advice for the session that `sessions` stands at.
Result<AdviceReport> Advise(const AdviseArgs& args, const AdviseInput& input,
                            SessionReader& sessions, Context& context) {
  AdviceReport report;
  report.name = input.name;
  report.session = sessions.session();
  AdviseReads reads;
  RS_ASSIGN_OR_RETURN(report.facts, ScanForAdvice(sessions, reads));
  report.facts.is_trace = input.is_trace;
  const OpenSession open = [&]() -> Result<OpenedSession> {
    OpenedSession opened;
    opened.reader = std::make_unique<SessionReader>(
        context, SessionSelection{.paths = {input.path}, .only = report.session, .quiet = true},
        "replaying");
    RS_RETURN_IF_ERROR(opened.reader->NextSession());
    return opened;
  };
  // What a trace lacks is said in the page.
  MutedContext muted(context);
  RS_RETURN_IF_ERROR(GatherFacts(input.is_trace ? muted.context() : context, open, reads,
                                 LateFor(report.facts.duration_ns), report.facts));
  AdviceWish wish;
  wish.keep_ns = args.keep_ns;
  wish.memory = args.memory.value_or(kMemoryTimes * report.facts.TotalSize());
  RS_ASSIGN_OR_RETURN(report.findings, SolveAdvice(context, open, report.facts, reads, wish));
  report.advice = MakeAdvice(report.facts, report.findings);
  return report;
}

}  // namespace

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
  if (args.format == "json") PrintJson(context.console, document);
  return Worse(sessions.Finish(), code);
}

Command AdviseCommand() {
  return {
      "advise",
      "Explain",
      "Advise on buffer sizes and the trace config, with numbers",
      "Says in plain words what a session's trace config should be: buffer sizes for a wanted "
      "history, which sequences push out others and whether a buffer of their own would help, how "
      "often to write into a file, to flush and to clear incremental state, the producers' shared "
      "memory, and fill policies that do not do what they seem to. Ends with a piece of trace "
      "config, and what it would have kept of this session, by an exact replay. Takes a "
      "Perfetto trace, too. The exit status is 3 if there is something to do.",
      {{"ringscope advise session.tblog", "What should I change?"},
       {"ringscope advise --keep 30s --memory 64M session.tblog",
        "How do I keep 30 seconds in 64 MiB?"},
       {"ringscope advise trace.pftrace", "The same from a trace alone"},
       {"ringscope advise --format json session.tblog", "The numbers, for a script"}},
      Bind(SetUp, RunAdvise)};
}

}  // namespace ringscope
