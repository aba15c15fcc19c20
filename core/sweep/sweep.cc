#include "core/sweep/sweep.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "core/base/reused_memory.h"

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
    bytes_.Clear();
    while (ops_.size() < kMostRecords && bytes_.copied() < kMostBytes) {
      RS_ASSIGN_OR_RETURN(std::optional<Op> op, source.Next());
      if (!op) break;
      if (auto* commit = std::get_if<Commit>(&op->body))
        commit->request = bytes_.Copy(commit->request);
      ops_.push_back(std::move(*op));
    }
    return !ops_.empty();
  }
  const std::vector<Op>& ops() const { return ops_; }

 private:
  std::vector<Op> ops_;
  ByteCopies bytes_;
};

/// Returns true if a ring of a configuration discarded chunks, so that what it discarded is not
/// known from the accounts of a larger one.
bool RefusedOthers(const std::vector<SweepRow>& rows, const SessionAccounts& larger) {
  return std::ranges::any_of(rows, [&](const SweepRow& row) {
    const LedgerTotals* const totals = larger.FindTotals(row.id);
    const uint64_t late = totals == nullptr ? 0 : (*totals)[Fate::kDiscarded].packets;
    return row.policy == FillPolicy::kRingBuffer && row.stats.chunks_discarded > 0 &&
           (late == 0 || row.discarded.packets != late);
  });
}

}  // namespace

std::unique_ptr<SweepReplay> Sweep::MakeReplay(const SweepConfig& config, bool with_ledger) const {
  ReplayOptions options = config.options;
  options.session.find_engine = input_.find_engine;
  options.session.clone = input_.clone;
  options.ahead = input_.ahead;
  return std::make_unique<SweepReplay>(std::move(options), with_ledger);
}

uint64_t Sweep::BytesOf(const ReplayOptions& config) const {
  uint64_t bytes = 0;
  if (input_.buffers.empty()) return config.session.all.size.value_or(0);
  for (const auto& [id, own] : input_.buffers) {
    const auto choice = config.session.buffers.find(id);
    const std::optional<uint64_t> chosen =
        choice == config.session.buffers.end() ? std::nullopt : choice->second.size;
    bytes += std::min(chosen.value_or(config.session.all.size.value_or(own)), input_.commit_bytes);
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

Result<std::vector<std::vector<SweepRow>>> Sweep::Run(const std::vector<SweepConfig>& configs) {
  // The largest of a setting comes first: its accounts show what is lost in the others.
  std::vector<uint64_t> bytes;
  for (const SweepConfig& config : configs) bytes.push_back(BytesOf(config.options));
  std::vector<size_t> order(configs.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, std::ranges::greater(), [&](size_t i) { return bytes[i]; });

  if (input_.ahead && input_.has_limited_reads) RS_RETURN_IF_ERROR(input_.ahead->FindAll());
  // The losses of clones and of programs (ProtoVM) depend on what is in the buffers at that time.
  const bool ledgers = input_.clone.has_value() || input_.has_programs;
  std::vector<std::vector<SweepRow>> rows(configs.size());
  for (size_t begin = 0; begin < order.size();) {
    std::vector<std::unique_ptr<SweepReplay>> replays;
    uint64_t held = 0;
    size_t end = begin;
    for (; end < order.size(); ++end) {
      const SweepConfig& config = configs[order[end]];
      held += bytes[order[end]];
      if (end > begin && held > input_.memory_limit) break;
      const bool is_first = !accounts_.contains(config.setting);
      SweepReplay& replay = *replays.emplace_back(MakeReplay(config, is_first || ledgers));
      if (is_first) accounts_[config.setting] = replay.accounts();
    }
    RS_RETURN_IF_ERROR(RunPass(replays));
    for (size_t i = begin; i < end; ++i) {
      SweepReplay& replay = *replays[i - begin];
      for (const std::string& text : replay.warnings()) input_.warn(text);
      if (replay.accounts())
        if (const std::string problems = replay.accounts()->Check(); !problems.empty())
          input_.warn(problems);
      rows[order[i]] = replay.Rows(*accounts_[configs[order[i]].setting]);
    }
    outcome_ = replays.front()->outcome();
    // A ring that refused other chunks than the largest one is replayed again, with a ledger:
    // chunks that are too large for it, or late.
    std::vector<size_t> inexact;
    for (size_t i = begin; i < end; ++i)
      if (!replays[i - begin]->accounts() &&
          RefusedOthers(rows[order[i]], *accounts_[configs[order[i]].setting]))
        inexact.push_back(order[i]);
    replays.clear();
    for (const size_t i : inexact) replays.push_back(MakeReplay(configs[i], /*with_ledger=*/true));
    if (!replays.empty()) RS_RETURN_IF_ERROR(RunPass(replays));
    for (size_t i = 0; i < inexact.size(); ++i)
      rows[inexact[i]] = replays[i]->Rows(*replays[i]->accounts());
    begin = end;
  }
  return rows;
}

}  // namespace ringscope
