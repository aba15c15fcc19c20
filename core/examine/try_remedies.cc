#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "core/base/text.h"
#include "core/examine/remedies.h"
#include "core/perfetto/chunk.h"
#include "core/sweep/smallest_size.h"

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

  Status FindSizes(std::vector<Remedy>& remedies);
  Status FindPeriod(Remedy& remedy);
  /// Replays the session with the printed config of each remedy, and with all that go together,
  /// unless that was replayed before.
  Status Verify(RemedyList& list);

 private:
  /// A buffer of a size, whatever the others have.
  struct TriedBuffer {
    TriedOutcome outcome;
    uint64_t reach_ns = 0;  // of its sequence that reaches back least far
  };

  SweepConfig NewConfig() { return {.setting = ++settings_, .options = own_}; }
  Result<SweepConfig> ConfigWith(const std::vector<ConfigChange>& changes);
  void SetSize(Remedy& remedy, uint64_t size);
  bool MustHoldAll(const Remedy& remedy) const;
  std::vector<uint64_t> FirstSizes(const Remedy& remedy) const;
  TriedSize Judge(const Remedy& remedy, const SweepRow& row) const;
  const TriedBuffer* FindTried(BufferId buffer, uint64_t size) const;
  std::optional<TriedOutcome> OutcomeOfSizes(const RemedyList& list) const;

  Sweep sweep_;
  const ReplayOptions& own_;
  const RemedyConfig& config_;
  const uint64_t written_;
  size_t settings_ = 0;
  std::map<std::pair<BufferId, uint64_t>, TriedBuffer> sized_;  // by buffer and size
};

void RemedyTrials::SetSize(Remedy& remedy, uint64_t size) {
  remedy.size = size;
  const auto& buffers = sweep_.input().facts.buffers;
  if (const auto before = buffers.find(*remedy.buffer); before != buffers.end())
    remedy.memory = static_cast<int64_t>(size) - static_cast<int64_t>(before->second.size);
  remedy.changes.front().value = std::to_string(size / 1024);
}

/// Returns true for a ring that must hold its first chunk until its last one is written. (That it
/// must is not known of a ring that chunks may have been too large for.)
bool RemedyTrials::MustHoldAll(const Remedy& remedy) const {
  const auto& buffers = sweep_.input().facts.buffers;
  const auto own = buffers.find(*remedy.buffer);
  return remedy.holds_all && !remedy.keep_ns && own != buffers.end() &&
         own->second.policy == FillPolicy::kRingBuffer &&
         own->second.size >= kMaxChunkData + kPageBytes;
}

/// Returns the smallest size with which the buffer has the same outcome: what it did not write to
/// the end it does not need.
uint64_t SameFrom(const SweepRow& row) {
  const bool is_once = row.stats.write_wrap_count == 0 && row.full_packets() == 0;
  const uint64_t written = std::max(PagesUp(row.stats.bytes_written), kPageBytes);
  return is_once ? std::min(written, row.size) : row.size;
}

/// A size that is to keep all is large enough if nothing is lost to it; another one if it reaches
/// as far back as it is to.
TriedSize RemedyTrials::Judge(const Remedy& remedy, const SweepRow& row) const {
  TriedSize tried{.meets = row.full_packets() == 0 ||
                           (remedy.keep_ns && row.shortest_history_ns >= *remedy.keep_ns),
                  .lost = row.lost,
                  .same_from = SameFrom(row)};
  // With a page less than was written, the last chunk overwrites the first.
  tried.is_least =
      tried.meets && MustHoldAll(remedy) && row.stats.bytes_written > tried.same_from - kPageBytes;
  if (!tried.is_least && row.writes)
    tried.estimate = remedy.keep_ns ? row.writes->SizeToKeep() : row.writes->SizeToHoldAll();
  return tried;
}

/// Returns the sizes to replay first: they show a size that surely is large enough, or nearly.
std::vector<uint64_t> RemedyTrials::FirstSizes(const Remedy& remedy) const {
  if (remedy.keep_ns) return {remedy.size};
  const uint64_t least = std::clamp(PagesUp(remedy.least_size), kPageBytes, remedy.size);
  if (MustHoldAll(remedy)) return {least};
  // A ring that wraps leaves some space unused.
  return {std::max(least - kPageBytes, kPageBytes), least, remedy.holds_all ? least : remedy.size};
}

