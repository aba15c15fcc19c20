#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "commands/doctor/doctor_trace.h"
#include "commands/replays/log_answer.h"
#include "commands/replays/loss_words.h"
#include "commands/replays/replay_run.h"
#include "commands/replays/session_loop.h"
#include "commands/replays/session_reader.h"
#include "commands/shell/input.h"
#include "commands/shell/text.h"
#include "core/base/wire.h"
#include "core/gaps/gap_analysis.h"
#include "formats/descriptors/changed_config.h"
#include "formats/inputs/input_kind.h"
#include "formats/trace/perfetto_trace.h"
#include "formats/trace/trace_file_scan.h"

namespace ringscope {
namespace {

/// Names the command that reports more, and of a log the one that has all changes, if there are
/// any.
void AddNext(DoctorTrace& trace, const std::string& path, const char* command) {
  Answer& answer = trace.diagnosis.answer;
  if (answer.severity <= Harm::kInfo || path == "-") return;
  std::string text = fmt::format("ringscope {} {}", command, ShellWord(path));
  const bool has_changes =
      !answer.change.empty() || answer.more_changes > 0 ||
      std::ranges::find(answer.lines, "Change", &AnswerLine::label) != answer.lines.end();
  if (trace.replay && has_changes)
    text += fmt::format("; 'ringscope advise' has {}",
                        answer.more_changes == 0 ? "the config with the change"
                                                 : Count(answer.more_changes, "more change"));
  answer.Add("Next", std::move(text));
}

/// Reads a Perfetto trace by the rules of trace processor, with progress.
/// @param only this session of the file
Result<DoctorTraces> ExamineTrace(Context& context, std::unique_ptr<ByteSource> source,
                                  std::optional<uint64_t> only) {
  const std::string path = source->path();
  Progress progress(context.console, fmt::format("examining {}", Printable(path)));
  const auto update = [&](uint64_t done, uint64_t total) { progress.Update(done, total); };
  RS_ASSIGN_OR_RETURN(const ScannedTrace scanned,
                      InFile(path, ScanTraceFile(std::move(source), update)));
  DoctorTraces traces;
  if (only && *only > scanned.sessions.size())
    return tl::unexpected(NoSession(*only, scanned.sessions.size(), path));
  for (const TraceFacts& facts : scanned.sessions) {
    if (facts.session != only.value_or(facts.session)) continue;
    DoctorTrace& trace = traces.emplace_back(Diagnosed(path, Diagnose(facts), facts.config));
    if (facts.sessions > 1) trace.session = facts.session;
  }
  return traces;
}

/// Diagnoses a file that is neither a trace nor a log: a trace config, or an error.
Result<DoctorTraces> ExamineOther(Context& context, const std::string& start,
                                  const std::string& path) {
  std::string hint =
      "expected a Perfetto trace, plain or compressed by zstd or gzip, a zip archive of traces, a "
      "log, or a trace config";
  if (ContentWords(start).starts_with("a text file") && path != "-") {
    auto config = ReadConfigFile(context, path);
    if (config) return DoctorTraces{DiagnosedConfig(path, *config)};
    config.error().where.path.clear();
    hint += "; as a trace config: " + config.error().ToString();
  }
  return tl::unexpected<Error>(WrongContent(start, path, "a trace or a log", std::move(hint)));
}

/// Names the processes of a replayed trace as the log does, if no packet of it names them.
void NameProducers(const GapReport& report, const SessionNotes& notes, TraceFacts& facts) {
  std::map<uint32_t, std::string> names;  // by the sequence's id in the trace
  for (const BufferGaps& buffer : report.buffers)
    for (const SequenceGaps& sequence : buffer.sequences)
      names[notes.TraceIdOf(sequence.sequence)] = notes.ProducerOf(sequence.sequence);
  for (const TraceSequence& sequence : facts.sequences)
    if (const auto name = names.find(sequence.id);
        name != names.end() && !name->second.empty() && sequence.pid)
      facts.process_names.try_emplace(*sequence.pid, name->second);
}

/// @param opened of standard input; nullptr if it has to be opened
Result<DoctorTraces> ExamineLog(Context& context, const std::string& path,
                                const ReplayChoices& choices, std::optional<uint64_t> session,
                                std::unique_ptr<ByteSource> opened) {
  SessionReader sessions(context, {.paths = {path}, .only = session}, "replaying");
  if (opened != nullptr) sessions.UseOpened(std::move(opened));
  DoctorTraces traces;
  size_t problems = 0;  // that are added to a session
  const auto add_problems = [&] {
    for (; problems < sessions.problems().size(); ++problems) {
      const std::string& text = sessions.problems()[problems];
      traces.back().diagnosis.unknown.push_back(text);
      traces.back().diagnosis.answer.Add("Not complete", text);
    }
  };
  const auto examine = [&]() -> Result<ExitCode> {
    TraceScanSink scan;
    ReplayRun run(context, sessions, choices);
    auto& notes = run.Add<SessionNotes>();
    auto& analysis = run.Add<GapAnalysis>();
    auto& writer = run.Add<TraceWriter>(scan);
    RS_ASSIGN_OR_RETURN(const ReplayOutcome outcome, run.ToEnd());
    RS_RETURN_IF_ERROR(InFile(path, writer.Finish()));
    const GapReport report = analysis.Finish(run.totals());
    RS_ASSIGN_OR_RETURN(const SessionRemedies remedies, RemediesOf(run, outcome, report, notes));
    const ReplayFacts replayed = ReplayFactsOf(report, outcome, notes, remedies);
    TraceFacts facts = scan.Finish();
    NameProducers(report, notes, facts);
    DoctorTrace trace = Diagnosed(outcome.path, Diagnose(facts, &replayed), facts.config);
    trace.remedies = remedies.remedies;
    trace.session = outcome.session;
    trace.is_only_session = outcome.is_only_session;
    std::set<std::string> engines;
    for (const BufferOutcome& buffer : outcome.buffers) engines.insert(buffer.engine);
    trace.replay =
        fmt::format("{}, buffers read {}", fmt::join(engines, " and "), ReadsText(outcome.reads));
    trace.diagnosis.answer.Add(outcome.reads.assumed ? "Assumed" : "Replay", *trace.replay);
    for (std::string text : {ReadsNotes(outcome.reads), InexactText(outcome.verdicts)})
      if (!text.empty()) trace.diagnosis.unknown.push_back(std::move(text));
    traces.push_back(std::move(trace));
    add_problems();
    return ExitCode::kClean;
  };
  RS_RETURN_IF_ERROR(ForEachSession(sessions, examine));
  if (traces.empty())
    return Fail(ErrorCode::kCorrupt, "the log has no session", {path, {}, {}},
                "see 'ringscope verify'");
  add_problems();
  for (DoctorTrace& trace : traces) AddNext(trace, path, "gaps");
  return traces;
}

Result<DoctorTraces> ExamineArchive(Context& context, std::unique_ptr<ByteSource> source) {
  const std::string path = source->path();
  std::shared_ptr<TemporaryFile> copy;
  if (path == "-" || !source->CanReadAt()) {
    RS_ASSIGN_OR_RETURN(copy, SpooledInput::Copy(*source));
  }
  RS_ASSIGN_OR_RETURN(ZipArchive archive, ZipArchive::Open(copy ? copy->OwnName() : path, path));
  DoctorTraces traces;
  for (const ZipMember& member : FindTraces(archive)) {
    auto opened = archive.OpenMember(member);
    Result<DoctorTraces> sessions = opened ? ExamineTrace(context, *std::move(opened), std::nullopt)
                                           : tl::unexpected<Error>(std::move(opened).error());
    if (!sessions) {
      traces.push_back(UnreadableTrace(fmt::format("{}:{}", path, member.name), sessions.error()));
      continue;
    }
    for (DoctorTrace& trace : *sessions) {
      AddNext(trace, path, "doctor");
      traces.push_back(std::move(trace));
    }
  }
  if (traces.empty()) {
    return Fail(ErrorCode::kCorrupt,
                fmt::format("there is no Perfetto trace among the {} of the zip archive",
                            Count(archive.members().size(), "file")),
                {path, {}, {}});
  }
  return traces;
}

}  // namespace

bool IsLog(Context& context, const std::string& path) {
  if (path == "-") return false;
  const Result<KnownInput> input = OpenKnownInput(context, path);
  return input && input->kind == InputKind::kLog;
}

Result<DoctorTraces> ExamineInput(Context& context, const std::string& path,
                                  const ReplayChoices& choices, std::optional<uint64_t> session) {
  RS_ASSIGN_OR_RETURN(KnownInput input, OpenKnownInput(context, path));
  auto& [kind, start, source] = input;
  if (IsZip(wire::AsBytes(start))) return ExamineArchive(context, std::move(source));
  // An empty file is what its name says.
  const bool is_empty = start.empty();
  const bool is_log = kind == InputKind::kLog || (is_empty && IsLogName(path));
  // A format that is not known may be a damaged trace: its reader finds what is left of it. An
  // empty one is what a session leaves that never wrote anything.
  if (kind == InputKind::kEvents ||
      (kind == InputKind::kOther && !is_empty && !ContentWords(start).empty()))
    return ExamineOther(context, start, path);
  if (is_log)
    return ExamineLog(context, path, choices, session, path == "-" ? std::move(source) : nullptr);
  if (!choices.config.empty())
    context.console.Warn(
        fmt::format("{}: the config is not used: only a log can be replayed with "
                    "one; without a trace, --config checks it alone",
                    Printable(path)));
  RS_ASSIGN_OR_RETURN(DoctorTraces traces, ExamineTrace(context, std::move(source), session));
  // Other commands need packets.
  if (!is_empty)
    for (DoctorTrace& trace : traces) AddNext(trace, path, "doctor");
  return traces;
}

DoctorTrace Diagnosed(std::string file, Diagnosis diagnosis,
                      const std::optional<std::string>& config) {
  DoctorTrace trace{.file = std::move(file), .diagnosis = std::move(diagnosis)};
  const std::vector<ConfigChange> changes = ChangesOf(trace.diagnosis);
  if (config && !changes.empty())
    trace.config = ChangedConfig(ReusableConfig(wire::AsBytes(*config)), changes);
  return trace;
}

DoctorTrace DiagnosedConfig(const std::string& path, const ConfigFile& config) {
  DoctorTrace trace = Diagnosed(path, DiagnoseConfig(wire::AsBytes(config.bytes)), config.bytes);
  if (!trace.diagnosis.findings.empty())
    trace.diagnosis.answer.Add("Next", "ringscope doctor " + ShellWord(path));
  return trace;
}

DoctorTrace UnreadableTrace(std::string file, Error error) {
  if (error.where.path == file) error.where.path.clear();
  DoctorTrace trace{.file = std::move(file), .error = error.ToString()};
  trace.diagnosis.answer = {.severity = Harm::kError, .headline = *trace.error, .lines = {}};
  return trace;
}

void KeepRule(DoctorTrace& trace, const std::string& rule) {
  Diagnosis& diagnosis = trace.diagnosis;
  trace.config.reset();
  std::erase_if(diagnosis.findings,
                [&](const Finding& finding) { return finding.rule->id != rule; });
  if (trace.error) return;
  const bool is_found = !diagnosis.findings.empty();
  diagnosis.answer = {.severity = is_found ? diagnosis.findings.front().harm : Harm::kOk,
                      .headline = is_found ? diagnosis.findings.front().what.text
                                           : fmt::format("'{}' finds nothing here.", rule)};
}

ExitCode CodeOf(const DoctorTraces& traces) {
  const auto failed = std::ranges::count_if(
      traces, [](const DoctorTrace& trace) { return trace.error.has_value(); });
  if (!traces.empty() && failed == std::ssize(traces)) return ExitCode::kFailed;
  const bool any = std::ranges::any_of(traces, [](const DoctorTrace& trace) {
    return trace.diagnosis.answer.severity >= Harm::kWarning;
  });
  return any || failed > 0 ? ExitCode::kNotice : ExitCode::kClean;
}

}  // namespace ringscope
