// A trace config that cannot work, or works badly. Where there is a trace, what it shows decides.

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <string>

#include "core/findings/examiner.h"

namespace ringscope {
namespace {

/// Returns true if a trace shows that the buffer wrapped.
bool HasWrapped(const Examiner& examiner, size_t index) {
  const auto& buffers = examiner.facts.buffers;
  return index < buffers.size() && buffers[index].stats.chunks_overwritten > 0;
}

void ExamineBufferConfigs(Examiner& examiner) {
  const TraceConfigFacts& config = examiner.config;
  constexpr uint64_t kTooLargeKb = 4 * 1024 * 1024;
  for (size_t i = 0; i < config.buffers.size(); ++i) {
    const uint64_t kb = config.buffers[i].size_kb;
    if (kb == 0 || kb >= kTooLargeKb)
      examiner
          .Add("config.size",
               Say("The service refuses this session: size_kb of buffers[{}] is {}{}.", i,
                   Number("size_kb", kb), kb == 0 ? "" : ", and 4 GiB are too many"),
               {.where = BufferName(examiner.config, i)})
          .changes.push_back({fmt::format("buffers[{}].size_kb", i), "65536",
                              "the service refuses other sizes", false});
    if (!config.sources.empty() &&
        std::ranges::find(config.sources, i, &ConfiguredSource::target_buffer) ==
            config.sources.end()) {
      Finding& finding =
          examiner.Add("config.unused_buffer", "No data source targets the buffer: it stays empty.",
                       {.where = BufferName(examiner.config, i)});
      if (examiner.facts.all.packets > 0) finding.harm = Harm::kInfo;
    }
    if (config.write_into_file && config.buffers[i].policy == FillPolicy::kDiscard) {
      const auto& buffers = examiner.facts.buffers;
      const bool is_whole = i < buffers.size() && buffers[i].has_stats &&
                            buffers[i].stats.chunks_discarded == 0 && !examiner.is_of_log();
      const Sentence seals = config.buffers[i].is_v2
                                 ? "it seals itself for ever when it is full, however often it was "
                                   "read"
                                 : "it seals itself for ever at the first write that meets data "
                                   "which was not read yet";
      Finding& finding = examiner.Add(
          "config.discard_into_file",
          is_whole
              ? Say("The buffer discards, in a session that is written into a file: 0 chunks "
                    "were discarded here, but {}.",
                    seals)
              : Say("The buffer discards, in a session that is written into a file: {}.", seals),
          {.where = BufferName(examiner.config, i),
           .proof = "fill_policy: DISCARD and write_into_file: true."});
      if (is_whole) finding.harm = Harm::kWarning;
      finding.changes.push_back({fmt::format("buffers[{}].fill_policy", i), "RING_BUFFER",
                                 "a discarding buffer seals itself", false});
    }
  }
}

void ExamineFlushPeriod(Examiner& examiner) {
  const TraceConfigFacts& config = examiner.config;
  constexpr uint64_t kFlushesByItself = 54, kLongSessionMs = 60'000;
  const auto release = ServiceRelease(examiner.facts.service_version);
  const bool by_itself = config.write_into_file &&
                         config.write_flush_mode != WriteFlushMode::kDisabled &&
                         release.value_or(0) >= kFlushesByItself;
  const bool is_long = config.write_into_file || config.duration_ms.value_or(0) > kLongSessionMs;
  if (config.flush_period_ms.value_or(0) > 0 || by_itself || !is_long) return;
  const bool may_flush = config.write_into_file && !release;
  Finding& finding = examiner.Add(
      "config.no_flush", "Nothing asks the producers to flush before the session ends.",
      {.cause = may_flush ? "flush_period_ms is not set. Services since v54 flush by themselves; "
                            "this one's release is not known."
                          : "flush_period_ms is not set."});
  if (!config.write_into_file || may_flush) finding.harm = Harm::kInfo;
  // A service that flushes by itself ignores the period.
  if (!may_flush)
    finding.changes.push_back(
        {"flush_period_ms", "5000", "brings data in order of time into the buffers", false});
}

/// Rings of events whose state is never repeated.
void ExamineMissingClears(Examiner& examiner) {
  bool any_ring = false, any_wrapped = false;
  for (const ConfiguredSource& source : examiner.config.sources) {
    const auto index = static_cast<size_t>(source.target_buffer);
    const auto& buffers = examiner.config.buffers;
    const bool is_ring = index < buffers.size() && buffers[index].policy == FillPolicy::kRingBuffer;
    if (!is_ring || (source.name != "track_event" && source.name != "org.chromium.trace_event"))
      continue;
    any_ring = true;
    any_wrapped |= HasWrapped(examiner, index);
  }
  // A finding on packets that lack their state has this change already.
  if (!any_ring || (!any_wrapped && examiner.facts.all.packets > 0) ||
      examiner.HasFound("state.unusable"))
    return;
  Finding& finding = examiner.Add(
      "config.no_clear_period",
      any_wrapped ? "The ring wrapped, and nothing made the producers repeat their state."
                  : "If the ring wraps, the state that later packets need is overwritten.",
      {.proof = "No incremental_state_config in the config."});
  if (!any_wrapped) finding.harm = Harm::kInfo;
  AddClearPeriod(examiner, ShortestReach(examiner), finding);
}

/// Rings that turn over between two repetitions of the state.
void ExamineClearPeriod(Examiner& examiner) {
  const uint64_t clear_ns = examiner.config.clear_period_ms.value_or(0) * kMsInNs;
  if (!examiner.session() || examiner.IsStreamed()) return;
  for (size_t i = 0; i < examiner.facts.buffers.size(); ++i) {
    const std::optional<Reach> reach = ReachOf(examiner, i);
    if (!reach || reach->ns >= clear_ns) continue;
    AddClearPeriod(
        examiner, reach,
        examiner.Add("config.clear_period",
                     Say("The state is repeated every {}, and the ring holds {}.",
                         Time("clear_period_ns", clear_ns), Time("reach_ns", reach->ns)),
                     {.where = BufferName(examiner.config, i),
                      .proof = "clear_period_ms, and the times of the packets that are left."}));
  }
}

/// A ring in which one sequence has most of what is left, beside data sources of other kinds.
void ExamineSharing(Examiner& examiner) {
  for (size_t i = 0; i < examiner.facts.buffers.size(); ++i) {
    const auto sources = static_cast<uint64_t>(
        std::ranges::count(examiner.config.sources, i, &ConfiguredSource::target_buffer));
    if (!HasWrapped(examiner, i) || sources < 2) continue;
    uint64_t all = 0;
    const TraceSequence* largest = nullptr;
    for (const TraceSequence& sequence : examiner.facts.sequences) {
      if (sequence.buffer != i || sequence.machine != 0) continue;
      all += sequence.all.bytes;
      if (largest == nullptr || sequence.all.bytes > largest->all.bytes) largest = &sequence;
    }
    if (largest == nullptr || largest->all.bytes * 3 < all * 2) continue;
    examiner.Add(
        "config.shared_buffer",
        Say("{} share a ring that wrapped, and {} of what is left is of one sequence.",
            Number("data_sources", sources, "data source"),
            Share("share_of_largest", largest->all.bytes, all)),
        {.where = fmt::format("{}; {}", BufferName(examiner.config, i),
                              SequenceName(examiner, *largest)),
         .proof = "target_buffer of the data sources, and the bytes of the trace's packets.",
         .weight = largest->all.bytes});
  }
}

/// A fault of a data source's buffers of the kernel, and the lines that are better.
struct DrainProblem {
  Sentence what;
  const char* reason = "";
  uint64_t drain_ms = 0, buffer_kb = 0;  // 0: not to be changed
};
/// Source: the diagnoses of trace processor v58, and its threshold of 5 MB/s.
/// @param start_ns time of the session's start, since boot
std::vector<DrainProblem> DrainProblemsOf(const ConfiguredSource& source, int64_t start_ns) {
  constexpr uint64_t kLongMs = 2000, kLargeKb = 16'384, kSmallKb = 1024, kKbPerSecond = 5 * 1024;
  constexpr uint64_t kShortestMs = 100, kLongestMs = 60'000, kUsualMs = 250;
  constexpr int64_t kLateNs = 300'000'000'000;
  constexpr const char* kKeeps = "keeps the kernel's buffers from overrunning";
  const uint64_t kb = source.ftrace_buffer_kb.value_or(0);
  const uint64_t ms = source.ftrace_drain_period_ms.value_or(0);
  const auto size_for = [&](uint64_t period_ms) {
    return std::bit_ceil(std::max(kKbPerSecond * period_ms / 1000, kSmallKb));
  };
  std::vector<DrainProblem> problems;
  const auto add_drained = [&](const char* text, const char* reason, uint64_t buffer_kb) {
    problems.push_back({Say("The kernel's buffers are drained every {} ms{}.",
                            Number("drain_period_ms", ms), text),
                        reason, kUsualMs, buffer_kb});
  };
  const bool is_short = ms > 0 && ms < kShortestMs;
  // A longer period needs a buffer that is larger by as much.
  if (is_short)
    add_drained(", which takes CPU time", "takes less CPU time, and loses no more",
                kb == 0 ? 0 : std::max(std::bit_ceil(kb * kUsualMs / ms), size_for(kUsualMs)));
  if (ms > kLongestMs || (ms >= kLongMs && kb == 0)) add_drained(" only", kKeeps, 0);
  if (kb > 0 && ms > 0 && kb * 1000 < kKbPerSecond * ms)
    problems.push_back(
        {Say("The kernel's buffers have {} KiB for each CPU, and are drained every {} ms: a CPU "
             "that writes more than {} KiB/s loses events.",
             Number("buffer_size_kb", kb), Number("drain_period_ms", ms),
             Number("kib_per_s", kb * 1000 / ms)),
         kKeeps, 0, is_short || ms > kLongestMs ? 0 : size_for(ms)});
  else if (kb > 0 && kb < kSmallKb)
    problems.push_back(
        {Say("The kernel's buffers have {} KiB for each CPU only.", Number("buffer_size_kb", kb)),
         kKeeps, 0, is_short ? 0 : kSmallKb});
  else if (ms <= kLongestMs && kb > 0 && ms >= kLongMs && kb < kLargeKb)
    add_drained(" only", kKeeps, 0);
  if (source.preserves_ftrace && start_ns > kLateNs)
    problems.push_back(
        {"preserve_ftrace_buffer keeps what the kernel's buffers had before the session, which "
         "began more than five minutes after boot."});
  if (source.has_all_syscalls)
    problems.push_back({"All system calls are traced, without a list in syscall_events."});
  return problems;
}

void ExamineDrain(Examiner& examiner) {
  const int64_t start_ns = examiner.facts.lifetime.value_or(TimeSpan()).first_ns;
  for (size_t i = 0; i < examiner.config.sources.size(); ++i)
    for (const DrainProblem& problem : DrainProblemsOf(examiner.config.sources[i], start_ns)) {
      Finding& finding = examiner.Add("config.ftrace_drain", problem.what,
                                      {.where = fmt::format("data_sources[{}]", i), .weight = 1});
      if (!examiner.facts.ftrace.cpus().empty() && !examiner.HasFound("ftrace.overrun"))
        finding.harm = Harm::kInfo;
      for (const auto& [field, value] :
           {std::pair{"drain_period_ms", problem.drain_ms}, {"buffer_size_kb", problem.buffer_kb}})
        if (value > 0)
          finding.changes.push_back(
              {fmt::format("data_sources[{}].config.ftrace_config.{}", i, field),
               std::to_string(value), problem.reason, true});
    }
}

}  // namespace

void ExamineConfig(Examiner& examiner) {
  if (!examiner.has_config()) return;
  ExamineBufferConfigs(examiner);
  ExamineFlushPeriod(examiner);
  if (examiner.config.clear_period_ms.value_or(0) == 0)
    ExamineMissingClears(examiner);
  else
    ExamineClearPeriod(examiner);
  ExamineSharing(examiner);
  ExamineDrain(examiner);
}

}  // namespace ringscope
