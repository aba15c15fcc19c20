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

Finding& Examiner::Add(const char* id, std::string what, Finding parts) {
  parts.rule = &RuleOf(id);
  if (parts.harm == Harm::kOk) parts.harm = parts.rule->harm;
  if (parts.remedy.empty()) parts.remedy = parts.rule->remedy;
  parts.what = std::move(what);
  return findings.emplace_back(std::move(parts));
}

void Examiner::SetMachine(Finding& finding, uint32_t machine) {
  finding.where =
      fmt::format("machine {}{}{}", machine, finding.where.empty() ? "" : ": ", finding.where);
}

bool Examiner::HasFound(std::string_view rule) const {
  return std::ranges::any_of(findings,
                             [&](const Finding& finding) { return finding.rule->id == rule; });
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

std::string StandaloneText(const Examiner& examiner, const Finding& finding) {
  const std::string buffer = finding.where.substr(0, finding.where.find(';'));
  if (examiner.facts.buffers.size() < 2 || !buffer.starts_with("buffers[")) return finding.what;
  return fmt::format("{}: {}", buffer, finding.what);
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

std::string TimeText(const Examiner& examiner, int64_t ns) {
  const int64_t start = examiner.session() ? examiner.session()->first_ns : 0;
  return ns < start ? "-" + HumanDuration(static_cast<uint64_t>(start - ns))
                    : HumanDuration(static_cast<uint64_t>(ns - start));
}

std::string SpanText(const Examiner& examiner, const TimeSpan& span) {
  if (span.first_ns == span.last_ns) return "at " + TimeText(examiner, span.first_ns);
  return fmt::format("from {} to {}", TimeText(examiner, span.first_ns),
                     TimeText(examiner, span.last_ns));
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
    finding.remedy = fmt::format(
        "A larger buffer: the present one holds only the last {}, too little even if the state is "
        "repeated.",
        HumanDuration(*reach_ns));
    return false;
  }
  if (const uint64_t today = examiner.config.clear_period_ms.value_or(0); today == 0 || today > ms)
    finding.changes.push_back(
        {"incremental_state_config.clear_period_ms", std::to_string(ms),
         fmt::format("producers repeat their state, so that a loss costs at most {}{}",
                     HumanDuration(ms * kNsPerMs),
                     reach_ns ? fmt::format(", a tenth of the {} that the ring holds",
                                            HumanDuration(*reach_ns))
                              : "; how long the ring holds is not known"),
         true});
  return true;
}

}  // namespace ringscope
