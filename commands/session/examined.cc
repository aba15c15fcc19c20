#include "commands/session/examined.h"

#include <filesystem>
#include <mutex>

#include "commands/session/session_view.h"
#include "formats/descriptors/changed_config.h"
#include "formats/descriptors/descriptors.h"

namespace ringscope {

ExaminedSession::ExaminedSession(Context& context, SessionReader& sessions,
                                 const ReplayChoices& choices, PacketKinds* kinds)
    : sessions_(sessions),
      run_(context, sessions, choices),
      analysis_(run_.Add<GapAnalysis>(kinds)) {}

Result<Examination> ExaminedSession::Examine(std::optional<uint64_t> keep_ns) {
  LogEvidence log;
  RS_ASSIGN_OR_RETURN(log.outcome, run_.ToEnd());
  RS_RETURN_IF_ERROR(InFile(log.outcome.path, writer_.Finish()));
  log.gaps = analysis_.Finish(run_.totals());
  if (log.outcome.clone) RS_RETURN_IF_ERROR(FindPatchesAfterClone(log.gaps));
  accounts_.totals = run_.totals();
  log.notes = notes_;  // listeners that were added may still read them
  RS_ASSIGN_OR_RETURN(const RemedyList remedies, TriedRemedies(log, keep_ns));
  log.packets = std::move(packets_);
  log.needed = names_.Result();
  Examination examination = ExamineLog(std::move(log), scan_.Finish(), remedies);
  if (const auto changes = examination.changes(); !changes.empty() && !config_.empty())
    examination.changed_config = ChangedConfig(config_, changes);
  examination.own_config = std::move(config_);
  return examination;
}

/// The session's trace config as it was replayed, as text.
Result<std::string> ExaminedSession::Config(const ReplayOutcome& outcome) const {
  std::string text = run_.input().config_text;
  if (text.empty()) {
    RS_ASSIGN_OR_RETURN(const SessionIndex recorded,
                        sessions_.recording().Index(sessions_.place()));
    if (!recorded.config.empty()) text = ReusableConfig(wire::AsBytes(recorded.config));
  }
  std::vector<BufferOutcome> buffers = outcome.buffers;
  std::ranges::stable_sort(buffers, {}, &BufferOutcome::index);
  const bool has_config = !text.empty();
  std::vector<ConfigChange> changes;
  for (const BufferOutcome& buffer : buffers) {
    const uint64_t kb = (buffer.size + 1023) / 1024;
    const bool is_v2 = buffer.engine.starts_with("v2");
    if (!has_config) {
      text += fmt::format("buffers {{\n  size_kb: {}\n  fill_policy: {}\n{}}}\n", kb,
                          ConfigName(buffer.policy),
                          is_v2 ? "  experimental_mode: TRACE_BUFFER_V2\n" : "");
      continue;
    }
    const BufferChoice choice = run_.input().choices.session.ChoiceFor(buffer.id, buffer.index);
    const auto change = [&](bool is_chosen, const char* field, std::string value) {
      if (is_chosen)
        changes.push_back({fmt::format("buffers[{}].{}", buffer.index, field), std::move(value), "",
                           /*is_estimate=*/false});
    };
    change(choice.size.has_value(), "size_kb", std::to_string(kb));
    change(choice.policy.has_value(), "fill_policy", ConfigName(buffer.policy));
    change(choice.engine.has_value(), "experimental_mode",
           is_v2 ? "TRACE_BUFFER_V2" : "MODE_UNSPECIFIED");
  }
  return has_config ? ChangedConfig(text, changes) : text;
}

/// Finds what would have kept what the session lost, and tries it by replays. Of standard input,
/// which can be read only once, nothing.
Result<RemedyList> ExaminedSession::TriedRemedies(const LogEvidence& log,
                                                  std::optional<uint64_t> keep_ns) {
  const ReplayOutcome& outcome = log.outcome;
  if (sessions_.recording().is_read_once()) return RemedyList();
  RS_ASSIGN_OR_RETURN(std::string text, Config(outcome));
  RemedyConfig config;
  config.with = [&](const std::vector<ConfigChange>& changes) {
    return descriptors::Encode("TraceConfig", ChangedConfig(text, changes), "the config");
  };
  const auto untried = [&](const Error& error) {
    run_.context().console.Warn(fmt::format("{}: no change of its trace config can be tried: {}",
                                            outcome.path, error.ToString()));
    return RemedyList();
  };
  const Result<std::string> bytes = config.with({});
  if (!bytes) return untried(bytes.error());
  config.facts = ReadTraceConfigFacts(wire::AsBytes(*bytes));
  RemedyList remedies = FindRemedies({log.gaps, outcome, log.notes, config.facts}, keep_ns);
  ReplayInput changes = run_.input();
  if (!outcome.reads.left_nothing.empty())
    changes.recorded_reads =
        std::make_shared<RecordedReads>(RecordedReads{true, outcome.reads.left_nothing});
  if (outcome.reads.mode == ReadsMode::kRecorded)
    RS_RETURN_IF_ERROR(changes.ChangeBuffers(sessions_));
  RS_ASSIGN_OR_RETURN(SweepInput input,
                      SweepInputOf(run_.context(), sessions_, changes, "trying remedies in"));
  for (const BufferOutcome& buffer : outcome.buffers) {
    input.facts.buffers[buffer.id] = {buffer.size, buffer.policy, buffer.index};
    input.facts.has_programs |= !buffer.vms.empty();
  }
  if (accounts_.AreOfLargerToo()) input.accounts = &accounts_;
  ReplayOptions own = changes.choices;
  own.reads = changes.reads;
  if (const Status tried = TryRemedies(input, own, config, remedies); !tried)
    return untried(tried.error());
  SetPresentValues(text, remedies.changes);
  for (Remedy& remedy : remedies.remedies) SetPresentValues(text, remedy.changes);
  config_ = std::move(text);
  return remedies;
}

/// Finds the patches for which the clone's packets wait, or were overwritten, in the records after
/// the clone.
Status ExaminedSession::FindPatchesAfterClone(GapReport& report) {
  struct Wait {
    ChunkName chunk;
    std::optional<LogMoment>& patched;
    std::optional<LogMoment>& cloned;
  };
  std::vector<Wait> stalls;
  for (BufferGaps& buffer : report.buffers)
    for (SequenceGaps& sequence : buffer.sequences) {
      if (auto& stall = sequence.stall; stall && stall->cause == Cause::kWaitsForPatch)
        stalls.push_back({*stall->at, stall->patched, stall->cloned});
      for (Gap& gap : sequence.gaps)
        for (GapBlame& blame : gap.blamed)
          if (auto& stall = blame.stall; stall && !stall->patched)
            stalls.push_back({stall->chunk, stall->patched, stall->cloned});
    }
  if (stalls.empty() || sessions_.recording().is_read_once()) return {};
  RS_ASSIGN_OR_RETURN(const auto ops, sessions_.recording().Records(sessions_.place()));
  CommitRequestParser parser;
  LogMoment now{.record = 0, .time_ns = {}};
  std::optional<LogMoment> cloned;
  while (true) {
    RS_ASSIGN_OR_RETURN(const std::optional<Op> op, ops->Next());
    if (!op) return {};
    ++*now.record;
    if (op->time_ns) now.time_ns = op->time_ns;
    if (sessions_.clone()->IsEnd(*op)) cloned = now;
    const auto* commit = std::get_if<Commit>(&op->body);
    if (commit == nullptr || !cloned || !parser.Parse(commit->request)) continue;
    for (const ChunkToPatch& patch : parser.patches())
      for (Wait& stall : stalls)
        if (!stall.patched && !patch.more && patch.NameFor(commit->producer) == stall.chunk) {
          stall.patched = now;
          stall.cloned = cloned;
        }
  }
}

namespace {

/// Marks the changes of all findings in the config, if there is one.
void SetChangedConfig(Examination& examination) {
  const std::optional<std::string>& config = examination.subject.config;
  const std::vector<ConfigChange> changes = examination.changes();
  if (!config || changes.empty()) return;
  examination.own_config = ReusableConfig(wire::AsBytes(*config));
  examination.changed_config = ChangedConfig(examination.own_config, changes);
  for (Finding& finding : examination.findings)
    SetPresentValues(examination.own_config, finding.changes);
}

/// Names the command that reports more, and of a log the one that has all changes, if there are
/// any.
void AddNext(Examination& examination, const std::string& path, const char* command) {
  Answer& answer = examination.answer;
  if (answer.severity <= Harm::kInfo || IsStream(path)) return;
  std::string text = fmt::format("ringscope {} {}", command, ShellWord(path));
  if (examination.log && answer.has_change())
    text += fmt::format("; 'ringscope advise' has {}",
                        answer.more_changes == 0 ? "the config with the change"
                                                 : Count(answer.more_changes, "more change"));
  answer.Add("Next", std::move(text));
}

/// Reads a Perfetto trace by the rules of trace processor, with progress.
/// @param only this session of the file
Result<Examinations> ExamineTrace(Context& context, std::unique_ptr<ByteSource> source,
                                  std::optional<uint64_t> only) {
  const std::string path = source->path();
  Progress progress(context.console, fmt::format("examining {}", Printable(path)));
  const auto update = [&](uint64_t done, uint64_t total) { progress.Update(done, total); };
  RS_ASSIGN_OR_RETURN(ScannedTrace scanned, InFile(path, ScanTraceFile(std::move(source), update)));
  Examinations examinations;
  if (only && *only > scanned.sessions.size())
    return tl::unexpected(NoSession(*only, scanned.sessions.size(), path));
  for (TraceFacts& facts : scanned.sessions) {
    if (facts.session != only.value_or(facts.session)) continue;
    Examination& examination = examinations.emplace_back(ExamineTrace(std::move(facts)));
    examination.subject.file = path;
    SetChangedConfig(examination);
  }
  return examinations;
}

bool IsConfigName(std::string_view name) {
  constexpr std::string_view kSuffixes[] = {".pbtxt", ".textproto", ".txtpb", ".textpb"};
  return std::ranges::any_of(kSuffixes, [&](auto suffix) { return name.ends_with(suffix); });
}

/// Examines a file that is neither a trace nor a log: a trace config, or an error.
/// @param session that is asked for
Result<Examinations> ExamineOther(std::unique_ptr<ByteSource> source, const std::string& start,
                                  std::optional<uint64_t> session) {
  const std::string path = source->path(), words = ContentWords(start);
  std::string hint =
      "expected a Perfetto trace, plain or compressed by zstd or gzip, a zip archive of traces, a "
      "log, or a trace config";
  if (IsConfigName(path) || words.starts_with("a text file") ||
      words.starts_with("a trace config")) {
    auto config = ReadConfigFile(std::move(source));
    if (config && session) return tl::unexpected(NoSession(*session, 0, path));
    if (config) return Examinations{ExamineConfigFile(path, *config)};
    // A text that was meant as a trace config has an error in it.
    constexpr std::string_view kFields[] = {"data_sources", "buffers", "ftrace_config"};
    const auto has = [&](std::string_view field) { return start.find(field) != start.npos; };
    if (IsConfigName(path) || std::ranges::any_of(kFields, has))
      return tl::unexpected<Error>(std::move(config).error());
    config.error().where.path.clear();
    config.error().hint.clear();
    hint += "; as a trace config: " + config.error().ToString();
  }
  return tl::unexpected<Error>(WrongContent(start, path, "a trace or a log", std::move(hint)));
}

/// @param opened the log's bytes
Result<Examinations> ExamineLog(Context& context, const std::string& path,
                                const ReplayChoices& choices, std::optional<uint64_t> session,
                                std::unique_ptr<ByteSource> opened) {
  SessionReader sessions(context, {.paths = {path}, .only = session}, "replaying");
  sessions.recording().UseOpened(std::move(opened));
  RS_RETURN_IF_ERROR(sessions.recording().Spool());
  LogExaminations examinations(sessions);
  const auto examine = [&]() -> Result<ExitCode> {
    ExaminedSession examined(context, sessions, choices);
    RS_ASSIGN_OR_RETURN(Examination examination, examined.Examine());
    examinations.Add(std::move(examination));
    return ExitCode::kClean;
  };
  RS_RETURN_IF_ERROR(ForEachSession(sessions, examine));
  return examinations.Finish();
}

/// Examines a log, a trace or a trace config in an archive.
Result<Examinations> ExamineMember(Context& context, const ArchiveMember& member,
                                   const ReplayChoices& choices, std::optional<uint64_t> session) {
  RS_ASSIGN_OR_RETURN(std::unique_ptr<ByteSource> source, member.open());
  if (member.is_log()) {
    RS_RETURN_IF_ERROR(KeepCopy(*source, member.path));
    auto log = ExamineLog(context, member.path, choices, session, nullptr);
    RunFiles::SetCopy(member.path, nullptr);
    return log;
  }
  if (!member.is_trace()) {
    RS_ASSIGN_OR_RETURN(const std::string start, source->Peek(kKindBytes));
    return ExamineOther(std::move(source), start, session);
  }
  RS_ASSIGN_OR_RETURN(Examinations traces, ExamineTrace(context, std::move(source), session));
  for (Examination& trace : traces) AddNext(trace, member.path, "doctor");
  return traces;
}

/// Examines the traces and logs of an archive; of one that has none, its trace configs.
Result<Examinations> ExamineArchive(Context& context, std::unique_ptr<ByteSource> source,
                                    const ReplayChoices& choices, std::optional<uint64_t> session,
                                    std::vector<std::string>& passed_over) {
  const std::string path = source->path();
  RS_ASSIGN_OR_RETURN(const std::vector<ArchiveMember> members, MembersOf(std::move(source)));
  const auto is_taken = [](const ArchiveMember& one) { return one.is_trace() || one.is_log(); };
  const bool has_any = std::ranges::any_of(members, is_taken);
  Examinations all;
  for (const ArchiveMember& member : members) {
    if (!is_taken(member) && (has_any || !IsConfigName(member.path))) {
      passed_over.push_back(member.path);
      continue;
    }
    Result<Examinations> examined = ExamineMember(context, member, choices, session);
    // Reports in archives have other protobufs beside their traces.
    if (!examined && examined.error().code == ErrorCode::kUnsupported)
      passed_over.push_back(member.path);
    else if (!examined)
      all.push_back(Unreadable(member.path, examined.error()));
    else
      std::ranges::move(*examined, std::back_inserter(all));
  }
  if (all.empty()) return tl::unexpected<Error>(NoTraceIn(path, members));
  return all;
}

/// Adds a file, or all traces and logs of a folder; of one that has none, its trace configs.
Status AddPath(const std::string& path, std::vector<std::string>& paths,
               std::vector<std::string>& passed_over) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (!fs::is_directory(path, error)) {
    paths.push_back(path);
    RunFiles::AddInput(path);
    return {};
  }
  const size_t before = paths.size();
  const auto others = static_cast<std::ptrdiff_t>(passed_over.size());
  fs::recursive_directory_iterator entry(path, fs::directory_options::skip_permission_denied,
                                         error);
  const fs::recursive_directory_iterator end;
  if (entry == end) fs::directory_iterator(path, error);  // only folders in it may be unreadable
  for (; !error && entry != end; entry.increment(error)) {
    std::error_code ignored;
    const std::string name = entry->path().filename().string();
    if (!entry->is_regular_file(ignored)) continue;
    const bool is_taken = IsLogName(name) || IsTraceName(name) || IsArchiveName(name);
    (is_taken ? paths : passed_over).push_back(entry->path().lexically_normal().string());
  }
  if (error)
    return Fail(ErrorCode::kIo, fmt::format("cannot search the folder: {}", error.message()),
                {path, {}, {}});
  if (paths.size() == before) {
    const auto configs = std::stable_partition(passed_over.begin() + others, passed_over.end(),
                                               std::not_fn(IsConfigName));
    paths.insert(paths.end(), configs, passed_over.end());
    passed_over.erase(configs, passed_over.end());
  }
  if (paths.size() == before)
    return Fail(ErrorCode::kCorrupt,
                "the folder has no traces: no .pftrace, .perfetto-trace, .zip, .tblog, .ops.jsonl, "
                "nor configs (.pbtxt, .textproto)",
                {path, {}, {}});
  for (size_t i = before; i < paths.size(); ++i) RunFiles::AddInput(paths[i]);
  return {};
}

/// Examines all inputs, on all cores, each on one thread. An input that fails does not stop the
/// others.
Examinations ExamineAll(Context& context, const std::vector<std::string>& paths,
                        const ReplayChoices& choices, std::optional<uint64_t> session,
                        bool keeps_evidence, std::vector<std::string>& passed_over) {
  std::vector<Examinations> results(paths.size());
  std::vector<std::vector<std::string>> others(paths.size());  // members of archives
  size_t done = 0;
  std::mutex mutex;  // of the messages and the progress
  Progress progress(context.console, fmt::format("examining {}", Count(paths.size(), "file")),
                    "file");
  TasksOnCores(context)(paths.size(), [&](size_t at) {
    KeptText out, err;
    Streams streams{out, err, {}, true};
    {
      Console console(streams);
      console.Configure({.color = ColorMode::kNever, .quiet = context.console.options().quiet});
      Context own{console, 1};
      Result<Examinations> examined;
      try {
        examined = ExamineInput(own, paths[at], choices, session, others[at]);
      } catch (const std::exception& failed) {  // out of memory, mostly
        examined = Fail(ErrorCode::kLimit, fmt::format("cannot continue: {}", failed.what()));
      }
      if (!examined) examined = Examinations{Unreadable(paths[at], std::move(examined).error())};
      if (!keeps_evidence)
        for (Examination& examination : *examined) examination.ForgetEvidence();
      results[at] = *std::move(examined);
    }
    const std::lock_guard lock(mutex);
    if (!err.text.empty()) {
      static_cast<void>(context.console.Flush());
      static_cast<void>(context.console.streams().err.Write(err.text));
    }
    progress.Update(++done, paths.size());
  });
  Examinations all;
  for (Examinations& result : results) std::ranges::move(result, std::back_inserter(all));
  for (auto& members : others) std::ranges::move(members, std::back_inserter(passed_over));
  return all;
}

/// Examines a log together with the trace that came out of it: each shows what the other does not.
/// @return nullopt: the paths are not a log and its trace
std::optional<Examinations> ExaminePair(Context& context, const std::vector<std::string>& paths,
                                        const ReplayChoices& choices,
                                        std::optional<uint64_t> session) {
  std::vector<std::string> none;
  if (paths.size() != 2 || !choices.reads.like.empty()) return std::nullopt;
  const auto is_log = [&](const std::string& path) {
    const Result<KnownInput> input = OpenKnownInput(context, path);
    return input && input->kind == InputKind::kLog;
  };
  const bool is_first = is_log(paths[0]);
  if (is_first == is_log(paths[1])) return std::nullopt;
  ReplayChoices both = choices;
  both.reads.like = paths[is_first ? 1 : 0];
  KeptText ignored;
  Streams silent{context.console.streams().out, ignored, {}, true};
  Console console(silent);
  Context muted{console, context.threads, context.files};
  Result<Examinations> examined = ExamineInput(muted, paths[is_first ? 0 : 1], both, session, none);
  if (!examined) return std::nullopt;
  return *std::move(examined);
}

}  // namespace

