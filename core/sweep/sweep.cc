#include "core/sweep/sweep.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace ringscope {
namespace {

using Section = std::vector<StoredOp>;

/// Reads the next records of a session. @return none at its end
Result<Section> ReadSection(OpSource& source) {
  constexpr size_t kMostRecords = 2048;
  constexpr size_t kMostBytes = size_t{1} << 20;
  Section section;
  size_t bytes = 0;
  while (section.size() < kMostRecords && bytes < kMostBytes) {
    RS_ASSIGN_OR_RETURN(const std::optional<Op> op, source.Next());
    if (!op) break;
    section.emplace_back(*op);
    if (const auto* commit = std::get_if<Commit>(&op->body)) bytes += commit->request.size();
  }
  return section;
}

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
  RS_ASSIGN_OR_RETURN(Section section, ReadSection(*ops));
  while (!section.empty()) {
    Result<Section> next;
    input_.run_tasks(replays.size() + 1, [&](size_t i) {
      if (i == 0) {
        next = ReadSection(*ops);
        return;
      }
      for (const StoredOp& stored : section) replays[i - 1]->Apply(stored.op());
    });
    if (!next) return tl::unexpected(std::move(next).error());
    section = *std::move(next);
  }
  input_.run_tasks(replays.size(), [&](size_t i) { replays[i]->Finish(); });
  for (const std::unique_ptr<SweepReplay>& replay : replays) RS_RETURN_IF_ERROR(replay->status());
  return {};
}

/// Replays some of the configurations, the largest first, in as many passes as memory calls for.
/// @param visit gets the index of each, and its replay, after its pass
Status Sweep::RunPasses(const std::vector<SweepConfig>& configs, std::vector<size_t> which,
                        const HasLedger& has_ledger, const Visit& visit) {
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
      options.is_reconfigured |= input_.is_reconfigured || !config.session.empty();
      replays.push_back(
          std::make_unique<SweepReplay>(std::move(options), has_ledger(config), config.session));
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
  const auto has_ledger = [&](const SweepConfig& config) {
    const auto [largest, is_new] = largest_.try_emplace(config.setting);
    const uint64_t bytes = BytesOf(config.options);
    const bool is_largest = is_new || bytes > largest->second.bytes;
    if (is_largest) largest->second = {bytes, nullptr};
    return is_largest || only_ledgers;
  };
  RS_RETURN_IF_ERROR(RunPasses(configs, all, has_ledger, [&](size_t i, SweepReplay& replay) {
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
      configs, inexact, [](const SweepConfig&) { return true; },
      [&](size_t i, SweepReplay& replay) { rows[i] = replay.Rows(*replay.accounts()); }));
  return rows;
}

}  // namespace ringscope
