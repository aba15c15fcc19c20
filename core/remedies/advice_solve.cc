#include "core/remedies/advice_solve.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/base/text.h"
#include "core/perfetto/page.h"
#include "core/remedies/advice_plan.h"
#include "core/remedies/advice_replays.h"
#include "core/remedies/program_trials.h"
#include "core/sweep/read_period.h"
#include "core/sweep/sweep_run.h"

namespace ringscope {
namespace {

constexpr uint64_t kMillisecond = 1'000'000;

using Ladder = AdviceReplays::Ladder;

class Solver {
 public:
  Solver(const SweepInput& input, const AdviceFacts& facts, const AdviceReads& reads,
         const AdviceWish& wish, const OwnAccounts& own, GapNeeds needs)
      : facts_(facts),
        replays_(input, facts, reads, own),
        needed_(std::move(needs.sizes)),
        longest_period_ns_(needs.read_period_ns) {
    findings_.wish = wish;
    findings_.reads = reads;
    findings_.extrapolated = wish.keep_ns && *wish.keep_ns > facts.duration_ns;
  }

  Result<AdviceFindings> Run() {
    const bool same_policies = std::ranges::all_of(facts_.buffers, [&](const AdviceBuffer& buffer) {
      return replays_.PolicyFor(buffer) == buffer.policy;
    });
    if (!same_policies) needed_.clear();  // FindNeeded looks for them
    RS_ASSIGN_OR_RETURN(findings_.now, replays_.RowsAsItWas(needed_));
    if (facts_.buffers.empty()) return std::move(findings_);
    RS_RETURN_IF_ERROR(PlanSizes());
    RS_RETURN_IF_ERROR(CheckMemory());
    UseSmallerSizes();
    const std::vector<PlannedBuffer> sizes = findings_.plan;
    const uint64_t memory = findings_.wish.memory.value_or(UINT64_MAX);
    const bool is_short = IsShortOfMemory();
    ShareMemory(findings_.plan, memory);
    RS_RETURN_IF_ERROR(FindPeriods());
    ReplayOptions config = replays_.as_is();
    ChoosePeriod(config);
    RS_ASSIGN_OR_RETURN(findings_.then, replays_.Rows(Planned(config), {}));
    if (is_short) {
      RS_RETURN_IF_ERROR(TryWholeNeeds(sizes, memory, config));
      RS_RETURN_IF_ERROR(PlanSplits(sizes, memory));
    }
    RS_RETURN_IF_ERROR(TryNewPeriod(sizes));
    RS_ASSIGN_OR_RETURN(findings_.programs, TryPrograms(replays_, facts_, findings_.now));
    return std::move(findings_);
  }

 private:
  /// The buffers as planned.
  ReplayOptions Planned(ReplayOptions config) const {
    for (const PlannedBuffer& buffer : findings_.plan) {
      config.session.buffers[buffer.id].size = buffer.size;
      config.session.buffers[buffer.id].policy = buffer.policy;
    }
    return config;
  }

  /// A buffer has a page at least.
  Status CheckMemory() const {
    uint64_t least = 0;
    for (const PlannedBuffer& buffer : findings_.plan) least += std::min(buffer.size, kPageBytes);
    if (findings_.wish.memory.value_or(UINT64_MAX) >= least) return {};
    return Fail(ErrorCode::kUsage,
                fmt::format("--memory {} cannot be met: the session's buffers take {} at least",
                            HumanSize(*findings_.wish.memory), HumanSize(least)),
                {}, fmt::format("allow that: --memory {}k", least / 1024));
  }

  /// Where the memory does not allow all sizes, buffers get no more than would be enough for them.
  void UseSmallerSizes() {
    if (!findings_.wish.memory || !IsShortOfMemory()) return;
    for (PlannedBuffer& buffer : findings_.plan) {
      if (!buffer.enough || !buffer.needed) continue;
      buffer.size = *buffer.enough;
      buffer.needed = buffer.enough;
    }
  }

