#include "core/remedies/try_remedies.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/text.h"
#include "core/log/retarget.h"
#include "core/perfetto/page.h"
#include "core/sweep/size_search.h"

namespace ringscope {
namespace {

constexpr uint64_t kNsPerMillisecond = 1'000'000;

/// A buffer in a configuration that was replayed.
struct TriedBuffer {
  TriedOutcome outcome;
  bool is_exact = true;  // else only whether `full` is 0
};
using TriedBuffers = std::map<BufferId, TriedBuffer>;

/// The outcome of a buffer that lost no chunk: what is missing is lost whatever the size, or waits.
/// nullopt: it may have lost some.
/// @param own what became of its packets in the replay as it was
std::optional<TriedBuffer> TriedWithoutLoss(const BufferOutcome& buffer, const LedgerTotals& own) {
  if (buffer.lost_chunks + buffer.stats.abi_violations > 0) return std::nullopt;
  TriedBuffer tried;
  tried.outcome.lost = own.lost().packets - own[Fate::kOverwritten].packets -
                       own[Fate::kDiscarded].packets + own.refused.packets -
                       own[Fate::kInvalid].packets + buffer.invalid;
  const uint64_t known =
      tried.outcome.lost + buffer.read.packets - buffer.invalid + buffer.unread.packets;
  tried.outcome.waiting = own.written.packets - std::min(own.written.packets, known);
  // Else something is lost here otherwise than there, where it was overwritten first.
  const uint64_t waited = own[Fate::kStalled].packets + own[Fate::kIncomplete].packets;
  tried.is_exact = known <= own.written.packets && tried.outcome.waiting == waited &&
                   own.own_fault.packets + own[Fate::kUnexplained].packets == 0;
  return tried;
}

/// Replays configurations of one session.
class RemedyReplays {
 public:
  RemedyReplays(const SweepInput& input, const OwnReplay& own)
      : sweep_(input),
        own_(own),
        only_ledgers_(input.clone || input.facts.has_programs || own.totals.empty()) {}

  SweepConfig NewConfig() { return {.setting = ++settings_, .options = own_.options}; }
  const SweepInput& input() const { return sweep_.input(); }
  uint64_t BytesOf(const ReplayOptions& options) const { return sweep_.BytesOf(options); }

  Result<std::vector<std::vector<SweepRow>>> Rows(const std::vector<SweepConfig>& configs) {
    return sweep_.Run(configs);
  }
  /// Replays without ledgers. What these cannot show is replayed again, with one.
  Result<std::vector<TriedBuffers>> Try(const std::vector<SweepConfig>& configs) {
    std::vector<TriedBuffers> tried(configs.size());
    std::vector<ReplayOutcome> outcomes(configs.size());
    if (!only_ledgers_) {
      RS_ASSIGN_OR_RETURN(outcomes, sweep_.Replay(configs));
    }
    std::vector<size_t> open;
    for (size_t i = 0; i < configs.size(); ++i)
      if (only_ledgers_ || !Judge(outcomes[i], tried[i])) open.push_back(i);
    // A buffer that kept less than one that was not full has lost something.
    std::erase_if(open, [&](size_t i) { return !only_ledgers_ && Compare(outcomes[i], tried[i]); });
    std::vector<SweepConfig> left;
    for (const size_t i : open) left.push_back(configs[i]);
    RS_ASSIGN_OR_RETURN(const auto rows, sweep_.Run(left));
    for (size_t i = 0; i < open.size(); ++i)
      for (const SweepRow& row : rows[i]) tried[open[i]][row.id] = {OutcomeOf(row), true};
    return tried;
  }

