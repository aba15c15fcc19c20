#include "core/remedies/try_remedies.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/text.h"
#include "core/perfetto/page.h"
#include "core/sweep/size_search.h"

namespace ringscope {
namespace {

constexpr uint64_t kNsPerMillisecond = 1'000'000;

uint64_t FullPackets(const std::vector<SweepRow>& rows) {
  uint64_t packets = 0;
  for (const SweepRow& row : rows) packets += row.full_packets();
  return packets;
}

TriedOutcome SumOf(const std::vector<SweepRow>& rows) {
  TriedOutcome sum;
  for (const SweepRow& row : rows) sum += OutcomeOf(row);
  return sum;
}

/// Finds the smallest sizes of all buffers that have a remedy of that kind.
Status TrySizes(Sweep& sweep, const ReplayOptions& own, std::optional<uint64_t> keep_ns,
                std::vector<Remedy>& remedies) {
  SizeSearch search;
  search.config = {.setting = 0, .options = own};
  search.meets = [&](const SweepRow& row) {
    return row.full_packets() == 0 || (keep_ns && row.shortest_history_ns >= *keep_ns);
  };
  for (const Remedy& remedy : remedies) {
    if (remedy.kind != RemedyKind::kSize) continue;
    const uint64_t size = remedy.size;
    search.first[*remedy.buffer] = {std::max(size - kPageBytes, kPageBytes), size,
                                    PagesUp(std::min(size + size / 32, kMaxTriedSize))};
  }
  if (search.first.empty()) return {};
  RS_ASSIGN_OR_RETURN(const auto found, FindSmallestSizes(sweep, search));
  for (Remedy& remedy : remedies) {
    if (remedy.kind != RemedyKind::kSize) continue;
    const SizeFound& size = found.at(*remedy.buffer);
    remedy.size = size.row.size;
    remedy.outcome = OutcomeOf(size.row);
    const auto before = sweep.input().buffers.find(*remedy.buffer);
    if (before != sweep.input().buffers.end())
      remedy.memory = static_cast<int64_t>(remedy.size) - static_cast<int64_t>(before->second);
    ConfigChange& change = remedy.changes.front();
    change.value = std::to_string(remedy.size / 1024);
    change.is_estimate = false;
    change.reason =
        fmt::format("{} of {} were lost; so {}, by a replay", WithCommas(remedy.lost_now),
                    Count(size.row.written.packets, "packet"),
                    remedy.outcome->lost == 0 ? "none" : WithCommas(remedy.outcome->lost));
  }
  return {};
}

/// Tries some periods, from the longest that may do down to the shortest possible: the longest that
/// loses nothing to full buffers is taken, or the one that loses least.
Status TryPeriods(Sweep& sweep, const ReplayOptions& own, size_t& setting, Remedy& remedy) {
  // A period that loses is too long: what was read shortly before its end is evicted then, too.
  constexpr size_t kTries = 8;
  std::vector<SweepConfig> configs;
  for (uint64_t period_ns = remedy.period_ns;
       configs.size() < kTries && period_ns >= kShortestReadPeriodNs;
       period_ns = period_ns / 16 * 15 / kNsPerMillisecond * kNsPerMillisecond) {
    SweepConfig& config = configs.emplace_back(SweepConfig{.setting = ++setting, .options = own});
    config.options.reads = {ReadsMode::kStreamed, period_ns, {}};
  }
  if (configs.empty()) return {};
  RS_ASSIGN_OR_RETURN(const auto rows, sweep.Run(configs));
  const auto best = std::ranges::min_element(rows, {}, FullPackets);
  remedy.period_ns = configs[static_cast<size_t>(best - rows.begin())].options.reads.every_ns;
  remedy.outcome = SumOf(*best);
  remedy.changes.back().value = std::to_string(remedy.period_ns / kNsPerMillisecond);
  return {};
}

Status TryPolicy(Sweep& sweep, const ReplayOptions& own, size_t& setting, Remedy& remedy) {
  SweepConfig config{.setting = ++setting, .options = own};
  config.options.session.buffers[*remedy.buffer].policy = FillPolicy::kRingBuffer;
  RS_ASSIGN_OR_RETURN(const auto rows, sweep.Run({config}));
  if (const SweepRow* row = FindRow(rows.front(), *remedy.buffer)) remedy.outcome = OutcomeOf(*row);
  return {};
}

/// Replays the session as if the sequence had had a buffer of its own, like the one that it has.
Status TrySplit(SweepInput input, const ReplayOptions& own, Remedy& remedy) {
  const BufferId added{
      static_cast<uint16_t>(input.buffers.empty() ? 1 : Raw(input.buffers.rbegin()->first) + 1)};
  const RetargetRule rule{remedy.sequence->producer, remedy.sequence->writer, added};
  input.open = [rule, open = input.open]() -> Result<std::unique_ptr<OpSource>> {
    RS_ASSIGN_OR_RETURN(std::unique_ptr<OpSource> ops, open());
    return std::make_unique<RetargetSource>(std::move(ops), std::vector{rule}, SweepRelease);
  };
  input.buffers[added] = remedy.size;
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

Status TryRemedies(const SweepInput& input, const ReplayOptions& own, RemediesTried which,
                   std::optional<uint64_t> keep_ns, std::vector<Remedy>& remedies) {
  if (remedies.empty()) return {};
  Sweep sweep(input);
  size_t setting = 0;
  RS_RETURN_IF_ERROR(TrySizes(sweep, own, keep_ns, remedies));
  for (Remedy& remedy : remedies) {
    if (remedy.kind == RemedyKind::kReadPeriod)
      RS_RETURN_IF_ERROR(TryPeriods(sweep, own, setting, remedy));
    if (which != RemediesTried::kAll) continue;
    if (remedy.kind == RemedyKind::kPolicy)
      RS_RETURN_IF_ERROR(TryPolicy(sweep, own, setting, remedy));
    if (remedy.kind == RemedyKind::kSplit && !input.clone)
      RS_RETURN_IF_ERROR(TrySplit(input, own, remedy));
  }
  std::erase_if(remedies, [&](const Remedy& remedy) {
    switch (remedy.kind) {
      case RemedyKind::kSplit:
        return remedy.kept() == 0;
      case RemedyKind::kPolicy:
        return !remedy.is_estimate() && remedy.kept() == 0;
      default:
        return false;
    }
  });
  std::ranges::stable_sort(remedies, std::ranges::greater(), &Remedy::kept);
  return {};
}

}  // namespace ringscope