  /// Where the memory is short, one buffer may be worth all that it needs, and the others share the
  /// rest: that is planned if it loses less, as a replay shows.
  /// @param sizes the plan before the memory was shared
  Status TryWholeNeeds(const std::vector<PlannedBuffer>& sizes, uint64_t memory,
                       const ReplayOptions& config) {
    constexpr size_t kTries = 8;
    size_t tries = 0;
    for (size_t i = 0; sizes.size() > 1 && i < sizes.size() && tries < kTries; ++i) {
      const std::optional<uint64_t> needed = sizes[i].needed;
      uint64_t least = 0;  // that the others take
      for (size_t other = 0; other < sizes.size(); ++other)
        if (other != i) least += std::min(sizes[other].size, kPageBytes);
      if (!needed || *needed <= findings_.plan[i].size || *needed + least > memory) continue;
      ++tries;
      std::vector<PlannedBuffer> plan = sizes;
      plan.erase(plan.begin() + static_cast<std::ptrdiff_t>(i));
      ShareMemory(plan, memory - *needed);
      plan.insert(plan.begin() + static_cast<std::ptrdiff_t>(i), sizes[i]);
      plan[i].size = *needed;
      std::swap(plan, findings_.plan);
      RS_ASSIGN_OR_RETURN(std::vector<SweepRow> rows, replays_.Rows(Planned(config), {}));
      if (Lost(rows) < Lost(findings_.then))
        findings_.then = std::move(rows);
      else
        std::swap(plan, findings_.plan);
    }
    return {};
  }

  /// Splits are planned if the rare sequences lose at most half of what they would lose without
  /// them, in the same memory, and all together hardly more.
  /// @param sizes the plan before the memory was shared
  Status PlanSplits(const std::vector<PlannedBuffer>& sizes, uint64_t memory) {
    RS_RETURN_IF_ERROR(TrySplits());
    if (findings_.tried.empty()) return {};
    const std::vector<PlannedBuffer> without = std::exchange(findings_.plan, sizes);
    const uint64_t period_ns = findings_.period_ns;
    UseSplits();
    ShareMemory(findings_.plan, memory);
    ReplayOptions config = replays_.as_is();
    ChoosePeriod(config);
    RS_ASSIGN_OR_RETURN(std::vector<SweepRow> rows,
                        replays_.Rows(Planned(config), findings_.splits));
    uint64_t bytes = 0;
    for (const PlannedBuffer& buffer : findings_.plan) bytes += buffer.size;
    uint64_t written = 0, rare_without = 0, rare_with = 0;
    for (const SweepRow& row : findings_.then) written += row.written.packets;
    for (const PlannedSplit& split : findings_.splits) {
      rare_without += OutcomeOf(findings_.then, split.rare, {split.from}).lost;
      rare_with += OutcomeOf(rows, split.rare, {split.from}).lost;
    }
    constexpr uint64_t kHardly = 100;  // one packet in so many
    const bool helps = Lost(rows) < Lost(findings_.then) ||
                       (rare_with < rare_without && rare_with * 2 <= rare_without &&
                        Lost(rows) <= Lost(findings_.then) + written / kHardly);
    if (bytes > memory || !helps) {
      findings_.plan = without;
      findings_.splits.clear();
      findings_.tried.clear();
      findings_.period_ns = period_ns;
      return {};
    }
    findings_.then = std::move(rows);
    // What is said of a split is what the plan does.
    for (SplitOutcome& tried : findings_.tried) {
      const PlannedSplit& split = tried.split;
      for (const PlannedBuffer& buffer : findings_.plan) {
        if (buffer.id == split.from) tried.rest_size = buffer.size;
        if (buffer.id == split.to) tried.chatty_size = buffer.size;
      }
      tried.rare_after = OutcomeOf(findings_.then, split.rare, {split.from});
      tried.chatty_after = OutcomeOf(findings_.then, split.chatty, {split.to});
    }
    return {};
  }

  /// Whether the memory does not allow what is wanted, or no size gives it.
  bool IsShortOfMemory() const {
    uint64_t needed = 0;
    for (const PlannedBuffer& buffer : findings_.plan) {
      if (!buffer.needed) return true;
      needed += *buffer.needed;
    }
    return findings_.wish.memory && needed > *findings_.wish.memory;
  }

  static uint64_t Lost(const std::vector<SweepRow>& rows) {
    uint64_t lost = 0;
    for (const SweepRow& row : rows) lost += row.full_packets();
    return lost;
  }