 private:
  static uint64_t Kept(const BufferOutcome& buffer) {
    return buffer.read.packets - buffer.invalid + buffer.unread.packets;
  }
  const LedgerTotals* FindOwn(BufferId id) const {
    const auto found = own_.totals.find(id);
    return found == own_.totals.end() ? nullptr : &found->second;
  }
  /// @return whether each buffer lost no chunk
  bool Judge(const ReplayOutcome& outcome, TriedBuffers& tried) {
    bool is_known = true;
    for (const BufferOutcome& buffer : outcome.buffers) {
      const LedgerTotals* const own = FindOwn(buffer.id);
      const auto clean = own == nullptr ? std::nullopt : TriedWithoutLoss(buffer, *own);
      if (clean) {
        tried[buffer.id] = *clean;
        most_kept_[buffer.id] = std::max(most_kept_[buffer.id], Kept(buffer));
      }
      is_known &= clean.has_value();
    }
    return is_known;
  }
  /// Counts losses by comparison with the most that the buffer ever kept.
  /// @return whether each buffer's are known
  bool Compare(const ReplayOutcome& outcome, TriedBuffers& tried) const {
    for (const BufferOutcome& buffer : outcome.buffers) {
      if (tried.contains(buffer.id)) continue;
      const auto most = most_kept_.find(buffer.id);
      if (most == most_kept_.end() || Kept(buffer) >= most->second) return false;
      const uint64_t full = most->second - Kept(buffer);
      tried[buffer.id] = {{.lost = full, .full = full, .waiting = 0}, false};
    }
    return true;
  }

