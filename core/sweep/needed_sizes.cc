#include "core/sweep/needed_sizes.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "core/gaps/gap_analysis.h"
#include "core/ledger/ledger_sinks.h"
#include "core/perfetto/page.h"
#include "core/session/counted_replay.h"
#include "core/sweep/kept_batches.h"
#include "core/sweep/sweep_run.h"

namespace ringscope {
namespace {

/// No buffer can be larger.
/// Source: size_kb of a V2 buffer is at most 4,194,300; V1 buffers may have a page more.
constexpr uint64_t kLargestSize = (uint64_t{1} << 32) - kPageBytes;

/// Watches a replay whose batches are to be those of a sweep, for what its own reading of the
/// records would have found otherwise.
class BatchWatch : public ReplayListener {
 public:
  /// Whether the sweep would have made the same batches.
  bool is_fit() const { return is_fit_; }
  /// What it would have warned of.
  const std::vector<std::string>& warnings() const { return warnings_; }

  void OnRecord(const Op& op, const LogMoment&) override {
    const auto* const commit = std::get_if<Commit>(&op.body);
    is_inline_ = commit != nullptr && commit->origin == Origin::kInline;
    // It applies no reads and runs no programs.
    warns_ = !std::holds_alternative<ReadPass>(op.body) &&
             !std::holds_alternative<CloneRead>(op.body) &&
             !std::holds_alternative<DataSourceSetUp>(op.body) &&
             !std::holds_alternative<ProtoVmSetUp>(op.body);
    // Sizes are chosen by the buffers' ids.
    if (const auto* setup = std::get_if<BufferSetUp>(&op.body))
      is_fit_ &= sizes_.try_emplace(setup->id, setup->size).first->second == setup->size;
  }
  void OnChunk(BufferId, const ChunkCommit&, std::optional<Refusal> refusal) override {
    // Some releases of the service refuse such chunks, the newest does not.
    if (refusal == Refusal::kNoSuchPage && is_inline_) is_fit_ = false;
  }
  void OnWarning(const std::string& text) override {
    if (warns_) warnings_.push_back(text);
  }