  /// Where the memory is too small for a session that is read at its end, but not if it is written
  /// into a file, and a replay proves that, it is to be written into one.
  Status TryNewPeriod(const std::vector<PlannedBuffer>& sizes) {
    const uint64_t lost = Lost(findings_.then);
    if (lost == 0 || findings_.reads.periodic || findings_.wish.keep_ns ||
        findings_.periods.empty())
      return {};
    uint64_t period_ns = UINT64_MAX, memory = 0;
    for (const ReadPeriod& period : findings_.periods)
      period_ns = std::min(period_ns, period.period_ns.value_or(0));
    for (const AdviceBuffer& buffer : facts_.buffers) memory += buffer.size;
    if (period_ns == 0 || memory > findings_.wish.memory.value_or(UINT64_MAX)) return {};
    std::vector<PlannedBuffer> plan = sizes;
    for (PlannedBuffer& buffer : plan) buffer.size = facts_.Find(buffer.id)->size;
    std::swap(plan, findings_.plan);
    ReplayOptions config = Planned(replays_.as_is());
    config.reads = {ReadsMode::kStreamed, period_ns, {}};
    RS_ASSIGN_OR_RETURN(std::vector<SweepRow> rows, replays_.Rows(config, {}));
    if (Lost(rows) >= lost) {
      std::swap(plan, findings_.plan);
      return {};
    }
    findings_.then = std::move(rows);
    findings_.splits.clear();
    findings_.period_ns = period_ns;
    findings_.becomes_periodic = true;
    return {};
  }

  std::optional<uint64_t> Need(const Ladder& ladder, BufferId id, FillPolicy policy) const {
    const auto rows = ladder.find(id);
    if (rows == ladder.end()) return std::nullopt;
    const auto needed = SmallestSize(rows->second, KeepOf(findings_, policy));
    return needed ? std::optional(Extrapolated(*needed, policy)) : std::nullopt;
  }

  /// A size that keeps the whole log, for a history that is longer than the log.
  uint64_t Extrapolated(uint64_t needed, FillPolicy policy) const {
    if (!findings_.extrapolated || policy != FillPolicy::kRingBuffer || findings_.reads.periodic ||
        facts_.duration_ns == 0)
      return needed;
    const double times =
        static_cast<double>(*findings_.wish.keep_ns) / static_cast<double>(facts_.duration_ns);
    const double pages = static_cast<double>(needed) * times / kPageBytes;
    constexpr double kMostPages = static_cast<double>((uint64_t{4} << 30) / kPageBytes) - 1;
    return static_cast<uint64_t>(std::min(pages, kMostPages) + 1) * kPageBytes;
  }

  /// Whether a size has to be searched for: how far back a buffer reaches is not computed.
  bool WantsHistory() const {
    return std::any_of(facts_.buffers.begin(), facts_.buffers.end(),
                       [&](const AdviceBuffer& buffer) {
                         return KeepOf(findings_, replays_.PolicyFor(buffer)).has_value();
                       });
  }

  /// The sizes with which nothing is lost.
  Status FindNeeded() {
    if (Lost(findings_.now) == 0 || !needed_.empty()) return {};
    ReplayOptions config = replays_.as_is();
    for (const AdviceBuffer& buffer : facts_.buffers)
      config.session.buffers[buffer.id].policy = replays_.PolicyFor(buffer);
    RS_ASSIGN_OR_RETURN(BufferNeeds needs, FindNeededSizes(replays_.input(), config));
    needed_ = std::move(needs.sizes);
    return {};
  }

  /// Of a buffer that loses nothing: a size of at most half, with which it would not, either.
  std::optional<uint64_t> EnoughFor(const AdviceBuffer& buffer, const SweepRow& now) const {
    uint64_t enough = 0;
    if (findings_.reads.periodic)
      enough = PagesUp(buffer.rate.PeakIn(findings_.reads.period_ns) / 4 * 5);
    else if (now.used_bytes < buffer.size)  // it never wrapped
      enough = PagesUp(now.used_bytes);
    enough = std::max(enough, kPageBytes);
    return enough <= buffer.size / 2 && now.written.packets > 0 ? std::optional(enough)
                                                                : std::nullopt;
  }

