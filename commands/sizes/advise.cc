#include <fmt/format.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "commands/replays/damage_report.h"
#include "commands/replays/imported_trace.h"
#include "commands/replays/muted_context.h"
#include "commands/replays/session_loop.h"
#include "commands/replays/session_reads.h"
#include "commands/replays/story_words.h"
#include "commands/shell/commands.h"
#include "commands/shell/config_file.h"
#include "commands/shell/input.h"
#include "commands/shell/options.h"
#include "commands/shell/text.h"
#include "commands/shell/values.h"
#include "commands/sizes/advise_report.h"
#include "commands/sizes/trace_advice.h"
#include "commands/threads/listener_thread.h"
#include "commands/threads/sweep_workers.h"
#include "core/base/unified_diff.h"
#include "core/engine/catalogue.h"
#include "core/ledger/ledger_sinks.h"
#include "core/log/verdict.h"
#include "core/perfetto/page.h"
#include "core/remedies/advice_gather.h"
#include "core/remedies/advice_scan.h"
#include "core/remedies/advice_solve.h"
#include "core/session/session_story_listener.h"
#include "core/sweep/kept_batches.h"
#include "formats/descriptors/described_kinds.h"

namespace ringscope {
namespace {

struct AdviseArgs {
  std::string log;                  // or a Perfetto trace
  std::optional<uint64_t> keep_ns;  // absent: all of the log
  std::optional<uint64_t> memory;   // bytes, for all buffers; absent: no limit
  std::string config;               // to be changed, as text; empty: none
  std::string descriptor;           // of fields in it and in packets
  std::string format = "text";
  std::optional<uint64_t> session;
  std::optional<uint64_t> clone;
};

void SetUp(CLI::App& app, AdviseArgs& args) {
  AddLog(app, args.log);
  AddSession(app, args.session);
  AddClone(app, args.clone);
  InGroup(app, "Goal");
  AddParsed(app, "--keep", args.keep_ns, ParsePositiveDuration, "TIME",
            "How far back each sequence should reach, like 30s (default: the whole log)");
  AddParsed(app, "--memory", args.memory, ParseBufferSize, "SIZE",
            "Memory that all buffers together may take, like 64M (default: as much as it takes to "
            "lose nothing)");
  InGroup(app, kOutputGroup);
  AddConfig(app, args.config, args.descriptor,
            "The session's trace config as text (.pbtxt): all of it is printed, with the changes "
            "marked. It also has the buffers of a log that was recorded without its consumer");
  AddFormat(app, args.format, {"text", "json", "diff"});
}

/// The buffers of a session: their indexes in the config, and sizes in bytes.
using BufferSizes = std::vector<std::pair<uint32_t, uint64_t>>;

/// The config must be that of the session.
Status CheckConfig(const AdviseArgs& args, const ConfigFile& config,
                   const BufferSizes& of_session) {
  constexpr const char* kHint = "name the config that the session was started with";
  const auto buffers = ReadTraceConfigFacts(wire::AsBytes(config.bytes)).buffers;
  if (buffers.size() != of_session.size())
    return Fail(ErrorCode::kUsage,
                fmt::format("this trace config has {}, and the session {}",
                            Count(buffers.size(), "buffer"), of_session.size()),
                {args.config, {}, {}}, kHint);
  for (const auto& [index, had] : of_session) {
    if (index >= buffers.size()) continue;  // a log can state any index
    // A buffer has whole pages.
    const uint64_t size = buffers[index].size_kb * 1024;
    if (PagesUp(size) == PagesUp(had)) continue;
    return Fail(ErrorCode::kUsage,
                fmt::format("buffers[{}] has {} in this trace config, and had {} in the session",
                            index, HumanSize(size), HumanSize(had)),
                {args.config, {}, {}}, kHint);
  }
  return {};
}

template <typename Buffer>
BufferSizes SizesOf(const std::vector<Buffer>& buffers) {
  BufferSizes sizes;
  for (const Buffer& buffer : buffers) sizes.emplace_back(buffer.index, buffer.size);
  return sizes;
}

/// The sessions of a trace.
struct TraceSessions {
  uint64_t count = 0;
  std::map<uint64_t, TraceFacts> lossy;  // that lack what their buffers lost, by their numbers
};

Result<TraceSessions> FindLossy(Context& context, std::unique_ptr<ByteSource> trace) {
  RS_ASSIGN_OR_RETURN(ScannedTrace scanned, ScanTrace(context, std::move(trace)));
  TraceSessions sessions;
  sessions.count = scanned.sessions.size();
  for (TraceFacts& facts : scanned.sessions)
    if (LostInBuffers(facts)) sessions.lossy.emplace(facts.session, std::move(facts));
  return sessions;
}

/// A log, a log made of a Perfetto trace, or standard input, so that it can be read several times.
struct AdviseInput {
  std::string path;       // to be opened: the log's, or "-" for what is kept in a temporary file
  std::string name;       // as the user calls it
  bool is_trace = false;  // the log was made of a trace
  std::map<uint64_t, TraceFacts> lossy;  // sessions of a trace that lack what their buffers lost
  ExitCode code = ExitCode::kClean;      // kNotice: some of the trace could not be read
  std::unique_ptr<SpooledInput> standard_input;
  std::unique_ptr<SpooledInput> imported;  // destroyed before standard_input
};

Status Import(Context& context, AdviseInput& input, std::unique_ptr<ByteSource> source) {
  RS_ASSIGN_OR_RETURN(std::shared_ptr<TemporaryFile> file,
                      TemporaryFile::Create({.what = "a temporary log of it", .path = input.path}));
  RS_ASSIGN_OR_RETURN(const TraceLog log,
                      WriteTraceLog({.path = input.path}, std::move(source), *file));
  input.code = WarnOfTraceLog(context.console, input.path, log);
  input.imported = std::make_unique<SpooledInput>(context, std::move(file));
  input.path = "-";
  return {};
}

/// @param path "-": standard input
Result<AdviseInput> OpenAdviseInput(Context& context, const std::string& path) {
  AdviseInput input;
  input.path = path;
  input.name = path;
  if (path == "-") {
    RS_ASSIGN_OR_RETURN(input.standard_input, SpooledInput::Read(context));
  }
  RS_ASSIGN_OR_RETURN(KnownInput known, OpenKnownInput(context, path));
  if (known.kind != InputKind::kTrace) return input;
  input.is_trace = true;
  RS_ASSIGN_OR_RETURN(TraceSessions found, FindLossy(context, std::move(known.source)));
  input.lossy = std::move(found.lossy);
  if (found.count == 1 && !input.lossy.empty()) return input;  // nothing to replay
  RS_ASSIGN_OR_RETURN(std::unique_ptr<ByteSource> again, OpenInput(context, path));
  RS_RETURN_IF_ERROR(Import(context, input, std::move(again)));
  return input;
}

/// Advice for the session that `sessions` is at.
Result<AdviceReport> Advise(const AdviseArgs& args, const AdviseInput& input,
                            SessionReader& sessions, Context& context) {
  AdviceReport report;
  report.name = input.name;
  report.session = sessions.session();
  const std::optional<CloneView> view =
      sessions.clone() != nullptr ? std::optional(*sessions.clone()) : std::nullopt;
  if (view) report.clone = view->clone;
  AdviceReads reads;
  ReplayChoices choices;
  choices.config = args.config;
  choices.descriptor = args.descriptor;
  RS_ASSIGN_OR_RETURN(const UnrecordedBuffers unrecorded, UnrecordedOf(context, choices));
  AddedBuffers records(sessions, unrecorded);
  RS_ASSIGN_OR_RETURN(report.facts, ScanForAdvice(records, reads));
  report.facts.is_trace = input.is_trace;
  const SessionSelection selection{
      .paths = {input.path}, .only = report.session, .quiet = true, .view = view};
  SessionReader session(context, selection, "replaying");
  RS_RETURN_IF_ERROR(session.NextSession());
  // The report itself states what a trace lacks.
  MutedContext muted(context);
  RS_ASSIGN_OR_RETURN(const DescriptorChoice descriptors,
                      DescriptorChoice::Open(context, args.descriptor));
  DescribedKinds kinds(descriptors.get());
  AdviceGatherer gatherer(report.facts, &kinds);
  SessionStoryListener story;
  std::vector<ReplayListener*> listeners = gatherer.listeners();
  listeners.push_back(&story);
  KeptBatches kept;
  listeners.push_back(&kept);
  choices.reads = reads.replay;
  LedgerSinks sinks({&gatherer.accounts(), &kept});
  Ledger ledger(sinks);
  RS_ASSIGN_OR_RETURN(
      const ReplayOutcome outcome,
      ReplaySession(input.is_trace ? muted.context() : context, session, choices,
                    {.ledger = &ledger, .listeners = std::move(listeners), .apart = true}));
  report.reads = outcome.reads;
  report.verdicts = outcome.verdicts;
  if (const RecordingVerdict* before = LossesBefore(outcome.verdicts))
    return Fail(
        ErrorCode::kUnsupported,
        fmt::format("the log is made of a trace that lacks what was lost ({}), so no replay "
                    "can try sizes",
                    Printable(before->detail)),
        {input.name, {}, {}}, "ask 'ringscope advise' of the trace, or record a log");
  report.reads.assumed = reads.assumed;
  GapNeeds needs = gatherer.Finish(ledger.totals());
  for (const auto& [id, totals] : ledger.totals()) report.cleared += totals[Fate::kCleared].packets;
  report.idle_sources = story.Finish().findings;
  AdviceWish wish;
  wish.keep_ns = args.keep_ns;
  wish.memory = args.memory;
  SweepInput sweeps;
  sweeps.open = [&]() -> Result<std::unique_ptr<OpSource>> {
    RS_ASSIGN_OR_RETURN(std::unique_ptr<OpSource> ops,
                        OpenSession(context, selection, "trying sizes with"));
    return std::make_unique<AddedBuffers>(std::move(ops), unrecorded);
  };
  kept.Finish();
  sweeps.kept = &kept;
  sweeps.clone = view;
  sweeps.find_engine = FindEngine;
  sweeps.run_replays = SweepThreads(context);
  sweeps.run_tape = ListenerThreads(context);
  sweeps.ahead = LookAheadIn(context, selection, StandardInput::kSpooled);
  sweeps.warn = [](const std::string&) {};  // the first replay printed these warnings
  RS_ASSIGN_OR_RETURN(
      report.findings,
      InFile(input.name, SolveAdvice(sweeps, report.facts, reads, wish,
                                     {ledger.totals(), reads.replay}, std::move(needs))));
  report.advice = MakeAdvice(report.facts, report.findings);
  return report;
}

/// Writes the advice, or what it changes in the user's config.
template <typename Advised>
void Write(const AdviseArgs& args, Context& context, const Advised& advised,
           const std::function<void()>& report) {
  if (args.format != "diff") return report();
  context.console.Print(UnifiedDiff(args.config, advised.config, ConfigText(advised)));
}

ExitCode CodeOf(bool to_do) { return to_do ? ExitCode::kNotice : ExitCode::kClean; }

/// Advice from what a trace's statistics tell, as its packets are only a part of what was written.
Result<ExitCode> AdviseOnLossySession(const AdviseArgs& args, const AdviseInput& input,
                                      const TraceFacts& facts, const ConfigFile& config,
                                      Report& out, Context& context) {
  RS_ASSIGN_OR_RETURN(TraceAdvice advice,
                      AdviseOnTrace(input.name, facts, {args.keep_ns, args.memory}));
  if (!args.config.empty()) {
    RS_RETURN_IF_ERROR(CheckConfig(args, config, SizesOf(advice.sizes.buffers)));
    advice.config = config.text;
  }
  Write(args, context, advice, [&] { ReportTraceAdvice(out, advice); });
  return Worse(CodeOf(advice.AnyToDo()), advice.facts.error_count > 0 || advice.facts.is_cut_off
                                             ? ExitCode::kNotice
                                             : ExitCode::kClean);
}

/// The same of a trace that has no other session.
Result<ExitCode> AdviseOnLossyTrace(const AdviseArgs& args, const AdviseInput& input,
                                    const ConfigFile& config, Context& context) {
  if (args.session.value_or(1) != 1 || args.clone)
    return Fail(ErrorCode::kUsage, "this trace has one session, and no clones",
                {input.name, {}, {}}, "leave --session and --clone out");
  Report out(context.console, args.format, "advise");
  out.Data("sessions", Json::array());
  RS_ASSIGN_OR_RETURN(const ExitCode code, out.AddItem("sessions", [&] {
    return AdviseOnLossySession(args, input, input.lossy.begin()->second, config, out, context);
  }));
  RS_RETURN_IF_ERROR(out.Finish());
  return code;
}

Result<ExitCode> RunAdvise(const AdviseArgs& args, Context& context) {
  if (args.format == "diff" && args.config.empty())
    return Fail(ErrorCode::kUsage, "--format diff shows the changes of a trace config", {},
                "name it with --config");
  if (args.config == "-" && args.log == "-")
    return Fail(ErrorCode::kUsage, "the log and --config cannot both be standard input", {},
                "name a file for one of them");
  RS_ASSIGN_OR_RETURN(AdviseInput input, OpenAdviseInput(context, args.log));
  ConfigFile config;
  if (!args.config.empty()) {
    RS_ASSIGN_OR_RETURN(config, ReadConfigFile(context, args.config, args.descriptor));
  }
  if (!input.lossy.empty() && input.imported == nullptr)
    return AdviseOnLossyTrace(args, input, config, context);
  context.console.PlanSteps(kAdviseSteps);
  SessionReader sessions(context, {{input.path}, args.session, args.clone}, "reading");
  Report out(context.console, args.format, "advise");
  const auto task = [&]() -> Result<ExitCode> {
    if (const auto lossy = input.lossy.find(sessions.session()); lossy != input.lossy.end())
      return AdviseOnLossySession(args, input, lossy->second, config, out, context);
    RS_ASSIGN_OR_RETURN(AdviceReport report, Advise(args, input, sessions, context));
    if (!args.config.empty()) {
      RS_RETURN_IF_ERROR(CheckConfig(args, config, SizesOf(report.facts.buffers)));
      report.config = config.text;
    }
    Write(args, context, report, [&] {
      ReportAdvice(out, report);
      ReportFindings(out, report.idle_sources);
    });
    return CodeOf(AnyToDo(report.advice));
  };
  RS_ASSIGN_OR_RETURN(const ExitCode code, ReportSessions(sessions, out, task));
  RS_RETURN_IF_ERROR(out.Finish());
  return Worse(code, input.code);
}

}  // namespace

Result<std::optional<TraceAdvice>> AdviseIfLossyTrace(Context& context, const std::string& path,
                                                      uint64_t session) {
  RS_ASSIGN_OR_RETURN(KnownInput known, OpenKnownInput(context, path));
  if (known.kind != InputKind::kTrace) return std::nullopt;
  RS_ASSIGN_OR_RETURN(TraceSessions found, FindLossy(context, std::move(known.source)));
  const auto lossy = found.lossy.find(session);
  if (lossy == found.lossy.end()) return std::nullopt;
  RS_ASSIGN_OR_RETURN(TraceAdvice advice, AdviseOnTrace(path, std::move(lossy->second), {}));
  return advice;
}

Result<AdviceReport> AdviseSession(Context& context, const std::string& path, uint64_t session,
                                   std::optional<uint64_t> clone) {
  AdviseArgs args;
  args.log = path;
  RS_ASSIGN_OR_RETURN(const AdviseInput input, OpenAdviseInput(context, path));
  SessionReader sessions(context, {{input.path}, session, clone}, "reading");
  RS_RETURN_IF_ERROR(sessions.NextSession());
  return Advise(args, input, sessions, context);
}

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
       {"ringscope advise --config a.pbtxt --format diff a.tblog | patch a.pbtxt",
        "Change the config as advised"},
       {"ringscope advise trace.pftrace", "The same from a trace alone"},
       {"ringscope advise --format json session.tblog", "The numbers, for a script"}},
      Bind(SetUp, RunAdvise),
      {.clean = "Done; there is nothing to change.",
       .notice = "Done, and a change is recommended; or the input was damaged and what could be "
                 "read was used."}};
}

}  // namespace ringscope