  Sweep sweep_;
  const OwnReplay& own_;
  const bool only_ledgers_;
  size_t settings_ = 0;
  std::map<BufferId, uint64_t> most_kept_;  // packets, of clean buffers
};

TriedOutcome SumOf(const std::vector<SweepRow>& rows) {
  TriedOutcome sum;
  for (const SweepRow& row : rows) sum += OutcomeOf(row);
  return sum;
}

void SetSize(Remedy& remedy, const SweepInput& input, uint64_t size) {
  remedy.size = size;
  const auto before = input.facts.buffers.find(*remedy.buffer);
  if (before != input.facts.buffers.end())
    remedy.memory = static_cast<int64_t>(size) - static_cast<int64_t>(before->second.size);
  remedy.changes.front().value = std::to_string(size / 1024);
}

/// Finds the smallest sizes of all buffers that have a remedy of that kind.
Status TrySizes(RemedyReplays& replays, const OwnReplay& own, std::optional<uint64_t> keep_ns,
                std::vector<Remedy>& remedies) {
  const SweepInput& input = replays.input();
  const SweepConfig as_it_was = replays.NewConfig();
  // No more memory than the replay as it was took, twice, or that is the sweep's anyway.
  const uint64_t limit = std::max(input.memory_limit, 2 * replays.BytesOf(own.options));
  SizeSearch search{.first = {}, .commit_bytes = input.facts.commit_bytes, .replay = {}};
  for (Remedy& remedy : remedies) {
    if (remedy.kind != RemedyKind::kSize) continue;
    const uint64_t size = remedy.size;
    if (size > limit) {
      SetSize(remedy, input, size);
      remedy.formula =
          "the bytes written from the oldest lost packet to its read; too large to try";
      remedy.changes.front().reason =
          fmt::format("{} lost; the size is an estimate", Count(remedy.lost_now, "packet"));
      continue;
    }
    std::vector<uint64_t>& first = search.first[*remedy.buffer];
    const uint64_t least = std::clamp(PagesUp(remedy.least_size), kPageBytes, size);
    first = {std::max(least, 2 * kPageBytes) - kPageBytes, least};
    // A ring that wraps leaves some space unused.
    if (size != least && !remedy.holds_all) first.push_back(size);
    if (first[0] == first[1]) first.erase(first.begin());
  }
  if (search.first.empty()) return {};
  std::map<std::pair<BufferId, uint64_t>, TriedBuffer> tried;
  search.replay = [&](const std::vector<BufferSizes>& sizes)
      -> Result<std::vector<std::map<BufferId, TriedSize>>> {
    std::vector<SweepConfig> configs(sizes.size(), as_it_was);
    for (size_t i = 0; i < sizes.size(); ++i)
      for (const auto& [id, size] : sizes[i]) configs[i].options.session.buffers[id].size = size;
    std::vector<std::map<BufferId, TriedSize>> results(sizes.size());
    if (keep_ns) {
      RS_ASSIGN_OR_RETURN(const auto rows, replays.Rows(configs));
      for (size_t i = 0; i < sizes.size(); ++i)
        for (const SweepRow& row : rows[i]) {
          const TriedOutcome outcome = OutcomeOf(row);
          results[i][row.id] = {outcome.full == 0 || row.shortest_history_ns >= *keep_ns,
                                outcome.lost};
          tried[{row.id, row.size}] = {outcome, true};
        }
      return results;
    }
    RS_ASSIGN_OR_RETURN(const auto buffers, replays.Try(configs));
    for (size_t i = 0; i < sizes.size(); ++i)
      for (const auto& [id, size] : sizes[i]) {
        const auto buffer = buffers[i].find(id);
        if (buffer == buffers[i].end()) continue;
        const TriedOutcome& outcome = buffer->second.outcome;
        results[i][id] = {outcome.full == 0, outcome.lost};
        tried[{id, size}] = buffer->second;
      }
    return results;
  };
  RS_ASSIGN_OR_RETURN(const auto found, FindSmallestSizes(search));
  for (Remedy& remedy : remedies) {
    if (remedy.kind != RemedyKind::kSize || remedy.is_estimate()) continue;
    SetSize(remedy, input, found.at(*remedy.buffer).best);
    TriedBuffer& result = tried[{*remedy.buffer, remedy.size}];
    if (!result.is_exact) {
      SweepConfig config = replays.NewConfig();
      config.options.session.buffers[*remedy.buffer].size = remedy.size;
      RS_ASSIGN_OR_RETURN(const auto rows, replays.Rows({config}));
      if (const SweepRow* row = FindRow(rows.front(), *remedy.buffer))
        result.outcome = OutcomeOf(*row);
    }
    remedy.outcome = result.outcome;
    ConfigChange& change = remedy.changes.front();
    change.is_estimate = false;
    const auto totals = own.totals.find(*remedy.buffer);
    const uint64_t written = totals == own.totals.end() ? 0 : totals->second.written.packets;
    change.reason =
        fmt::format("{} of {} were lost; so {}, by a replay", WithCommas(remedy.lost_now),
                    Count(written, "packet"),
                    result.outcome.lost == 0 ? "none" : WithCommas(result.outcome.lost));
  }
  return {};
}

/// Tries some periods, from the longest that may do down to the shortest possible: the longest that
/// loses nothing to full buffers is taken, or the one that loses least.
Status TryPeriods(RemedyReplays& replays, Remedy& remedy) {
  // A period that loses is too long: what was read shortly before its end is evicted then, too.
  constexpr size_t kTries = 8, kAtOnce = 2;
  std::vector<SweepConfig> configs;
  for (uint64_t period_ns = remedy.period_ns;
       configs.size() < kTries && period_ns >= kShortestReadPeriodNs;
       period_ns = period_ns / 16 * 15 / kNsPerMillisecond * kNsPerMillisecond)
    configs.emplace_back(replays.NewConfig()).options.reads = {ReadsMode::kStreamed, period_ns, {}};
  if (configs.empty()) return {};
  std::optional<size_t> best;
  TriedOutcome outcome;
  bool is_exact = false;
  for (size_t begin = 0; begin < configs.size() && !(best && outcome.full == 0); begin += kAtOnce) {
    const size_t end = std::min(begin + kAtOnce, configs.size());
    RS_ASSIGN_OR_RETURN(const auto tried,
                        replays.Try({configs.begin() + static_cast<ptrdiff_t>(begin),
                                     configs.begin() + static_cast<ptrdiff_t>(end)}));
    for (size_t i = begin; i < end; ++i) {
      TriedOutcome sum;
      bool all_exact = true;
      for (const auto& [id, buffer] : tried[i - begin]) {
        sum += buffer.outcome;
        all_exact &= buffer.is_exact;
      }
      if (best && sum.full >= outcome.full) continue;
      best = i, outcome = sum, is_exact = all_exact;
    }
  }
  if (!is_exact) {
    RS_ASSIGN_OR_RETURN(const auto rows, replays.Rows({configs[*best]}));
    outcome = SumOf(rows.front());
  }
  remedy.period_ns = configs[*best].options.reads.every_ns;
  remedy.outcome = outcome;
  remedy.changes.back().value = std::to_string(remedy.period_ns / kNsPerMillisecond);
  return {};
}

Status TryPolicy(RemedyReplays& replays, Remedy& remedy) {
  SweepConfig config = replays.NewConfig();
  config.options.session.buffers[*remedy.buffer].policy = FillPolicy::kRingBuffer;
  RS_ASSIGN_OR_RETURN(const auto rows, replays.Rows({config}));
  if (const SweepRow* row = FindRow(rows.front(), *remedy.buffer)) remedy.outcome = OutcomeOf(*row);
  return {};
}

/// Replays the session as if the sequence had had a buffer of its own, like the one that it has.
Status TrySplit(SweepInput input, const ReplayOptions& own, Remedy& remedy) {
  auto& buffers = input.facts.buffers;
  const BufferId added{
      static_cast<uint16_t>(buffers.empty() ? 1 : Raw(buffers.rbegin()->first) + 1)};
  const RetargetRule rule{remedy.sequence->producer, remedy.sequence->writer, added};
  input.open = [rule, open = input.open]() -> Result<std::unique_ptr<OpSource>> {
    RS_ASSIGN_OR_RETURN(std::unique_ptr<OpSource> ops, open());
    return std::make_unique<RetargetSource>(std::move(ops), std::vector{rule});
  };
  buffers[added].size = remedy.size;
  Sweep sweep(std::move(input));
  SweepConfig config{.setting = 0, .options = own};
  config.options.moves_sequences = true;
  RS_ASSIGN_OR_RETURN(const auto rows, sweep.Run({config}));
  TriedOutcome outcome;
  for (const SweepRow& row : rows.front())
    if (row.id == *remedy.buffer || row.id == added) outcome += OutcomeOf(row);
  remedy.outcome = outcome;
  return {};
}

}  // namespace

Status TryRemedies(const SweepInput& input, const OwnReplay& own, RemediesTried which,
                   std::optional<uint64_t> keep_ns, std::vector<Remedy>& remedies) {
  if (remedies.empty()) return {};
  RemedyReplays replays(input, own);
  RS_RETURN_IF_ERROR(TrySizes(replays, own, keep_ns, remedies));
  for (Remedy& remedy : remedies) {
    if (remedy.kind == RemedyKind::kReadPeriod) RS_RETURN_IF_ERROR(TryPeriods(replays, remedy));
    if (which != RemediesTried::kAll) continue;
    if (remedy.kind == RemedyKind::kPolicy) RS_RETURN_IF_ERROR(TryPolicy(replays, remedy));
    if (remedy.kind == RemedyKind::kSplit && !input.clone)
      RS_RETURN_IF_ERROR(TrySplit(input, own.options, remedy));
  }
  std::erase_if(remedies, [&](const Remedy& remedy) {
    const bool is_useless = !remedy.is_estimate() && remedy.kept() == 0;
    return is_useless && (remedy.kind == RemedyKind::kSplit || remedy.kind == RemedyKind::kPolicy);
  });
  std::ranges::stable_sort(remedies, std::ranges::greater(), &Remedy::kept);
  return {};
}

}  // namespace ringscope
