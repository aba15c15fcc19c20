#include "core/examine/examination.h"
#include "core/examine/loss_words.h"
#include "core/findings/examiner.h"
#include "core/session/read_policy.h"

namespace ringscope {
namespace {

void SetConfig(Subject& subject, const std::optional<std::string>& config) {
  if (!config) return;
  subject.config = config;
  subject.facts = ReadTraceConfigFacts(wire::AsBytes(*config));
  for (size_t i = 0; i < subject.facts.buffers.size(); ++i)
    subject.sizes.try_emplace(static_cast<uint32_t>(i), subject.facts.buffers[i].size_kb * 1024);
}

/// Names the processes of a replayed trace as the log does, if no packet of it names them.
void NameProducers(const LogEvidence& log, TraceFacts& facts) {
  std::map<uint32_t, std::string> names;  // by the sequence's id in the trace
  for (const BufferGaps& buffer : log.gaps.buffers)
    for (const SequenceGaps& sequence : buffer.sequences)
      names[log.notes.TraceIdOf(sequence.sequence)] = log.notes.ProducerOf(sequence.sequence);
  for (const TraceSequence& sequence : facts.sequences)
    if (const auto name = names.find(sequence.id);
        name != names.end() && !name->second.empty() && sequence.pid)
      facts.process_names.try_emplace(*sequence.pid, name->second);
}

void SetSubject(const LogEvidence& log, Subject& subject) {
  const ReplayOutcome& outcome = log.outcome;
  subject.file = outcome.path;
  subject.session = outcome.session;
  subject.is_only_session = outcome.is_only_session;
  if (outcome.first_time_ns)
    subject.time = TimeSpan{SignedNs(std::min(log.notes.start_ns(), outcome.end_ns())),
                            SignedNs(outcome.end_ns())};
  std::set<std::string> engines;
  for (const BufferOutcome& buffer : outcome.buffers) {
    engines.insert(buffer.engine);
    subject.sizes[buffer.index] = buffer.size;
  }
  subject.replay =
      fmt::format("{}{}buffers read {}", Joined({engines.begin(), engines.end()}, " and "),
                  engines.empty() ? "" : ", ", ReadsText(outcome.reads));
}

ReplayFacts FactsForRules(const Examination& examination) {
  const LogEvidence& log = *examination.log;
  const RemedyList& remedies = examination.remedies;
  ReplayFacts facts{
      .session = examination.subject.time,
      .missed_flushes = MissedFlushes(log.outcome, log.notes),
      .keeps_all = remedies.together && remedies.together->loses_nothing(remedies.now)};
  for (const BufferOutcome& buffer : log.outcome.buffers) {
    ReplayedBuffer& replayed = facts.buffers[buffer.index];
    replayed.policy = buffer.policy;
    if (const Reach* const reach = FindIn(examination.reach, buffer.index)) replayed.reach = *reach;
    if (const Remedy* const size = FindSizeRemedy(remedies.remedies, buffer.id))
      replayed.size = size->changes.front();
    replayed.no_size_helps = remedies.is_tried && !replayed.size;
    if (const BufferGaps* const gaps = log.gaps.Find(buffer.id)) {
      replayed.missed_patches = gaps->patches_failed > 0;
      replayed.lost_violations = gaps->abi_violations > 0;
    }
  }
  return facts;
}

/// Returns true for a setting of a data source or producer that the session was recorded without:
/// what was lost does not show how the new value does.
bool IsRecordedOtherwise(const ConfigChange& change, const ReadsUsed& reads) {
  return std::ranges::any_of(reads.not_applied, [&](const std::string& setting) {
    const std::string path = setting.substr(0, setting.find(' '));
    return (path == "producers" || path.starts_with("data_sources[")) &&
           change.path.starts_with(path);
  });
}

std::vector<Finding> FindLosses(const Examination& examination, const LogLosses& losses) {
  const LogEvidence& log = *examination.log;
  Examiner examiner(*examination.trace);
  const auto add = [&](const char* rule, const Sentence& what, uint64_t weight) -> Finding& {
    return examiner.Add(rule, what,
                        {.proof = "The replay of the log, packet by packet.", .weight = weight});
  };
  if (!log.gaps.stale.empty()) add("log.stale", losses.stale, log.gaps.stale.size());
  const std::vector<std::string_view> registered(log.notes.registered().begin(),
                                                 log.notes.registered().end());
  for (const std::string& name : log.notes.UnknownSources()) {
    const std::optional<std::string_view> nearest = NearestName(name, registered);
    add("log.unknown_source",
        Say("No producer registered the data source '{}'{}", Printable(name),
            nearest ? fmt::format("; did you mean '{}'?", Printable(*nearest)) : "."),
        0);
  }
  if (losses.any()) {
    Finding& finding = add("log.lost", losses.headline, losses.lost + losses.places);
    finding.where = Say("by sequence: {}", losses.losers);
    finding.cause = Say("{}.", losses.why);
    if (!losses.needed.empty()) finding.cause += Say(" {}.", losses.needed);
    std::vector<std::string> texts = RemedyTexts(examination.remedies, log.notes);
    std::ranges::move(OtherTexts(log.gaps, examination.remedies), std::back_inserter(texts));
    if (std::string tried = Joined(texts, " "); !tried.empty())
      finding.remedy = std::move(tried);
    else if (examination.remedies.is_tried)
      finding.remedy =
          "No change of the config is known to help: 'ringscope gaps' has the cause of each gap.";
    finding.changes = examination.remedies.changes;
  }
  if (losses.waiting > 0)
    add("log.waiting", losses.waiting_headline, losses.waiting).where = losses.still_there;
  if (const auto& wrong = log.gaps.wrong_patches; !wrong.empty()) {
    const ChunkName& chunk = wrong.front().chunk;
    Finding& finding = add(
        "buffer.abi_violations",
        Say("{} changed what {} writer had completed.",
            Number("wrong_patches", wrong.size(), "patch"), wrong.size() == 1 ? "its" : "their"),
        wrong.size());
    finding.harm = Harm::kWarning;
    finding.where = Say("{}chunk #{} of {}", wrong.size() == 1 ? "" : "first in ", Raw(chunk.chunk),
                        log.notes.NameOf(chunk.sequence));
    finding.cause =
        "A patch is only for the last fragment of its chunk, while its packet continues in the "
        "next one.";
  }
  if (!losses.any() && losses.waiting == 0 && !losses.signs.empty())
    add("log.signs", losses.headline, 0).proof = losses.signs;
  return std::move(examiner.findings);
}

/// Gives each sequence that no statistics list, as those of older services or of the middle of the
/// session, the only buffer that it can have been in, by the config and its data source.
void AssignBuffers(const TraceConfigFacts& config, TraceFacts& facts) {
  if (facts.appended_packets() > 0) return;  // which were in no buffer
  for (TraceSequence& sequence : facts.sequences) {
    if (sequence.buffer || sequence.machine != 0 || !sequence.is_of_producer()) continue;
    const std::string name = SourceOf(sequence, config);
    std::set<uint64_t> buffers;
    for (const ConfiguredSource& source : config.sources)
      if (name.empty() || source.name == name) buffers.insert(source.target_buffer);
    if (config.buffers.size() == 1) buffers = {0};
    if (buffers.size() == 1 && *buffers.begin() < config.buffers.size())
      sequence.buffer = static_cast<uint32_t>(*buffers.begin());
  }
}

}  // namespace

std::vector<ConfigChange> Examination::changes() const {
  std::vector<ConfigChange> changes = remedies.changes;
  // A replay has tried the changes of a buffer: no finding adds to these.
  const auto is_changed = [&](const std::string& path) {
    const std::string buffer = path.substr(0, path.starts_with("buffers[") ? path.find('.') : 0);
    return Contains(changes, path, &ConfigChange::path) ||
           std::ranges::any_of(remedies.changes, [&](const ConfigChange& one) {
             return !buffer.empty() && one.path.starts_with(buffer + ".");
           });
  };
  for (const Finding& finding : findings)
    for (const ConfigChange& change : finding.changes)
      if (!is_changed(change.path) && !change.is_alternative &&
          (!log || finding.harm > Harm::kInfo))
        changes.push_back(change);
  return changes;
}

void Examination::ForgetEvidence() {
  holes.clear();
  log.reset();
  trace.reset();
}

Examination ExamineTrace(TraceFacts facts) {
  Examination examination;
  Subject& subject = examination.subject;
  SetConfig(subject, facts.config);
  AssignBuffers(subject.facts, facts);
  subject.time = SessionOf(facts);
  subject.is_only_session = facts.sessions == 1;
  if (facts.sessions > 1) subject.session = facts.session;
  examination.account = AccountOf(facts, subject.facts);
  const Examiner examiner(facts);
  for (size_t i = 0; i < facts.buffers.size(); ++i)
    if (const auto reach = ReachOf(examiner, i))
      examination.reach[static_cast<uint32_t>(i)] = *reach;
  static_cast<Problems&>(examination) = FindProblems(facts);
  examination.trace = std::move(facts);
  examination.holes = HolesOfTrace(examination);
  examination.answer = AnswerOf(examination);
  return examination;
}

Examination ExamineLog(LogEvidence evidence, TraceFacts facts, RemedyList remedies) {
  Examination examination;
  const auto log = std::make_shared<const LogEvidence>(std::move(evidence));
  examination.log = log;
  examination.remedies = std::move(remedies);
  NameProducers(*log, facts);
  SetConfig(examination.subject, facts.config);
  SetSubject(*log, examination.subject);
  std::vector<const SequenceGaps*> sequences;
  for (const BufferGaps& buffer : log->gaps.buffers) {
    for (const SequenceGaps& sequence : buffer.sequences) sequences.push_back(&sequence);
    const BufferOutcome* const outcome = log->outcome.Find(buffer.id);
    if (const auto reach = examination.subject.time
                               ? ReachOf(log->gaps, buffer, *examination.subject.time)
                               : std::nullopt;
        reach && outcome != nullptr)
      examination.reach[outcome->index] = *reach;
  }
  examination.account = AccountOf(sequences, log->notes, log->outcome, log->gaps.reports());
  examination.trace = std::move(facts);
  const LogLosses losses = LossesOf(examination);
  ReplayFacts replayed = FactsForRules(examination);
  replayed.findings = FindLosses(examination, losses);
  static_cast<Problems&>(examination) = FindProblems(*examination.trace, &replayed);
  for (Finding& finding : examination.findings)
    std::erase_if(finding.changes, [&](const ConfigChange& change) {
      return IsRecordedOtherwise(change, log->outcome.reads);
    });
  for (std::string text : {ReadsNotes(log->outcome.reads), InexactText(log->outcome.verdicts)})
    if (!text.empty()) examination.unknown.push_back(std::move(text));
  examination.holes = HolesOfLog(examination);
  examination.answer = AnswerOf(examination, &losses);
  return examination;
}

Examination ExamineConfig(std::string config) {
  Examination examination;
  static_cast<Problems&>(examination) = FindProblemsOfConfig(wire::AsBytes(config));
  examination.subject.is_config = true;
  SetConfig(examination.subject, std::move(config));
  examination.answer = AnswerOf(examination);
  return examination;
}

Examination Unreadable(std::string file, Error error) {
  Examination examination;
  if (error.where.path == file) error.where.path.clear();
  examination.subject.file = std::move(file);
  examination.error = error.ToString();
  examination.answer = {.severity = Harm::kError, .headline = *examination.error};
  return examination;
}

void KeepRule(Examination& examination, const std::string& rule) {
  examination.changed_config.reset();
  std::erase_if(examination.findings,
                [&](const Finding& finding) { return finding.rule->id != rule; });
  if (examination.error) return;
  const std::vector<Finding>& findings = examination.findings;
  examination.answer = {.severity = findings.empty() ? Harm::kOk : findings.front().harm,
                        .headline = findings.empty() ? fmt::format("'{}' finds nothing here.", rule)
                                                     : findings.front().what.text};
}

}  // namespace ringscope