/// Finds the smallest sizes of all buffers that have a remedy of that kind. They are replayed with
/// the config that is printed.
Status RemedyTrials::FindSizes(std::vector<Remedy>& remedies) {
  const SweepInput& input = sweep_.input();
  uint64_t keep_from_ns = 0;
  // No more memory than the replay as it was took, twice, or that is the sweep's anyway.
  const uint64_t limit = std::max(input.memory_limit, 2 * sweep_.BytesOf(own_));
  std::vector<SizeGoal> goals;
  std::vector<Remedy*> searched;
  for (Remedy& remedy : remedies) {
    if (remedy.kind != RemedyKind::kSize) continue;
    const uint64_t size = remedy.size;
    if (size > limit) {
      SetSize(remedy, size);
      remedy.formula =
          remedy.keep_ns
              ? "the bytes written in that time at the session's mean rate; too large to try"
              : "the bytes written from the oldest lost packet to its read; too large to try";
      continue;
    }
    if (remedy.keep_ns) keep_from_ns = remedy.keep_from_ns;
    const auto same = std::ranges::find(goals, *remedy.buffer, &SizeGoal::buffer);
    goals.push_back({*remedy.buffer, same != goals.end() ? same->first : FirstSizes(remedy),
                     [&](const SweepRow& row) { return Judge(remedy, row); }});
    searched.push_back(&remedy);
  }
  const size_t setting = ++settings_;
  const auto replay =
      [&](const std::vector<BufferSizes>& sizes) -> Result<std::vector<std::vector<SweepRow>>> {
    std::vector<SweepConfig> configs;
    for (const BufferSizes& each : sizes) {
      std::vector<ConfigChange> changes;
      for (const auto& [id, size] : each) {
        changes.push_back(FindSizeRemedy(remedies, id)->changes.front());
        changes.back().value = std::to_string(size / 1024);
      }
      RS_ASSIGN_OR_RETURN(SweepConfig config, ConfigWith(changes));
      config.setting = setting;
      config.keep_from_ns = keep_from_ns;
      // The config has them; so the sweep knows its memory.
      for (const auto& [id, size] : each) config.options.session.buffers[id].size = size;
      configs.push_back(std::move(config));
    }
    RS_ASSIGN_OR_RETURN(auto rows, sweep_.Run(configs));
    for (const std::vector<SweepRow>& of_config : rows)
      for (const SweepRow& row : of_config)
        for (const uint64_t size : {row.size, SameFrom(row)})
          sized_[{row.id, size}] = {OutcomeOf(row), row.shortest_history_ns};
    return rows;
  };
  RS_ASSIGN_OR_RETURN(const auto found, FindSmallestSizes(goals, input.facts.commit_bytes, replay));
  for (size_t i = 0; i < searched.size(); ++i) SetSize(*searched[i], found[i].best);
  return {};
}

auto RemedyTrials::FindTried(BufferId buffer, uint64_t size) const -> const TriedBuffer* {
  const auto tried = sized_.find({buffer, size});
  return tried == sized_.end() ? nullptr : &tried->second;
}

/// Returns the outcome of the session with the changes that go together, if they are sizes alone,
/// all of which were replayed: buffers do not affect each other.
std::optional<TriedOutcome> RemedyTrials::OutcomeOfSizes(const RemedyList& list) const {
  BufferSizes sizes;
  for (const auto& [id, buffer] : sweep_.input().facts.buffers) sizes[id] = buffer.size;
  for (const ConfigChange& change : list.changes) {
    const auto remedy = std::ranges::find_if(list.remedies, [&](const Remedy& one) {
      return one.kind == RemedyKind::kSize && one.changes.front().path == change.path &&
             one.changes.front().value == change.value;
    });
    if (remedy == list.remedies.end()) return std::nullopt;
    sizes[*remedy->buffer] = remedy->size;
  }
  TriedOutcome outcome;
  for (const auto& [id, size] : sizes) {
    const TriedBuffer* const tried = FindTried(id, size);
    if (tried == nullptr) return std::nullopt;
    outcome += tried->outcome;
  }
  return outcome;
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
  const bool is_tried = !std::ranges::all_of(list.remedies, &Remedy::is_estimate);
  std::vector<SweepConfig> configs;
  std::vector<Remedy*> tried;
  for (Remedy& remedy : list.remedies) {
    if (remedy.is_estimate()) continue;
    if (remedy.kind == RemedyKind::kSize)
      if (const TriedBuffer* const size = FindTried(*remedy.buffer, remedy.size)) {
        remedy.outcome = size->outcome;
        remedy.reach_ns = size->reach_ns;
        continue;
      }
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
  if (list.changes.empty() || !is_tried) return {};
  if ((list.together = OutcomeOfSizes(list))) return {};
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
  RS_RETURN_IF_ERROR(trials.FindSizes(list.remedies));
  for (Remedy& remedy : list.remedies)
    if (remedy.kind == RemedyKind::kReadPeriod) RS_RETURN_IF_ERROR(trials.FindPeriod(remedy));
  return trials.Verify(list);
}

}  // namespace ringscope
