#include "core/sweep/sweep.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace ringscope {
namespace {

/// Successive records of a session, with copies of what they refer to.
class RecordSection {
 public:
  /// Reads the next records. @return whether there were any
  Result<bool> Read(OpSource& source) {
    constexpr size_t kMostRecords = 2048;
    constexpr size_t kMostBytes = size_t{1} << 20;
    ops_.clear();
    bytes_.clear();
    while (ops_.size() < kMostRecords && bytes_.size() < kMostBytes) {
      RS_ASSIGN_OR_RETURN(std::optional<Op> op, source.Next());
      if (!op) break;
      if (const auto* commit = std::get_if<Commit>(&op->body))
        bytes_.insert(bytes_.end(), commit->request.begin(), commit->request.end());
      ops_.push_back(std::move(*op));
    }
    const uint8_t* at = bytes_.data();
    for (Op& op : ops_) {
      auto* const commit = std::get_if<Commit>(&op.body);
      if (commit == nullptr) continue;
      commit->request = {at, commit->request.size()};
      at += commit->request.size();
    }
    return !ops_.empty();
  }
  const std::vector<Op>& ops() const { return ops_; }

 private:
  std::vector<Op> ops_;
  std::vector<uint8_t> bytes_;
};

}  // namespace

uint64_t Sweep::BytesOf(const ReplayOptions& config) const {
  uint64_t bytes = 0;
  const SessionFacts& facts = input_.facts;
  if (facts.buffers.empty()) return config.session.all.size.value_or(0);
  for (const auto& [id, own] : facts.buffers) {
    const auto choice = config.session.buffers.find(id);
    const std::optional<uint64_t> chosen =
        choice == config.session.buffers.end() ? std::nullopt : choice->second.size;
    bytes +=
        std::min(chosen.value_or(config.session.all.size.value_or(own.size)), facts.commit_bytes);
  }
  return bytes;
}

Status Sweep::RunPass(std::vector<std::unique_ptr<SweepReplay>>& replays) {
  RS_ASSIGN_OR_RETURN(const std::unique_ptr<OpSource> ops, input_.open());
  RecordSection section, next;
  RS_ASSIGN_OR_RETURN(bool more, section.Read(*ops));
  while (more) {
    Result<bool> has_next = false;
    input_.run_tasks(replays.size() + 1, [&](size_t i) {
      if (i == 0) {
        has_next = next.Read(*ops);
        return;
      }
      for (const Op& op : section.ops()) replays[i - 1]->Apply(op);
    });
    if (!has_next) return tl::unexpected(std::move(has_next).error());
    more = *has_next;
    std::swap(section, next);
  }
  input_.run_tasks(replays.size(), [&](size_t i) { replays[i]->Finish(); });
  for (const std::unique_ptr<SweepReplay>& replay : replays)
    if (replay->failure()) return tl::unexpected(*replay->failure());
  return {};
}

/// Replays some of the configurations, the largest first, in as many passes as memory calls for.
/// @param visit gets the index of each, and its replay, after its pass
Status Sweep::RunPasses(const std::vector<SweepConfig>& configs, std::vector<size_t> which,
                        const AccountsOf& accounts, const Visit& visit) {
  if (which.empty()) return {};
  if (input_.ahead && input_.facts.has_limited_reads) RS_RETURN_IF_ERROR(input_.ahead->FindAll());
  std::ranges::stable_sort(which, std::ranges::greater(),
                           [&](size_t i) { return BytesOf(configs[i].options); });
  for (size_t begin = 0, end = 0; begin < which.size(); begin = end) {
    std::vector<std::unique_ptr<SweepReplay>> replays;
    for (uint64_t held = 0; end < which.size(); ++end) {
      const SweepConfig& config = configs[which[end]];
      held += BytesOf(config.options);
      if (end > begin && held > input_.memory_limit) break;
      ReplayOptions options = config.options;
      options.session.find_engine = input_.find_engine;
      options.session.clone = input_.clone;
      options.ahead = input_.ahead;
      replays.push_back(std::make_unique<SweepReplay>(std::move(options), accounts(config)));
    }
    RS_RETURN_IF_ERROR(RunPass(replays));
    for (size_t i = begin; i < end; ++i) visit(which[i], *replays[i - begin]);
  }
  return {};
}

Result<std::vector<std::vector<SweepRow>>> Sweep::Run(const std::vector<SweepConfig>& configs) {
  std::vector<std::vector<SweepRow>> rows(configs.size());
  std::vector<size_t> all(configs.size()), inexact;
  std::iota(all.begin(), all.end(), size_t{0});
  // The losses of clones and of programs (ProtoVM) depend on what is in the buffers at that time.
  const bool only_ledgers = input_.clone.has_value() || input_.facts.has_programs;
  const auto accounts = [&](const SweepConfig& config) {
    const auto [largest, is_new] = largest_.try_emplace(config.setting);
    const uint64_t bytes = BytesOf(config.options);
    const bool is_largest = is_new || bytes > largest->second.bytes;
    if (is_largest) largest->second = {bytes, nullptr};
    return is_largest || only_ledgers ? SweepAccounts::kLedger : SweepAccounts::kCounts;
  };
  RS_RETURN_IF_ERROR(RunPasses(configs, all, accounts, [&](size_t i, SweepReplay& replay) {
    auto& of_setting = largest_[configs[i].setting].accounts;
    if (of_setting == nullptr) of_setting = replay.accounts();
    for (const std::string& text : replay.warnings()) input_.warn(text);
    if (replay.accounts())
      if (const std::string problems = replay.accounts()->Check(); !problems.empty())
        input_.warn(problems);
    rows[i] = replay.Rows(*of_setting);
    if (!replay.is_exact()) inexact.push_back(i);
    outcome_ = replay.outcome();
  }));
  RS_RETURN_IF_ERROR(RunPasses(
      configs, inexact, [](const SweepConfig&) { return SweepAccounts::kLedger; },
      [&](size_t i, SweepReplay& replay) { rows[i] = replay.Rows(*replay.accounts()); }));
  return rows;
}

Result<std::vector<ReplayOutcome>> Sweep::Replay(const std::vector<SweepConfig>& configs) {
  std::vector<ReplayOutcome> outcomes(configs.size());
  std::vector<size_t> all(configs.size());
  std::iota(all.begin(), all.end(), size_t{0});
  RS_RETURN_IF_ERROR(RunPasses(
      configs, all, [](const SweepConfig&) { return SweepAccounts::kNone; },
      [&](size_t i, SweepReplay& replay) { outcomes[i] = replay.outcome(); }));
  return outcomes;
}

}  // namespace ringscope
