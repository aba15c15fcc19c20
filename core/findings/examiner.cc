#include "core/findings/examiner.h"

#include "core/perfetto/clocks.h"

namespace ringscope {

Examiner::Examiner(const TraceFacts& trace, const ReplayFacts* replayed)
    : facts(trace),
      replay(replayed),
      config(ReadTraceConfigFacts(trace.config ? wire::AsBytes(*trace.config) : Bytes())),
      session(replayed != nullptr && replayed->session ? replayed->session : SessionOf(trace)) {}

std::optional<TimeSpan> SessionOf(const TraceFacts& facts) {
  // Of services before their events there are only clock snapshots, which are never overwritten.
  const std::optional<TimeSpan> known = facts.lifetime ? facts.lifetime
                                        : facts.trace_clock == kBootTime || !facts.all.span
                                            ? facts.snapshot_span
                                            : std::nullopt;
  if (!known) return facts.all.span;
  if (!facts.all.span) return known;
  if (facts.lifetime && known->length_ns() > 0) return known;
  const TimeSpan& events = *facts.all.span;
  // Alone it is the start, unless all events are older.
  const bool is_end = known->last_ns >= events.last_ns && known->length_ns() == 0;
  return TimeSpan{is_end ? events.first_ns : known->first_ns,
                  std::max(events.last_ns, known->last_ns)};
}

bool Examiner::IsStreamed() const {
  if (!config.IsStreamed()) return false;
  if (!session || HasLengthOfPeriod()) return true;
  // The length is an estimate: what a single read takes fits into the buffer.
  return std::ranges::any_of(facts.buffers, [](const TraceBuffer& buffer) {
    return buffer.stats.bytes_read > buffer.stats.buffer_size;
  });
}

bool Examiner::HasLengthOfPeriod() const {
  return session && static_cast<uint64_t>(session->length_ns()) >= config.PeriodNs();
}

Finding& Examiner::Add(const char* id, Sentence what, Finding parts) {
  parts.rule = &RuleOf(id);
  if (parts.harm == Harm::kOk) parts.harm = parts.rule->harm;
  if (parts.remedy.empty()) parts.remedy = parts.rule->remedy;
  parts.what = std::move(what);
  return findings.emplace_back(std::move(parts));
}

std::string FirstOf(const std::vector<std::string>& names, size_t most) {
  const auto last = names.begin() + static_cast<std::ptrdiff_t>(std::min(names.size(), most));
  return Joined({names.begin(), last}) + (names.size() > most ? ", ..." : "");
}

Figures Finding::figures() const {
  Sentence all;
  for (const Sentence* part : {&what, &where, &cause, &proof, &remedy}) all += *part;
  return std::move(all.figures);
}

const ReplayedBuffer* ReplayedOf(const Examiner& examiner, size_t index) {
  if (examiner.replay == nullptr) return nullptr;
  return FindIn(examiner.replay->buffers, static_cast<uint32_t>(index));
}

std::string BufferName(const TraceConfigFacts& config, size_t index) {
  const std::string name =
      index < config.buffers.size() ? Printable(config.buffers[index].name) : "";
  return name.empty() ? fmt::format("buffers[{}]", index)
                      : fmt::format("buffers[{}] ({})", index, name);
}

SequenceStages TitleOf(const TraceFacts& facts, const TraceConfigFacts& config,
                       const TraceSequence& sequence) {
  const int32_t pid = sequence.own_pid.value_or(sequence.pid.value_or(0));
  const std::string* const process = FindIn(facts.process_names, pid);
  SequenceStages title;
  title.process = {process == nullptr ? "" : Printable(*process), pid, sequence.machine};
  title.thread = Printable(sequence.thread_name);
  title.id = sequence.id;
  title.track = sequence.track;
  title.buffer = sequence.buffer ? BufferName(config, *sequence.buffer) : "";
  title.source = Printable(SourceOf(sequence, config));
  return title;
}

std::string SequenceName(const Examiner& examiner, const TraceSequence& sequence) {
  return NameOf(TitleOf(examiner.facts, examiner.config, sequence));
}

Sentence TimeOf(const Examiner& examiner, const char* name, int64_t ns) {
  return Time(name, ns - (examiner.session ? examiner.session->first_ns : 0));
}

Sentence SpanText(const Examiner& examiner, const TimeSpan& span) {
  const Sentence first = TimeOf(examiner, "first_ns", span.first_ns);
  if (span.first_ns == span.last_ns) return Say("at {}", first);
  return Say("from {} to {}", first, TimeOf(examiner, "last_ns", span.last_ns));
}

std::optional<Reach> ReachOf(const Examiner& examiner, size_t index) {
  if (examiner.is_of_log()) {
    const ReplayedBuffer* const replayed = ReplayedOf(examiner, index);
    return replayed == nullptr ? std::nullopt : replayed->reach;
  }
  if (!examiner.session || examiner.IsStreamed()) return std::nullopt;
  return ReachOf(examiner.facts, index, *examiner.session);
}

std::optional<uint64_t> ShortestHeldNs(const Examiner& examiner) {
  const bool is_streamed = !examiner.is_of_log() && examiner.IsStreamed();
  std::optional<uint64_t> shortest;
  for (size_t i = 0; i < examiner.facts.buffers.size(); ++i) {
    const BufferStats& stats = examiner.facts.buffers[i].stats;
    const std::optional<Reach> reach =
        !is_streamed ? ReachOf(examiner, i)
        : examiner.HasLengthOfPeriod() && stats.chunks_overwritten > 0
            ? ReachByRate(stats, *examiner.session)
            : std::nullopt;
    if (reach) shortest = std::min(shortest.value_or(UINT64_MAX), reach->held_ns());
  }
  return shortest;
}

bool SizesKeepAll(const Examiner& examiner) {
  if (examiner.is_of_log()) return examiner.replay->keeps_all;
  bool is_ring = false;
  for (size_t i = 0; i < examiner.facts.buffers.size(); ++i) {
    if (examiner.facts.buffers[i].stats.chunks_overwritten == 0) continue;
    is_ring = true;
    const std::string path = fmt::format("buffers[{}].size_kb", i);
    if (std::ranges::none_of(examiner.findings, [&](const Finding& finding) {
          return Contains(finding.changes, path, &ConfigChange::path);
        }))
      return false;
  }
  return is_ring;
}

bool AddClearPeriod(const Examiner& examiner, std::optional<uint64_t> held_ns, Finding& finding) {
  const ClearPeriod period = ClearPeriodFor(held_ns, examiner.config);
  if (period.ms == 0) {
    finding.remedy = Say(
        "A larger buffer: the present one holds only the last {}, too little even if the state is "
        "repeated.",
        Time("reach_ns", held_ns.value_or(0)));
    return false;
  }
  if (period.reason.empty()) return true;
  AddFigures(finding.remedy.figures, period.reason);
  finding.changes.push_back({.path = kClearPeriodPath,
                             .value = std::to_string(period.ms),
                             .reason = period.reason.text,
                             .is_estimate = true,
                             .is_alternative = SizesKeepAll(examiner)});
  return true;
}

}  // namespace ringscope