 private:
  bool is_fit_ = true;
  bool is_inline_ = false;
  bool warns_ = true;
  std::map<BufferId, uint64_t> sizes_;
  std::vector<std::string> warnings_;
};

/// Reads what is left of the records: whoever counts them counts all.
void Drain(OpSource& ops) {
  while (true) {
    const auto op = ops.Next();
    if (!op || !*op) return;
  }
}

/// A replay to its end.
/// @param watch listens to the replay itself; may be nullptr
Result<OwnAccounts> AccountsOf(const SweepInput& input, const ReplayOptions& config, Ledger& ledger,
                               std::vector<ReplayListener*> listeners,
                               BatchWatch* watch = nullptr) {
  ReplayOptions options = config;
  options.session.find_engine = input.find_engine;
  options.session.clone = input.clone;
  options.ahead = input.ahead;
  RS_ASSIGN_OR_RETURN(const std::unique_ptr<OpSource> ops, input.open());
  TapePlayer player(&ledger, std::move(listeners));
  std::unique_ptr<TapeRunner> runner;
  std::optional<TapeRecorder> apart;
  if (input.run_tape) {
    runner = input.run_tape(player);
    apart.emplace(player, *runner);
  }
  listeners = apart ? std::vector<ReplayListener*>{&*apart} : player.listeners();
  if (watch != nullptr) listeners.insert(listeners.begin(), watch);
  CountedReplay replay(std::move(options), std::move(listeners));
  while (true) {
    RS_ASSIGN_OR_RETURN(const std::optional<Op> op, ops->Next());
    if (!op) break;
    if (Status status = replay.Apply(*op); !status) {
      Drain(*ops);
      return tl::unexpected(std::move(status).error());
    }
  }
  RS_ASSIGN_OR_RETURN(const ReplayOutcome outcome, replay.Finish());
  if (apart) RS_RETURN_IF_ERROR(apart->Finish());
  OwnAccounts accounts{ledger.totals(), config.reads};
  for (const BufferOutcome& buffer : outcome.buffers) accounts.sizes[buffer.id] = buffer.size;
  return accounts;
}

TriedOutcome TriedOutcomeOf(const LedgerTotals& totals) {
  return {.lost = totals.lost().packets,
          .full = totals[Fate::kOverwritten].packets + totals[Fate::kDiscarded].packets,
          .waiting = totals[Fate::kStalled].packets};
}

/// What is missing though no buffer lost it, in the session's own configuration; nullopt: a buffer
/// that loses less may find some of it, or does so for another reason.
std::optional<TriedOutcome> OthersOf(const LedgerTotals& own, uint64_t missing) {
  const uint64_t changing = own[Fate::kDiscarded].packets + own[Fate::kCut].packets +
                            own[Fate::kUnexplained].packets + own[Fate::kMoved].packets +
                            own[Fate::kCleared].packets + own[Fate::kReadBefore].packets;
  const uint64_t fixed = own[Fate::kWriterDropped].packets + own[Fate::kCorrupted].packets +
                         own[Fate::kInvalid].packets;
  const uint64_t waiting = own[Fate::kStalled].packets;
  const bool same = changing == 0 && fixed + waiting + own[Fate::kIncomplete].packets == missing;
  return same ? std::optional(TriedOutcome{.lost = fixed, .full = 0, .waiting = waiting})
              : std::nullopt;
}

/// nullopt: the rows do not show it.
std::optional<TriedOutcome> OutcomeOfRow(const SweepRow& row, const LedgerTotals& own) {
  // Rows count what the service refuses, and what is returned again, as read.
  if (row.invalid > 0 || own[Fate::kInvalid].packets > 0 || own.duplicates.packets > 0)
    return std::nullopt;
  TriedOutcome outcome{.lost = row.full_packets(), .full = row.full_packets(), .waiting = 0};
  const uint64_t missing = row.other_packets();
  if (missing == 0) return outcome;
  const std::optional<TriedOutcome> others = OthersOf(own, missing);
  return others ? std::optional(outcome += *others) : std::nullopt;
}

/// Whether two configurations differ in nothing but sizes, so that the one's accounts may tell what
/// is missing in the other.
bool SameButSizes(const ReplayOptions& a, const ReplayOptions& b) {
  const auto same_choices = [](const BufferChoice& x, const BufferChoice& y) {
    return x.engine == y.engine && x.policy == y.policy;
  };
  return a.reads == b.reads && a.pass_bytes == b.pass_bytes &&
         a.session.programs == b.session.programs && same_choices(a.session.all, b.session.all) &&
         std::ranges::equal(a.session.buffers, b.session.buffers,
                            [&](const auto& x, const auto& y) {
                              return x.first == y.first && same_choices(x.second, y.second);
                            });
}

/// Whether nothing but waiting packets is missing: those that are still in the buffer. A smaller
/// buffer holds nothing at the end that this one did not hold.
bool OnlyWaits(const SweepRow& row, const OwnAccounts& own, const LedgerTotals& totals) {
  const auto size = own.sizes.find(row.id);
  if (!row.stuck || *row.stuck != row.other_packets() || row.invalid > 0) return false;
  const uint64_t otherwise = totals.lost().packets - totals[Fate::kOverwritten].packets;
  return size != own.sizes.end() && row.size <= size->second && otherwise == 0 &&
         totals.duplicates.packets == 0;
}

/// Fills in what is lost where `own` or the rows show it.
/// @param own nullptr: not known
/// @return false: they do not show all
bool TellLosses(const OwnAccounts* own, std::vector<SweepRow>& rows) {
  static const LedgerTotals kNothing;
  bool all = true;
  for (SweepRow& row : rows) {
    if (row.lost) continue;
    if (own != nullptr) {
      const auto found = own->totals.find(row.id);
      const LedgerTotals& totals = found == own->totals.end() ? kNothing : found->second;
      if (const auto outcome = OutcomeOfRow(row, totals))
        row.lost = outcome->lost;
      else if (OnlyWaits(row, *own, totals))
        row.lost = row.full_packets();
    } else if (row.invalid == 0 && row.other_packets() == 0) {
      row.lost = row.full_packets();
    }
    all &= row.lost.has_value();
  }
  return all;
}

}  // namespace

ReplayOptions WithSizes(ReplayOptions config, const std::map<BufferId, uint64_t>& sizes) {
  for (const auto& [id, size] : sizes) config.session.buffers[id].size = size;
  return config;
}

Result<std::map<BufferId, TriedOutcome>> ReplayForOutcomes(const SweepInput& input,
                                                           const ReplayOptions& config) {
  LedgerSink nowhere;
  Ledger ledger(nowhere);
  RS_ASSIGN_OR_RETURN(const OwnAccounts accounts, AccountsOf(input, config, ledger, {}));
  std::map<BufferId, TriedOutcome> outcomes;
  for (const auto& [id, totals] : accounts.totals) outcomes[id] = TriedOutcomeOf(totals);
  return outcomes;
}

Result<std::map<BufferId, TriedOutcome>> OutcomesOf(const SweepInput& input,
                                                    const ReplayOptions& config,
                                                    const std::vector<SweepRow>& rows,
                                                    const OwnAccounts& own) {
  if (config.reads != own.reads || input.clone) return ReplayForOutcomes(input, config);
  std::map<BufferId, TriedOutcome> outcomes;
  // What was sent to no buffer is refused by the service in any configuration.
  for (const auto& [id, totals] : own.totals) outcomes[id] = TriedOutcomeOf(totals);
  for (const SweepRow& row : rows) {
    const auto before = own.totals.find(row.id);
    const auto outcome =
        before == own.totals.end() ? std::nullopt : OutcomeOfRow(row, before->second);
    if (!outcome) return ReplayForOutcomes(input, config);
    outcomes[row.id] = *outcome;
  }
  return outcomes;
}

Status FindLosses(const SweepInput& input, const std::vector<ReplayOptions>& configs,
                  const OwnAccounts* own, std::vector<std::vector<SweepRow>>& rows) {
  // The largest first: what waits in the others at the end waits in it, too, so that its accounts
  // mostly tell theirs.
  std::vector<size_t> order(configs.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, std::ranges::greater(), [&](size_t i) {
    uint64_t bytes = 0;
    for (const SweepRow& row : rows[i]) bytes += row.size;
    return bytes;
  });
  // The accounts of configurations that were replayed in full.
  std::vector<std::pair<ReplayOptions, OwnAccounts>> known;
  for (const size_t i : order) {
    const auto told_by = [&](const auto& other) {
      return SameButSizes(other.first, configs[i]) && TellLosses(&other.second, rows[i]);
    };
    if (TellLosses(nullptr, rows[i])) continue;
    if (own != nullptr && !input.clone && configs[i].reads == own->reads &&
        TellLosses(own, rows[i]))
      continue;
    if (!input.clone && std::ranges::any_of(known, told_by)) continue;
    LedgerSink nowhere;
    Ledger ledger(nowhere);
    RS_ASSIGN_OR_RETURN(OwnAccounts accounts, AccountsOf(input, configs[i], ledger, {}));
    for (SweepRow& row : rows[i]) row.lost = accounts.totals[row.id].lost().packets;
    known.emplace_back(configs[i], std::move(accounts));
  }
  return {};
}

std::vector<NeededSize> NeededSizes(const GapReport& report) {
  std::vector<NeededSize> sizes;
  for (const BufferGaps& buffer : report.buffers) {
    uint64_t size = 0;
    for (const SequenceGaps& sequence : buffer.sequences)
      for (const Gap& gap : sequence.gaps)
        size = std::max(size, gap.remedies.buffer_size.value_or(0));
    size = std::min(size, kLargestSize);
    if (size > 0) sizes.push_back({.buffer = buffer.id, .size = size, .outcome = {}});
  }
  return sizes;
}

Status TryNeededSizes(const SizesReplay& replay, std::vector<NeededSize>& sizes) {
  constexpr int kTries = 4;
  std::map<BufferId, uint64_t> tried;
  for (const NeededSize& needed : sizes) tried[needed.buffer] = needed.size;
  for (int i = 0; i < kTries && !tried.empty(); ++i) {
    std::map<BufferId, uint64_t> all = tried;
    for (const NeededSize& needed : sizes) all.try_emplace(needed.buffer, needed.size);
    RS_ASSIGN_OR_RETURN(const auto outcomes, replay(all));
    for (NeededSize& needed : sizes) {
      const auto found = outcomes.find(needed.buffer);
      if (!tried.contains(needed.buffer) || found == outcomes.end()) {
        tried.erase(needed.buffer);
        continue;
      }
      const TriedOutcome outcome = found->second;
      const bool helped = !needed.outcome || outcome.full < needed.outcome->full;
      if (helped) {
        needed.grown = i > 0;
        needed.size = all[needed.buffer];
        needed.outcome = outcome;
      }
      // Of a buffer that no size helps, the smallest that was as good counts.
      if (outcome.full == 0 || !helped || needed.size == kLargestSize)
        tried.erase(needed.buffer);
      else
        tried[needed.buffer] = std::min(PagesUp(needed.size / 2 * 3), kLargestSize);
    }
  }
  return {};
}

bool MakesBatches(const SweepInput& input, const ReplayOptions& config) {
  if (input.kept == nullptr || input.kept->complete() || input.clone) return false;
  if (!config.session.all.engine) return true;  // the log's: no plug-in
  const auto info = input.find_engine(*config.session.all.engine);
  return info && (*info)->create_shapes;
}

Result<BufferNeeds> ComputeNeededSizes(
    const SweepInput& input, const ReplayOptions& config,
    const std::function<void(std::shared_ptr<const SweepBatch>)>& forward) {
  GapAnalysis gaps(/*stale_ns=*/UINT64_MAX);
  std::vector<ReplayListener*> listeners = {&gaps};
  std::vector<LedgerSink*> sinks = {&gaps};
  KeptBatches* const kept = MakesBatches(input, config) ? input.kept : nullptr;
  if (kept != nullptr) {
    kept->BeginReplay(forward);
    listeners.push_back(kept);
    sinks.push_back(kept);
  }
  LedgerSinks all(std::move(sinks));
  Ledger ledger(all);
  BatchWatch watch;
  BufferNeeds needs;
  auto own = AccountsOf(input, config, ledger, std::move(listeners), kept ? &watch : nullptr);
  if (kept != nullptr && own && watch.is_fit()) {
    kept->Finish();
    for (const std::string& text : watch.warnings()) input.warn(text);
  } else if (kept != nullptr) {
    kept->Begin();
  }
  if (!own) return tl::unexpected(std::move(own).error());
  needs.own = std::move(*own);
  needs.sizes = NeededSizes(gaps.Finish(needs.own.totals));
  return needs;
}

Status TryNeededSizes(const SweepInput& input, const ReplayOptions& config, BufferNeeds& needs) {
  std::map<BufferId, uint64_t> last;
  const SizesReplay replay =
      [&](const std::map<BufferId, uint64_t>& with) -> Result<std::map<BufferId, TriedOutcome>> {
    const ReplayOptions tried = WithSizes(config, with);
    RS_ASSIGN_OR_RETURN(SweepResult result, RunSweep(input, {tried}));
    needs.rows = std::move(result.rows.front());
    last = with;
    return OutcomesOf(input, tried, needs.rows, needs.own);
  };
  RS_RETURN_IF_ERROR(TryNeededSizes(replay, needs.sizes));
  for (const NeededSize& needed : needs.sizes)
    if (last[needed.buffer] != needed.size) needs.rows.clear();
  return {};
}

Result<BufferNeeds> FindNeededSizes(const SweepInput& input, const ReplayOptions& config) {
  RS_ASSIGN_OR_RETURN(BufferNeeds needs, ComputeNeededSizes(input, config));
  RS_RETURN_IF_ERROR(TryNeededSizes(input, config, needs));
  return needs;
}

}  // namespace ringscope
