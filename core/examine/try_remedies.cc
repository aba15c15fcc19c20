#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/base/text.h"
#include "core/examine/remedies.h"
#include "core/perfetto/chunk.h"
#include "core/sweep/sweep_report.h"

namespace ringscope {
namespace {

constexpr uint64_t kNsPerMillisecond = 1'000'000;

TriedOutcome OutcomeOf(const SweepRow& row) {
  return {.lost = row.lost, .full = row.full_packets(), .waiting = row.waiting_packets()};
}

/// Tries the remedies of one session.
class RemedyTrials {
 public:
  RemedyTrials(const SweepInput& input, const ReplayOptions& own, const RemedyConfig& config,
               uint64_t written)
      : sweep_(input), own_(own), config_(config), written_(written) {}

  Status FindSizes(std::optional<uint64_t> keep_ns, std::vector<Remedy>& remedies);
  Status FindPeriod(Remedy& remedy);
  /// Replays the session with the printed config of each remedy, and with all that go together.
  Status Verify(RemedyList& list);

 private:
  SweepConfig NewConfig() { return {.setting = ++settings_, .options = own_}; }
  Result<SweepConfig> ConfigWith(const std::vector<ConfigChange>& changes);
  void SetSize(Remedy& remedy, uint64_t size);

  Sweep sweep_;
  const ReplayOptions& own_;
  const RemedyConfig& config_;
  const uint64_t written_;
  size_t settings_ = 0;
};

void RemedyTrials::SetSize(Remedy& remedy, uint64_t size) {
  remedy.size = size;
  const auto& buffers = sweep_.input().facts.buffers;
  if (const auto before = buffers.find(*remedy.buffer); before != buffers.end())
    remedy.memory = static_cast<int64_t>(size) - static_cast<int64_t>(before->second.size);
  remedy.changes.front().value = std::to_string(size / 1024);
}

/// Finds the smallest sizes of all buffers that have a remedy of that kind and goal.
Status RemedyTrials::FindSizes(std::optional<uint64_t> keep_ns, std::vector<Remedy>& remedies) {
  const SweepInput& input = sweep_.input();
  // No more memory than the replay as it was took, twice, or that is the sweep's anyway.
  const uint64_t limit = std::max(input.memory_limit, 2 * sweep_.BytesOf(own_));
  SizeSearch search{.first = {}, .commit_bytes = input.facts.commit_bytes, .replay = {}};
  for (Remedy& remedy : remedies) {
    if (remedy.kind != RemedyKind::kSize || remedy.keep_ns != keep_ns) continue;
    const uint64_t size = remedy.size;
    if (size > limit) {
      SetSize(remedy, size);
      remedy.formula =
          "the bytes written from the oldest lost packet to its read; too large to try";
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
  const SweepConfig as_it_was = NewConfig();
  search.replay = [&](const std::vector<BufferSizes>& sizes)
      -> Result<std::vector<std::map<BufferId, TriedSize>>> {
    std::vector<SweepConfig> configs(sizes.size(), as_it_was);
    for (size_t i = 0; i < sizes.size(); ++i)
      for (const auto& [id, size] : sizes[i]) configs[i].options.session.buffers[id].size = size;
    RS_ASSIGN_OR_RETURN(const auto rows, sweep_.Run(configs));
    std::vector<std::map<BufferId, TriedSize>> results(sizes.size());
    for (size_t i = 0; i < sizes.size(); ++i)
      for (const SweepRow& row : rows[i])
        results[i][row.id] = {
            row.full_packets() == 0 || (keep_ns && row.shortest_history_ns >= *keep_ns), row.lost};
    return results;
  };
  RS_ASSIGN_OR_RETURN(const auto found, FindSmallestSizes(search));
  for (Remedy& remedy : remedies)
    if (remedy.kind == RemedyKind::kSize && remedy.keep_ns == keep_ns && !remedy.is_estimate())
      SetSize(remedy, found.at(*remedy.buffer).best);
  return {};
}

/// Tries some periods, from the longest that may do down to the shortest possible: the longest that
/// loses nothing to full buffers is taken, or the one that loses least.
Status RemedyTrials::FindPeriod(Remedy& remedy) {
  // A period that loses is too long: what was read shortly before its end is evicted then, too.
  constexpr size_t kTries = 8, kAtOnce = 2;
  std::vector<uint64_t> periods;
  for (uint64_t period_ns = remedy.period_ns;
       periods.size() < kTries && period_ns >= kShortestReadPeriodNs;
       period_ns = period_ns / 16 * 15 / kNsPerMillisecond * kNsPerMillisecond)
    periods.push_back(period_ns);
  std::optional<uint64_t> least_full;
  for (size_t begin = 0; begin < periods.size() && least_full != 0; begin += kAtOnce) {
    std::vector<SweepConfig> configs;
    for (size_t i = begin; i < std::min(begin + kAtOnce, periods.size()); ++i)
      configs.emplace_back(NewConfig()).options.reads = {ReadsMode::kStreamed, periods[i], {}};
    RS_ASSIGN_OR_RETURN(const auto rows, sweep_.Run(configs));
    for (size_t i = 0; i < rows.size(); ++i) {
      uint64_t full = 0;
      for (const SweepRow& row : rows[i]) full += row.full_packets();
      if (least_full && full >= *least_full) continue;
      least_full = full;
      remedy.period_ns = periods[begin + i];
    }
  }
  remedy.changes.back().value = std::to_string(remedy.period_ns / kNsPerMillisecond);
  return {};
}

Result<SweepConfig> RemedyTrials::ConfigWith(const std::vector<ConfigChange>& changes) {
  SweepConfig config = NewConfig();
  RS_ASSIGN_OR_RETURN(config.session.config, config_.with(changes));
  config.options.session.all.size.reset();
  config.options.session.all.policy.reset();
  for (auto& [id, choice] : config.options.session.buffers)
    choice.size.reset(), choice.policy.reset();
  const TraceConfigFacts facts = ReadTraceConfigFacts(wire::AsBytes(config.session.config));
  if (ReadsDiffer(config_.facts, facts))
    config.options.reads = {facts.write_into_file ? ReadsMode::kStreamed : ReadsMode::kEnd, 0, {}};
  return config;
}

Status RemedyTrials::Verify(RemedyList& list) {
  std::vector<SweepConfig> configs;
  std::vector<Remedy*> tried;
  for (Remedy& remedy : list.remedies) {
    if (remedy.is_estimate()) continue;
    RS_ASSIGN_OR_RETURN(configs.emplace_back(), ConfigWith(remedy.changes));
    tried.push_back(&remedy);
  }
  const auto sum = [](const std::vector<SweepRow>& rows, std::optional<BufferId> buffer) {
    TriedOutcome outcome;
    for (const SweepRow& row : rows)
      if (!buffer || row.id == *buffer) outcome += OutcomeOf(row);
    return outcome;
  };
  RS_ASSIGN_OR_RETURN(const auto rows, sweep_.Run(configs));
  for (size_t i = 0; i < tried.size(); ++i) {
    Remedy& remedy = *tried[i];
    // A split concerns its new buffer, too.
    if (remedy.kind == RemedyKind::kSplit) remedy.lost_now = list.lost_now;
    remedy.outcome = sum(rows[i], remedy.kind == RemedyKind::kSplit ? std::nullopt : remedy.buffer);
    if (remedy.kind == RemedyKind::kSize)
      if (const SweepRow* row = FindRow(rows[i], *remedy.buffer))
        remedy.reach_ns = row->shortest_history_ns;
  }
  for (Remedy& remedy : list.remedies) {  // a ring that loses nothing has all state without clears
    const Remedy* const size = remedy.kind == RemedyKind::kClearState
                                   ? FindSizeRemedy(list.remedies, *remedy.buffer)
                                   : nullptr;
    if (size != nullptr && size->keep_ns && size->outcome && size->outcome->lost == 0)
      remedy.formula.clear();
  }
  std::erase_if(list.remedies,
                [](const Remedy& one) { return !one.is_estimate() && one.kept() == 0; });
  std::ranges::stable_sort(list.remedies, [](const Remedy& a, const Remedy& b) {
    return std::pair(b.kept(), a.memory) < std::pair(a.kept(), b.memory);
  });
  for (Remedy& remedy : list.remedies) {
    const std::string reason =
        !remedy.outcome
            ? fmt::format("{} lost; {}", Count(remedy.concerned, "packet"), remedy.formula)
        : remedy.is_for_reach()
            ? fmt::format("a replay keeps the last {} with this", HumanDuration(*remedy.reach_ns))
            : fmt::format("a replay loses {} of {} with this, not {}",
                          WithCommas(remedy.outcome->lost), Count(written_, "packet"),
                          WithCommas(remedy.lost_now));
    if (std::ranges::all_of(remedy.changes, &std::string::empty, &ConfigChange::reason) &&
        !remedy.changes.empty())
      remedy.changes.front().reason = reason;
    for (ConfigChange& change : remedy.changes)
      change.is_estimate = remedy.is_estimate() && !change.reason.empty();
  }
  ChooseChanges(list);
  if (list.changes.empty() || tried.empty()) return {};
  RS_ASSIGN_OR_RETURN(const SweepConfig all, ConfigWith(list.changes));
  RS_ASSIGN_OR_RETURN(const auto together, sweep_.Run({all}));
  list.together = sum(together.front(), std::nullopt);
  return {};
}

}  // namespace

Status TryRemedies(const SweepInput& input, const ReplayOptions& own, const RemedyConfig& config,
                   uint64_t written, RemedyList& list) {
  if (list.remedies.empty()) return {};
  RemedyTrials trials(input, own, config, written);
  std::set<std::optional<uint64_t>> goals;
  for (const Remedy& remedy : list.remedies)
    if (remedy.kind == RemedyKind::kSize) goals.insert(remedy.keep_ns);
  for (const std::optional<uint64_t>& keep_ns : goals)
    RS_RETURN_IF_ERROR(trials.FindSizes(keep_ns, list.remedies));
  for (Remedy& remedy : list.remedies)
    if (remedy.kind == RemedyKind::kReadPeriod) RS_RETURN_IF_ERROR(trials.FindPeriod(remedy));
  return trials.Verify(list);
}

}  // namespace ringscope
