#include "core/remedies/advice_replays.h"

#include <algorithm>
#include <memory>
#include <optional>

#include "core/log/retarget.h"
#include "core/remedies/advice_plan.h"
#include "core/sweep/sweep_run.h"

namespace ringscope {

AdviceReplays::AdviceReplays(const SweepInput& input, const AdviceFacts& facts,
                             const AdviceReads& reads, const OwnAccounts& own)
    : input_(input), facts_(facts), own_(own), is_periodic_(reads.periodic) {
  as_is_.reads = reads.replay;
  for (const AdviceBuffer& buffer : facts.buffers) bytes_ += buffer.rate.bytes();
}

FillPolicy AdviceReplays::PolicyFor(const AdviceBuffer& buffer) const {
  return is_periodic_ ? FillPolicy::kRingBuffer : buffer.policy;
}

SweepInput AdviceReplays::Split(const std::vector<PlannedSplit>& splits) const {
  std::vector<RetargetRule> rules;
  for (const PlannedSplit& split : splits) {
    const std::vector<RetargetRule> more = RulesOf(facts_, split);
    rules.insert(rules.end(), more.begin(), more.end());
  }
  if (rules.empty()) return input_;
  SweepInput input = input_;
  input.kept = nullptr;  // those are other records
  input.open = [rules, open = input_.open]() -> Result<std::unique_ptr<OpSource>> {
    RS_ASSIGN_OR_RETURN(std::unique_ptr<OpSource> ops, open());
    return std::make_unique<RetargetSource>(std::move(ops), rules, SweepRelease);
  };
  return input;
}

/// Of configurations that choose sizes and policies of buffers, and reads.
bool AdviceReplays::SameConfiguration(const ReplayOptions& a, const ReplayOptions& b) const {
  const auto size = [](const ReplayOptions& config, const AdviceBuffer& buffer) {
    const auto chosen = config.session.buffers.find(buffer.id);
    return chosen == config.session.buffers.end() ? buffer.size
                                                  : chosen->second.size.value_or(buffer.size);
  };
  const auto policy = [](const ReplayOptions& config, const AdviceBuffer& buffer) {
    const auto chosen = config.session.buffers.find(buffer.id);
    return chosen == config.session.buffers.end() ? buffer.policy
                                                  : chosen->second.policy.value_or(buffer.policy);
  };
  return a.reads == b.reads && a.session.programs == b.session.programs &&
         std::ranges::all_of(facts_.buffers, [&](const AdviceBuffer& buffer) {
           return size(a, buffer) == size(b, buffer) && policy(a, buffer) == policy(b, buffer);
         });
}

Status AdviceReplays::Replay(const std::vector<ReplayOptions>& configs) {
  RS_ASSIGN_OR_RETURN(SweepResult result, RunSweep(input_, configs));
  for (size_t i = 0; i < configs.size(); ++i)
    replayed_.emplace_back(configs[i], std::move(result.rows[i]));
  return {};
}

Result<std::vector<SweepRow>> AdviceReplays::RowsAsItWas(std::vector<NeededSize>& needed) {
  const SizesReplay replay =
      [&](const std::map<BufferId, uint64_t>& sizes) -> Result<std::map<BufferId, TriedOutcome>> {
    const ReplayOptions config = WithSizes(as_is_, sizes);
    RS_RETURN_IF_ERROR(
        Replay(replayed_.empty() ? std::vector{as_is_, config} : std::vector{config}));
    return OutcomesOf(input_, config, replayed_.back().second, own_);
  };
  RS_RETURN_IF_ERROR(TryNeededSizes(replay, needed));
  if (replayed_.empty()) RS_RETURN_IF_ERROR(Replay({as_is_}));
  std::vector<std::vector<SweepRow>> now = {replayed_.front().second};
  RS_RETURN_IF_ERROR(FindLosses(input_, {as_is_}, &own_, now));
  return std::move(now.front());
}

Result<std::vector<SweepRow>> AdviceReplays::Rows(const ReplayOptions& config,
                                                  const std::vector<PlannedSplit>& splits) {
  if (splits.empty())
    for (const auto& [done, rows] : replayed_)
      if (SameConfiguration(config, done)) {
        std::vector<std::vector<SweepRow>> same = {rows};
        RS_RETURN_IF_ERROR(FindLosses(input_, {done}, &own_, same));
        return std::move(same.front());
      }
  ReplayOptions options = config;
  options.moves_sequences = !splits.empty();
  const SweepInput input = Split(splits);
  RS_ASSIGN_OR_RETURN(SweepResult result, RunSweep(input, {options}));
  RS_RETURN_IF_ERROR(FindLosses(input, {options}, splits.empty() ? &own_ : nullptr, result.rows));
  return std::move(result.rows.front());
}

Result<AdviceReplays::Ladder> AdviceReplays::SweepSizes(const std::vector<PlannedSplit>& splits) {
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

}  // namespace ringscope
