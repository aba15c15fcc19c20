#include "core/doctor/examiner.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/text.h"
#include "core/base/wire.h"

namespace ringscope {

Examiner::Examiner(const TraceFacts& trace, const ReplayFacts* replayed)
    : facts(trace),
      replay(replayed),
      config(ReadTraceConfigFacts(trace.config ? wire::AsBytes(*trace.config) : Bytes())),
      session_(trace.all.span) {
  if (replay != nullptr && replay->session) {
    session_ = replay->session;
  } else if (trace.lifetime) {
    AddTo(session_, trace.lifetime->first_ns);
    AddTo(session_, trace.lifetime->last_ns);
  }
}

Finding& Examiner::Add(const char* id, Sentence what, Finding parts) {
  parts.rule = &RuleOf(id);
  if (parts.harm == Harm::kOk) parts.harm = parts.rule->harm;
  if (parts.remedy.empty()) parts.remedy = parts.rule->remedy;
  parts.what = std::move(what);
  return findings.emplace_back(std::move(parts));
}

void Examiner::SetMachine(Finding& finding, uint32_t machine) {
  finding.where = Say("machine {}{}{}", machine, finding.where.empty() ? "" : ": ", finding.where);
}

bool Examiner::HasFound(std::string_view rule) const {
  return std::ranges::any_of(findings,
                             [&](const Finding& finding) { return finding.rule->id == rule; });
}

Figures Finding::figures() const {
  Sentence all;
  for (const Sentence* part : {&what, &where, &cause, &proof, &remedy}) all += *part;
  return std::move(all.figures);
}

const ReplayedBuffer* ReplayedOf(const Examiner& examiner, size_t index) {
  if (examiner.replay == nullptr) return nullptr;
  const auto found = examiner.replay->buffers.find(static_cast<uint32_t>(index));
  return found == examiner.replay->buffers.end() ? nullptr : &found->second;
}

std::string BufferName(const Examiner& examiner, size_t index) {
  const auto& buffers = examiner.config.buffers;
  const std::string name = index < buffers.size() ? Printable(buffers[index].name) : "";
  return name.empty() ? fmt::format("buffers[{}]", index)
                      : fmt::format("buffers[{}] ({})", index, name);
}

Sentence StandaloneText(const Examiner& examiner, const Finding& finding) {
  const std::string buffer = finding.where.text.substr(0, finding.where.text.find(';'));
  if (examiner.facts.buffers.size() < 2 || !buffer.starts_with("buffers[")) return finding.what;
  return Say("{}: {}", buffer, finding.what);
}

std::string WriterName(const Examiner& examiner, const TraceSequence& sequence) {
  std::vector<std::string> parts;
  const auto& processes = examiner.facts.process_names;
  const auto process = sequence.pid ? processes.find(*sequence.pid) : processes.end();
  if (process != processes.end())
    parts.push_back(Printable(process->second));
  else if (sequence.pid)
    parts.push_back(fmt::format("pid {}", *sequence.pid));
  if (!sequence.thread_name.empty()) parts.push_back("thread " + Printable(sequence.thread_name));
  if (sequence.machine != 0) parts.push_back(fmt::format("machine {}", sequence.machine));
  return Joined(parts);
}

std::string SequenceName(const Examiner& examiner, const TraceSequence& sequence) {
  const std::string who = WriterName(examiner, sequence);
  return who.empty() ? fmt::format("sequence {}", sequence.id)
                     : fmt::format("sequence {} ({})", sequence.id, who);
}

Sentence TimeOf(const Examiner& examiner, const char* name, int64_t ns) {
  return Time(name, ns - (examiner.session() ? examiner.session()->first_ns : 0));
}

Sentence SpanText(const Examiner& examiner, const TimeSpan& span) {
  const Sentence first = TimeOf(examiner, "first_ns", span.first_ns);
  if (span.first_ns == span.last_ns) return Say("at {}", first);
  return Say("from {} to {}", first, TimeOf(examiner, "last_ns", span.last_ns));
}

std::optional<uint64_t> ReachNs(const TraceBuffer& buffer, const Examiner& examiner) {
  const BufferStats& stats = buffer.stats;
  if (!examiner.session() || stats.bytes_written == 0 || stats.buffer_size == 0)
    return std::nullopt;
  return static_cast<uint64_t>(
      static_cast<double>(examiner.session()->length_ns()) *
      (static_cast<double>(stats.buffer_size) / static_cast<double>(stats.bytes_written)));
}

std::optional<uint64_t> ShortestReachNs(const Examiner& examiner) {
  std::optional<uint64_t> reach_ns;
  for (const TraceBuffer& buffer : examiner.facts.buffers)
    if (const auto ns = ReachNs(buffer, examiner); ns && buffer.stats.chunks_overwritten > 0)
      reach_ns = std::min(reach_ns.value_or(UINT64_MAX), *ns);
  return reach_ns;
}

bool AddClearPeriod(const Examiner& examiner, std::optional<uint64_t> reach_ns, Finding& finding) {
  constexpr uint64_t kNsPerMs = 1'000'000, kShortestMs = 50;
  uint64_t ms = kUsualClearPeriodMs;
  if (reach_ns)
    ms = ClearPeriodFor(*reach_ns) / kNsPerMs;
  else if (const uint64_t duration_ms = examiner.config.duration_ms.value_or(0); duration_ms > 0)
    ms = std::clamp(duration_ms / 10, kShortestMs, kUsualClearPeriodMs);
  if (ms == 0) {
    finding.remedy = Say(
        "A larger buffer: the present one holds only the last {}, too little even if the state is "
        "repeated.",
        Time("reach_ns", *reach_ns));
    return false;
  }
  const uint64_t today = examiner.config.clear_period_ms.value_or(0);
  if (today > 0 && today <= ms) return true;
  const Sentence reason =
      Say("producers repeat their state, so that a loss costs at most {}{}",
          Time("lost_at_most_ns", ms * kNsPerMs),
          reach_ns ? Say(", a tenth of the {} that the ring holds", Time("reach_ns", *reach_ns))
                   : "; how long the ring holds is not known");
  AddFigures(finding.remedy.figures, reason);
  finding.changes.push_back(
      {"incremental_state_config.clear_period_ms", std::to_string(ms), reason.text, true});
  return true;
}

}  // namespace ringscope
