#include "core/advice/advice_solve.h"

#include <algorithm>

#include "core/advice/advice_plan.h"
#include "core/log/retarget.h"
#include "core/perfetto/page.h"
#include "core/sweep/exact_sweep.h"
#include "core/sweep/sweep_run.h"

namespace ringscope {
namespace {

constexpr uint64_t kMillisecond = 1'000'000;
constexpr uint64_t kShortestPeriod =
    100 * kMillisecond;  // that a session can write into its file with

/// The rows of one buffer, by size.
using Ladder = std::map<BufferId, std::vector<SweepRow>>;

class Solver {
 public:
  Solver(const SweepInput& input, const AdviceFacts& facts, const AdviceReads& reads,
         const AdviceWish& wish)
      : input_(input), facts_(facts) {
    as_is_.reads = reads.replay;
    findings_.wish = wish;
    findings_.reads = reads;
    findings_.extrapolated = wish.keep_ns && *wish.keep_ns > facts.duration_ns;
    for (const AdviceBuffer& buffer : facts.buffers) bytes_ += buffer.rate.bytes();
  }

  Result<AdviceFindings> Run() {
    RS_ASSIGN_OR_RETURN(findings_.now, Verify(as_is_, {}));
    if (facts_.buffers.empty()) return std::move(findings_);
    RS_RETURN_IF_ERROR(PlanSizes());
    RS_RETURN_IF_ERROR(TrySplits());
    UseSplits();
    ShareMemory(findings_.plan, findings_.wish.memory);
    RS_RETURN_IF_ERROR(FindPeriods());
    ReplayOptions config = as_is_;
    ChoosePeriod(config);
    for (const PlannedBuffer& buffer : findings_.plan) {
      config.session.buffers[buffer.id].size = buffer.size;
      config.session.buffers[buffer.id].policy = buffer.policy;
    }
    RS_ASSIGN_OR_RETURN(findings_.then, Verify(config, findings_.splits));
    return std::move(findings_);
  }

 private:
  /// The session with some sequences in buffers of their own.
  SweepInput Split(const std::vector<PlannedSplit>& splits) const {
    std::vector<RetargetRule> rules;
    for (const PlannedSplit& split : splits) {
      const std::vector<RetargetRule> more = RulesOf(facts_, split);
      rules.insert(rules.end(), more.begin(), more.end());
    }
    if (rules.empty()) return input_;
    SweepInput input = input_;
    input.open = [rules, open = input_.open]() -> Result<std::unique_ptr<OpSource>> {
      RS_ASSIGN_OR_RETURN(std::unique_ptr<OpSource> ops, open());
      return std::make_unique<RetargetSource>(std::move(ops), rules);
    };
    return input;
  }

  Result<std::vector<SweepRow>> Verify(const ReplayOptions& config,
                                       const std::vector<PlannedSplit>& splits) {
    ReplayOptions options = config;
    options.moves_sequences = !splits.empty();
    return ReplayConfiguration(Split(splits), options);
  }

  Result<Ladder> SweepSizes(const std::vector<PlannedSplit>& splits) {
    std::vector<ReplayOptions> configs;
    // An engine that needs the payloads: each size is a whole replay.
    const bool is_slow =
        std::any_of(facts_.buffers.begin(), facts_.buffers.end(), [&](const AdviceBuffer& buffer) {
          const auto info = input_.find_engine(buffer.engine);
          return info && !(*info)->create_shapes;
        });
    for (const uint64_t size : AdviceSizes(bytes_, is_slow)) {
      ReplayOptions& config = configs.emplace_back(as_is_);
      config.session.all.size = size;
      for (const AdviceBuffer& buffer : facts_.buffers)
        config.session.buffers[buffer.id].policy = PolicyFor(buffer);
    }
    RS_ASSIGN_OR_RETURN(const SweepResult result, RunSweep(Split(splits), configs));
    Ladder ladder;
    for (const std::vector<SweepRow>& rows : result.rows)
      for (const SweepRow& row : rows) ladder[row.id].push_back(row);
    return ladder;
  }

  /// A buffer that is read periodically must not discard: once full, it accepts nothing more.
  FillPolicy PolicyFor(const AdviceBuffer& buffer) const {
    return findings_.reads.periodic ? FillPolicy::kRingBuffer : buffer.policy;
  }