void LogExaminations::Add(Examination examination) {
  const bool is_assumed = examination.log->outcome.reads.assumed;
  examination.answer.Add(is_assumed ? "Assumed" : "Replay", *examination.subject.replay);
  all_.push_back(std::move(examination));
  AddProblems();
}

void LogExaminations::AddProblems() {
  for (; problems_ < sessions_.reported().problems.size(); ++problems_) {
    const std::string& text = sessions_.reported().problems[problems_];
    all_.back().unknown.push_back(text);
    all_.back().answer.Add("Not complete", text);
  }
}

Result<Examinations> LogExaminations::Finish() {
  const std::string& path = sessions_.recording().named().front();
  if (all_.empty())
    return Fail(ErrorCode::kCorrupt, "the log has no session", {path, {}, {}},
                "see 'ringscope verify'");
  AddProblems();
  for (Examination& examination : all_) AddNext(examination, path, "gaps");
  return std::move(all_);
}

Result<Examinations> ExamineInput(Context& context, const std::string& path,
                                  const ReplayChoices& choices, std::optional<uint64_t> session,
                                  std::vector<std::string>& passed_over) {
  RS_ASSIGN_OR_RETURN(KnownInput input, OpenKnownInput(context, path));
  auto& [kind, start, source] = input;
  if (IsArchive(start))
    return ExamineArchive(context, std::move(source), choices, session, passed_over);
  // An empty file is what its name says.
  const bool is_empty = start.empty();
  const bool is_log = kind == InputKind::kLog || (is_empty && IsLogName(path));
  // A text of comments alone is of no kind by its content.
  if (IsConfigName(path)) return ExamineOther(std::move(source), start, session);
  // A format that is not known may be a damaged trace: its reader finds what is left of it. An
  // empty one is what a session leaves that never wrote anything.
  if (kind == InputKind::kEvents || kind == InputKind::kConfig ||
      (kind == InputKind::kOther && !is_empty && !ContentWords(start).empty()))
    return ExamineOther(std::move(source), start, session);
  if (is_log) return ExamineLog(context, path, choices, session, std::move(source));
  if (ChoosesAnything(choices) || !choices.config.empty())
    context.console.Warn(fmt::format(
        "{}: the options of a replay are not used: only a log can be replayed with them",
        Printable(path)));
  RS_ASSIGN_OR_RETURN(Examinations traces, ExamineTrace(context, std::move(source), session));
  // Other commands need packets.
  if (!is_empty)
    for (Examination& trace : traces) AddNext(trace, path, "doctor");
  return traces;
}

