#include "core/doctor/examiner.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/text.h"
#include "core/base/wire.h"
#include "core/perfetto/fields.h"

namespace ringscope {

Examiner::Examiner(const TraceFacts& trace, const ReplayFacts* replayed)
    : facts(trace),
      replay(replayed),
      config(ReadTraceConfigFacts(trace.config ? wire::AsBytes(*trace.config) : Bytes())),
      session_(trace.all.span) {
  if (replay != nullptr && replay->session) {
    session_ = replay->session;
    return;
  }
  for (const ServiceMoment& moment : trace.moments)
    if (moment.event == proto::ServiceEvent::kTracingStarted ||
        moment.event == proto::ServiceEvent::kTracingDisabled)
      AddTo(session_, moment.ns);
}

Finding& Examiner::Add(const char* rule, std::string what) {
  Finding& finding = findings_.emplace_back();
  finding.rule = &RuleOf(rule);
  finding.harm = finding.rule->harm;
  finding.what = std::move(what);
  finding.remedy = finding.rule->remedy;
  return finding;
}

void Examiner::SetMachine(Finding& finding, uint32_t machine) {
  finding.where =
      fmt::format("machine {}{}{}", machine, finding.where.empty() ? "" : ": ", finding.where);
}

bool Examiner::HasFound(std::string_view rule) const {
  return std::ranges::any_of(findings_,
                             [&](const Finding& finding) { return finding.rule->id == rule; });
}

const ReplayedBuffer* ReplayedOf(const Examiner& examiner, size_t index) {
  if (examiner.replay == nullptr) return nullptr;
  const auto found = examiner.replay->buffers.find(static_cast<uint32_t>(index));
  return found == examiner.replay->buffers.end() ? nullptr : &found->second;
}

std::string BufferName(const Examiner& examiner, size_t index) {
  const ReplayedBuffer* const replayed = ReplayedOf(examiner, index);
  const uint64_t number = replayed != nullptr ? Raw(replayed->id) : index;
  const auto& buffers = examiner.config.buffers;
  const std::string name = index < buffers.size() ? Printable(buffers[index].name) : "";
  return name.empty() ? fmt::format("buffer {}", number)
                      : fmt::format("buffer {} ({})", number, name);
}

std::string StandaloneText(const Examiner& examiner, const Finding& finding) {
  const std::string buffer = finding.where.substr(0, finding.where.find(';'));
  if (examiner.facts.buffers.size() < 2 || !buffer.starts_with("buffer ")) return finding.what;
  return fmt::format("B{}: {}", buffer.substr(1), finding.what);
}

std::string WriterName(const Examiner& examiner, const TraceSequence& sequence) {
  std::string who;
  const auto& processes = examiner.facts.process_names;
  const auto process = sequence.pid ? processes.find(*sequence.pid) : processes.end();
  if (process != processes.end())
    who = Printable(process->second);
  else if (sequence.pid)
    who = fmt::format("pid {}", *sequence.pid);
  if (!sequence.thread_name.empty())
    who += fmt::format("{}thread {}", who.empty() ? "" : ", ", Printable(sequence.thread_name));
  if (sequence.machine != 0)
    who += fmt::format("{}machine {}", who.empty() ? "" : ", ", sequence.machine);
  return who;
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

std::optional<uint64_t> ReachNs(const TraceBuffer& buffer, const Examiner& examiner) {
  if (!examiner.session() || buffer.stats.bytes_written == 0 || buffer.stats.buffer_size == 0)
    return std::nullopt;
  const auto length = static_cast<double>(examiner.session()->length_ns());
  const double share = static_cast<double>(buffer.stats.buffer_size) /
                       static_cast<double>(buffer.stats.bytes_written);
  return static_cast<uint64_t>(length * share);
}

uint64_t UsualClearPeriodMs(const TraceConfigFacts& config) {
  constexpr uint64_t kShortestMs = 50;
  if (!config.duration_ms || *config.duration_ms == 0) return kUsualClearPeriodMs;
  return std::clamp(*config.duration_ms / 10, kShortestMs, kUsualClearPeriodMs);
}

std::string PeriodOrigin(std::optional<uint64_t> reach_ns) {
  return reach_ns ? fmt::format(", a tenth of the {} that the ring holds", HumanDuration(*reach_ns))
                  : "; how long the ring holds is not known";
}

std::optional<uint64_t> ShortestReachNs(const Examiner& examiner) {
  std::optional<uint64_t> reach_ns;
  for (const TraceBuffer& buffer : examiner.facts.buffers)
    if (const auto ns = ReachNs(buffer, examiner); ns && buffer.stats.chunks_overwritten > 0)
      reach_ns = std::min(reach_ns.value_or(UINT64_MAX), *ns);
  return reach_ns;
}

std::optional<ConfigChange> RepeatedState(const Examiner& examiner) {
  if (!examiner.has_config()) return std::nullopt;
  const std::optional<uint64_t> reach_ns = ShortestReachNs(examiner);
  const uint64_t ms =
      reach_ns ? ClearPeriodFor(*reach_ns) / 1'000'000 : UsualClearPeriodMs(examiner.config);
  const uint64_t today = examiner.config.clear_period_ms.value_or(0);
  if (ms == 0 || (today != 0 && today <= ms)) return std::nullopt;
  return ConfigChange{"incremental_state_config.clear_period_ms", std::to_string(ms),
                      fmt::format("producers repeat their state, so that a loss costs at most {}{}",
                                  HumanDuration(ms * 1'000'000), PeriodOrigin(reach_ns)),
                      true};
}

std::string SpanText(const Examiner& examiner, const TimeSpan& span) {
  if (span.first_ns == span.last_ns) return "at " + TimeText(examiner, span.first_ns);
  return fmt::format("from {} to {}", TimeText(examiner, span.first_ns),
                     TimeText(examiner, span.last_ns));
}

std::string CausesText(const LossCounts& losses) {
  static constexpr std::array<const char*, kLossBitNames.size()> kCauses = {
      "chunks between two reads are missing",
      "the rest of a chunk could not be read",
      "the end of a packet came without its beginning",
      "a chunk was missing inside a packet",
      "the next chunk did not continue the packet",
      "it was overwritten before it was read",
      "the writer aborted it",
      "the producer's shared memory was full"};
  std::vector<std::string> causes;
  for (size_t i = 0; i < kCauses.size(); ++i)
    if (losses.by_bit[i] > 0)
      causes.push_back(fmt::format("{} ({}x)", kCauses[i], WithCommas(losses.by_bit[i])));
  return Joined(causes);
}

}  // namespace ringscope