  Status PlanSizes() {
    Ladder ladder;
    if (WantsHistory()) {
      RS_ASSIGN_OR_RETURN(ladder, replays_.SweepSizes({}));
    }
    RS_RETURN_IF_ERROR(FindNeeded());
    for (const AdviceBuffer& buffer : facts_.buffers) {
      const FillPolicy policy = replays_.PolicyFor(buffer);
      PlannedBuffer planned;
      planned.id = buffer.id;
      planned.policy = policy;
      planned.size = buffer.size;
      const std::optional<uint64_t> keep_ns = KeepOf(findings_, policy);
      const SweepRow* now = FindRow(findings_.now, buffer.id);
      planned.needed = Need(ladder, buffer.id, policy);
      if (!keep_ns) {
        const auto needed = std::ranges::find(needed_, buffer.id, &NeededSize::buffer);
        if (needed != needed_.end()) {
          planned.needed = Extrapolated(needed->size, policy);
          planned.still_lost = needed->outcome ? needed->outcome->lost : 0;
        } else if (now != nullptr && now->full_packets() == 0 && findings_.extrapolated) {
          planned.needed = Extrapolated(PagesUp(std::max(now->used_bytes, kPageBytes)), policy);
        }
      }
      // A buffer that already meets the goal stays as it is.
      if (now != nullptr && !findings_.extrapolated && Satisfies(*now, keep_ns, 0)) {
        planned.needed = buffer.size;
        if (now->full_packets() == 0) planned.still_lost = now->lost_packets();
        if (now->full_packets() == 0) planned.enough = EnoughFor(buffer, *now);
      }
      // The reads could have been at other moments: a fifth stays free for the largest peak.
      if (findings_.reads.periodic && planned.needed) {
        const uint64_t peak = buffer.rate.PeakIn(findings_.reads.period_ns);
        planned.needed = std::max(*planned.needed, PagesUp(peak / 4 * 5));
      }
      // The user's size is never made smaller.
      if (planned.needed) planned.needed = std::max(*planned.needed, buffer.size);
      findings_.plan.push_back(std::move(planned));
    }
    return {};
  }

  Status TrySplits() {
    uint16_t next = 0;
    for (const AdviceBuffer& buffer : facts_.buffers) next = std::max(next, Raw(buffer.id));
    std::vector<PlannedSplit> wanted;
    for (const AdviceBuffer& buffer : facts_.buffers) {
      if (buffer.policy == FillPolicy::kDiscard || next == UINT16_MAX ||
          buffer.size < 8 * kPageBytes)
        continue;
      auto split = FindSplit(facts_, buffer.id, BufferId{static_cast<uint16_t>(next + 1)});
      if (!split) continue;
      ++next;
      wanted.push_back(std::move(*split));
    }
    if (wanted.empty()) return {};
    RS_ASSIGN_OR_RETURN(split_ladder_, replays_.SweepSizes(wanted));
    ReplayOptions config = replays_.as_is();
    for (const PlannedSplit& split : wanted) {
      const uint64_t size = facts_.Find(split.from)->size;
      const uint64_t half = PagesDown(size / 2);
      const uint64_t rest =
          std::min(half, Need(split_ladder_, split.from, FillPolicy::kRingBuffer).value_or(half));
      config.session.buffers[split.from].size = rest;
      config.session.buffers[split.to].size = (size - rest) / 16 * 16;
    }
    RS_ASSIGN_OR_RETURN(const std::vector<SweepRow> rows, replays_.Rows(config, wanted));
    for (PlannedSplit& split : wanted) {
      SplitOutcome outcome;
      outcome.rest_size = *config.session.buffers[split.from].size;
      outcome.chatty_size = *config.session.buffers[split.to].size;
      outcome.rare_before = OutcomeOf(findings_.now, split.rare, {split.from});
      outcome.rare_after = OutcomeOf(rows, split.rare, {split.from});
      outcome.chatty_before = OutcomeOf(findings_.now, split.chatty, {split.from});
      outcome.chatty_after = OutcomeOf(rows, split.chatty, {split.to});
      const GroupOutcome& before = outcome.rare_before;
      const GroupOutcome& after = outcome.rare_after;
      const bool helps =
          before.lost > 0 && after.lost < before.lost &&
          (after.lost * 2 <= before.lost || after.history_ns >= 2 * before.history_ns);
      outcome.split = std::move(split);
      if (helps) findings_.tried.push_back(std::move(outcome));
    }
    return {};
  }

  /// Splits that helped go into the plan.
  void UseSplits() {
    for (SplitOutcome& tried : findings_.tried) {
      PlannedSplit& split = tried.split;
      for (PlannedBuffer& buffer : findings_.plan) {
        if (buffer.id != split.from) continue;
        split.needed = buffer.needed;
        buffer.first = true;
        buffer.size = tried.rest_size;
        buffer.needed = Need(split_ladder_, split.from, FillPolicy::kRingBuffer);
      }
      PlannedBuffer made;
      made.id = split.to;
      made.made_from = split.from;
      made.size = tried.chatty_size;
      made.needed = Need(split_ladder_, split.to, FillPolicy::kRingBuffer);
      findings_.plan.push_back(std::move(made));
      findings_.splits.push_back(split);
    }
  }