Examination ExamineConfigFile(const std::string& path, const ConfigFile& config) {
  Examination examination = ExamineConfig(config.bytes);
  examination.subject.file = path;
  SetChangedConfig(examination);
  if (!examination.findings.empty() && !IsStream(path))
    examination.answer.Add("Next", "ringscope doctor " + ShellWord(path));
  return examination;
}

Result<ExaminedInputs> ExamineInputs(Context& context, const std::vector<std::string>& inputs,
                                     const ReplayChoices& choices, std::optional<uint64_t> session,
                                     bool keeps_evidence) {
  std::vector<std::string> paths, passed_over;
  for (const std::string& path : inputs) RS_RETURN_IF_ERROR(AddPath(path, paths, passed_over));
  std::ranges::sort(passed_over);
  if (paths.size() > 1 && std::ranges::find(paths, "-") != paths.end())
    RS_RETURN_IF_ERROR(KeepStandardInput(context));
  if (paths.size() > 1) {
    paths = OnePathPerRecording(paths);
    std::ranges::sort(paths);
    paths.erase(std::unique(paths.begin(), paths.end()), paths.end());
  }
  ExaminedInputs examined;
  if (auto both = ExaminePair(context, paths, choices, session)) {
    examined.examinations = *std::move(both);
  } else if (paths.size() == 1) {
    RS_ASSIGN_OR_RETURN(
        examined.examinations,
        InFile(paths.front(), ExamineInput(context, paths.front(), choices, session, passed_over)));
  } else {
    examined = {
        ExamineAll(context, paths, choices, session, keeps_evidence, passed_over), true, {}};
  }
  examined.passed_over = std::move(passed_over);
  return examined;
}

std::string PassedOverText(std::vector<std::string> names) {
  constexpr size_t kNamed = 3;
  const size_t count = names.size();
  if (count > kNamed) names.resize(kNamed);
  return fmt::format(
      "{} {} passed over: {}{}", Count(count, "file"),
      count == 1 ? "is neither a trace nor a log and was" : "are neither traces nor logs and were",
      Printable(Joined(names)), count > kNamed ? ", ..." : "");
}

}  // namespace ringscope