  std::optional<uint64_t> Need(const Ladder& ladder, BufferId id, FillPolicy policy) const {
    const auto rows = ladder.find(id);
    if (rows == ladder.end()) return std::nullopt;
    std::optional<uint64_t> needed = NeededSize(rows->second, KeepOf(findings_, policy));
    if (needed && findings_.extrapolated && policy == FillPolicy::kRingBuffer &&
        !findings_.reads.periodic && facts_.duration_ns > 0) {
      const double times =
          static_cast<double>(*findings_.wish.keep_ns) / static_cast<double>(facts_.duration_ns);
      const double pages = static_cast<double>(*needed) * times / kPageBytes;
      constexpr double kMostPages = static_cast<double>((uint64_t{4} << 30) / kPageBytes) - 1;
      needed = static_cast<uint64_t>(std::min(pages, kMostPages) + 1) * kPageBytes;
    }
    return needed;
  }

  Status PlanSizes() {
    RS_ASSIGN_OR_RETURN(const Ladder ladder, SweepSizes({}));
    for (const AdviceBuffer& buffer : facts_.buffers) {
      const FillPolicy policy = PolicyFor(buffer);
      PlannedBuffer planned;
      planned.id = buffer.id;
      planned.policy = policy;
      planned.size = buffer.size;
      planned.needed = Need(ladder, buffer.id, policy);
      const SweepRow* now = FindRow(findings_.now, buffer.id);
      const auto rows = ladder.find(buffer.id);
      // A buffer that already meets the goal stays as it is.
      const uint64_t unavoidable = rows == ladder.end() ? 0 : rows->second.back().lost_packets();
      if (now != nullptr && !findings_.extrapolated &&
          Satisfies(*now, KeepOf(findings_, policy), unavoidable))
        planned.needed = buffer.size;
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
    RS_ASSIGN_OR_RETURN(split_ladder_, SweepSizes(wanted));
    ReplayOptions config = as_is_;
    for (const PlannedSplit& split : wanted) {
      const uint64_t size = facts_.Find(split.from)->size;
      const uint64_t half = PagesDown(size / 2);
      const uint64_t rest =
          std::min(half, Need(split_ladder_, split.from, FillPolicy::kRingBuffer).value_or(half));
      config.session.buffers[split.from].size = rest;
      config.session.buffers[split.to].size = (size - rest) / 16 * 16;
    }
    RS_ASSIGN_OR_RETURN(const std::vector<SweepRow> rows, Verify(config, wanted));
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

  /// Splits that helped go into the plan where there is too little memory to keep everything.
  void UseSplits() {
    uint64_t needed = 0;
    for (const PlannedBuffer& buffer : findings_.plan)
      needed += buffer.needed.value_or(buffer.size);
    if (needed <= findings_.wish.memory) return;
    for (const SplitOutcome& tried : findings_.tried) {
      const PlannedSplit& split = tried.split;
      for (PlannedBuffer& buffer : findings_.plan) {
        if (buffer.id != split.from) continue;
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
    for (const AdviceBuffer& buffer : facts_.buffers) {
      const SweepRow* now = FindRow(findings_.now, buffer.id);
      if (now == nullptr || now->written.packets == 0 ||
          PolicyFor(buffer) == FillPolicy::kDiscard ||
          (now->lost_packets() == 0 && !findings_.reads.periodic))
        continue;
      ReadPeriod period;
      period.buffer = buffer.id;
      period.size = buffer.size;
      // A fifth of the buffer is kept free, for what the log does not show.
      const uint64_t window = buffer.rate.LongestWindow(buffer.size / 5 * 4).value_or(0);
      if (window >= kShortestPeriod) {
        RS_RETURN_IF_ERROR(VerifyPeriod(buffer, window, period));
      }
      period.peak_bytes = buffer.rate.PeakIn(period.period_ns.value_or(kShortestPeriod));
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
      if (every < kShortestPeriod) break;
      ReplayOptions& config = configs.emplace_back();
      config.reads = {ReadsMode::kStreamed, every, {}};
      config.session.buffers[buffer.id].policy = PolicyFor(buffer);
    }
    RS_ASSIGN_OR_RETURN(const SweepResult result, RunSweep(input_, configs));
    for (size_t i = 0; i < configs.size(); ++i) {
      const SweepRow* row = FindRow(result.rows[i], buffer.id);
      if (row == nullptr || row->overwritten.packets > 0) continue;
      period.period_ns = configs[i].reads.every_ns;
      period.verified = true;
      return {};
    }
    return {};
  }

  const SweepInput& input_;
  const AdviceFacts& facts_;
  ReplayOptions as_is_;  // the session as it was
  AdviceFindings findings_;
  Ladder split_ladder_;
  uint64_t bytes_ = 0;
};

}  // namespace

Result<AdviceFindings> SolveAdvice(const SweepInput& input, const AdviceFacts& facts,
                                   const AdviceReads& reads, const AdviceWish& wish) {
  return Solver(input, facts, reads, wish).Run();
}

}  // namespace ringscope