  Status FindPeriods() {
    std::optional<TriedPeriod> tried;
    if (!findings_.reads.periodic && longest_period_ns_) {
      RS_ASSIGN_OR_RETURN(tried,
                          TryReadPeriods(replays_.input(), replays_.as_is(), *longest_period_ns_));
    }
    for (const AdviceBuffer& buffer : facts_.buffers) {
      const SweepRow* now = FindRow(findings_.now, buffer.id);
      if (now == nullptr || now->written.packets == 0 ||
          replays_.PolicyFor(buffer) == FillPolicy::kDiscard ||
          (now->full_packets() == 0 && !findings_.reads.periodic))
        continue;
      ReadPeriod period;
      period.buffer = buffer.id;
      period.size = buffer.size;
      if (findings_.reads.periodic) {
        // A fifth of the buffer is kept free, for what the log does not show.
        const uint64_t window = buffer.rate.LongestWindow(buffer.size / 5 * 4).value_or(0);
        if (window >= kShortestReadPeriodNs) {
          RS_RETURN_IF_ERROR(VerifyPeriod(buffer, window, period));
        }
      } else if (tried && tried->outcomes[buffer.id].full == 0) {
        period.period_ns = tried->period_ns;
        period.verified = true;
      }
      period.peak_bytes = buffer.rate.PeakIn(period.period_ns.value_or(kShortestReadPeriodNs));
      findings_.periods.push_back(period);
    }
    return {};
  }

  /// Where the plan's sizes alone are hardly enough, the session is to be read more often.
  void ChoosePeriod(ReplayOptions& config) {
    if (!findings_.reads.periodic) return;
    findings_.period_ns = findings_.reads.period_ns;
    for (const ReadPeriod& period : findings_.periods) {
      const AdviceBuffer& buffer = *facts_.Find(period.buffer);
      const bool fits = std::any_of(
          findings_.plan.begin(), findings_.plan.end(), [&](const PlannedBuffer& planned) {
            return planned.id == period.buffer && planned.needed &&
                   *planned.needed <= planned.size &&
                   buffer.rate.PeakIn(findings_.reads.period_ns) <= planned.size / 5 * 4;
          });
      if (!fits && period.period_ns)
        findings_.period_ns = std::min(findings_.period_ns, *period.period_ns);
    }
    if (findings_.period_ns == findings_.reads.period_ns) return;
    config.reads = {ReadsMode::kStreamed, findings_.period_ns, {}};
  }

  /// The longest of some periods up to `window` that loses nothing.
  Status VerifyPeriod(const AdviceBuffer& buffer, uint64_t window, ReadPeriod& period) {
    std::vector<ReplayOptions> configs;
    for (uint64_t eighths = 8; eighths > 0; --eighths) {
      const uint64_t step = window >= 1000 * kMillisecond ? 100 * kMillisecond : 10 * kMillisecond;
      const uint64_t every = window / 8 * eighths / step * step;
      if (every < kShortestReadPeriodNs) break;
      ReplayOptions& config = configs.emplace_back();
      config.reads = {ReadsMode::kStreamed, every, {}};
      config.session.buffers[buffer.id].policy = replays_.PolicyFor(buffer);
    }
    RS_ASSIGN_OR_RETURN(const SweepResult result, RunSweep(replays_.input(), configs));
    for (size_t i = 0; i < configs.size(); ++i) {
      const SweepRow* row = FindRow(result.rows[i], buffer.id);
      if (row == nullptr || row->overwritten.packets > 0) continue;
      period.period_ns = configs[i].reads.every_ns;
      period.verified = true;
      return {};
    }
    return {};
  }

  const AdviceFacts& facts_;
  AdviceReplays replays_;
  AdviceFindings findings_;
  Ladder split_ladder_;
  std::vector<NeededSize> needed_;  // of the buffers that lost packets because they were full
  const std::optional<uint64_t> longest_period_ns_;  // see LongestReadPeriod
};

}  // namespace

Result<AdviceFindings> SolveAdvice(const SweepInput& input, const AdviceFacts& facts,
                                   const AdviceReads& reads, const AdviceWish& wish,
                                   const OwnAccounts& own, GapNeeds needs) {
  return Solver(input, facts, reads, wish, own, std::move(needs)).Run();
}

}  // namespace ringscope
