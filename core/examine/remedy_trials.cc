#include <fmt/format.h>

#include <map>
#include <tuple>
#include <utility>

#include "core/base/lookup.h"
#include "core/base/text.h"
#include "core/examine/remedies.h"
#include "core/perfetto/chunk.h"
#include "core/sweep/smallest_size.h"

namespace ringscope {
namespace {

constexpr uint64_t kNsPerMillisecond = 1'000'000;

std::string NotTried(const Remedy& remedy, const Error& error) {
  return fmt::format("the remedy '{}' cannot be tried: {}", Name(remedy.kind), error.ToString());
}

TriedOutcome OutcomeOf(const SweepRow& row) {
  return {.written = row.written.packets,
          .in_trace = row.in_trace(),
          .lost = row.lost,
          .full = row.full_packets(),
          .waiting = row.waiting_packets() + row.unread.packets};
}

/// The sum of the buffers, or the outcome of one.
TriedOutcome SumOf(const std::vector<SweepRow>& rows, std::optional<BufferId> buffer = {}) {
  TriedOutcome outcome;
  for (const SweepRow& row : rows)
    if (!buffer || row.id == *buffer) outcome += OutcomeOf(row);
  return outcome;
}

/// Tries the remedies of one session.
class RemedyTrials {
 public:
  RemedyTrials(const SweepInput& input, const ReplayOptions& own, const RemedyConfig& config)
      : sweep_(input), own_(own), config_(config) {}

  Status FindSizes(std::vector<Remedy>& remedies);
  /// Where the size that holds all brings nothing, tries those in between.
  Status FindBetween(std::vector<Remedy>& remedies);
  Status FindPeriod(Remedy& remedy);
  /// Replays the session with the printed config of each remedy that was not replayed before.
  Status Verify(RemedyList& list);
  /// Removes what is of no use, chooses the changes that go together, and replays these, unless
  /// that shows nothing new.
  Status Choose(RemedyList& list);

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
  const TriedBuffer* FindTried(BufferId buffer, uint64_t size) const {
    return FindIn(sized_, {buffer, size});
  }
  void Recommend(Remedy& remedy);
  std::optional<TriedOutcome> OutcomeOfBuffers(const RemedyList& list) const;

  Sweep sweep_;
  const ReplayOptions& own_;
  const RemedyConfig& config_;
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
  const uint64_t recommended = RecommendedSize(least);
  if (MustHoldAll(remedy)) return {recommended};
  // A ring that wraps leaves some space unused.
  std::vector<uint64_t> sizes = {std::max(least - kPageBytes, kPageBytes), least,
                                 remedy.holds_all ? least : remedy.size, recommended};
  std::ranges::sort(sizes);
  return sizes;
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
    if (remedy.kind != RemedyKind::kSize || remedy.is_estimate()) continue;
    if (remedy.size > limit) {
      SetSize(remedy, std::min(RecommendedSize(remedy.size), kMaxTriedSize));
      remedy.formula =
          remedy.keep_ns
              ? "what is written in that time at the session's mean rate, and a fifth more; too "
                "large to try"
              : "what was written from the oldest lost packet to its read, and a fifth more; too "
                "large to try";
      continue;
    }
    if (remedy.keep_ns) keep_from_ns = remedy.keep_from_ns;
    const auto same = std::ranges::find(goals, *remedy.buffer, &SizeGoal::buffer);
    const auto own = input.facts.buffers.find(*remedy.buffer);
    goals.push_back({.buffer = *remedy.buffer,
                     .first = same != goals.end() ? same->first : FirstSizes(remedy),
                     .judge = [&](const SweepRow& row) { return Judge(remedy, row); },
                     .too_small = own == input.facts.buffers.end() ? 0 : own->second.size,
                     .with_recommended = true});
    searched.push_back(&remedy);
  }
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
      config.setting = SweepConfig::kSizesOnly;
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
  std::vector<BufferSizes> untried;
  for (size_t i = 0; i < searched.size(); ++i) {
    Remedy& remedy = *searched[i];
    remedy.least_size = found[i].best;
    const uint64_t size = std::min(RecommendedSize(remedy.least_size), kMaxTriedSize);
    SetSize(remedy, size);
    if (FindTried(*remedy.buffer, size) == nullptr) untried.push_back({{*remedy.buffer, size}});
  }
  if (!untried.empty()) RS_RETURN_IF_ERROR(replay(untried).map([](auto&&) {}));
  for (Remedy* const remedy : searched) Recommend(*remedy);
  return {};
}

/// Sets the outcome of the size to recommend; of the least one if nothing larger does as well.
void RemedyTrials::Recommend(Remedy& remedy) {
  const TriedBuffer* recommended = FindTried(*remedy.buffer, remedy.size);
  const TriedBuffer* const least = FindTried(*remedy.buffer, remedy.least_size);
  const auto is_worse = [](const TriedBuffer& one, const TriedBuffer& other) {
    return one.outcome.in_trace < other.outcome.in_trace || one.outcome.full > other.outcome.full;
  };
  if (recommended == nullptr || (least != nullptr && is_worse(*recommended, *least))) {
    SetSize(remedy, remedy.least_size);
    recommended = least;
  }
  if (recommended == nullptr) return;
  remedy.outcome = recommended->outcome;
  remedy.reach_ns = recommended->reach_ns;
}

Status RemedyTrials::FindBetween(std::vector<Remedy>& remedies) {
  std::vector<SweepConfig> configs;
  std::vector<std::pair<Remedy*, uint64_t>> tried;
  for (Remedy& remedy : remedies) {
    if (remedy.kind != RemedyKind::kSize || !remedy.outcome || remedy.keep_ns || remedy.kept() > 0)
      continue;
    const uint64_t own = remedy.size - static_cast<uint64_t>(remedy.memory);
    // These sizes do not depend on the present one: the best of them is not improved again.
    for (uint64_t half = kPageBytes; half < remedy.size; half *= 2)
      for (const uint64_t size : {2 * half, 3 * half}) {
        if (size <= own || size >= remedy.size) continue;
        std::vector<ConfigChange> changes = remedy.changes;
        changes.front().value = std::to_string(size / 1024);
        RS_ASSIGN_OR_RETURN(configs.emplace_back(), ConfigWith(changes));
        tried.emplace_back(&remedy, size);
      }
  }
  if (configs.empty()) return {};
  RS_ASSIGN_OR_RETURN(const auto rows, sweep_.Run(configs));
  for (size_t i = 0; i < tried.size(); ++i) {
    const auto [remedy, size] = tried[i];
    const TriedOutcome outcome = SumOf(rows[i], remedy->buffer);
    if (outcome.in_trace <= std::max(remedy->now.in_trace, remedy->outcome->in_trace)) continue;
    SetSize(*remedy, size);
    remedy->least_size = size;
    remedy->outcome = outcome;
  }
  return {};
}

/// Returns the outcome of the session with the changes that go together, as far as it follows from
/// those of its buffers: they do not affect each other. nullopt: it does not follow.
std::optional<TriedOutcome> RemedyTrials::OutcomeOfBuffers(const RemedyList& list) const {
  TriedOutcome outcome = list.now;
  const auto replace = [](uint64_t& sum, uint64_t part, uint64_t by) { sum += by - part; };
  size_t of_session = 0, tried = 0;
  for (const Remedy& remedy : list.remedies) {
    if (remedy.is_alternative || !remedy.outcome) continue;
    ++tried;
    of_session += remedy.kind == RemedyKind::kSplit || !remedy.buffer ? 1 : 0;
    const TriedOutcome& now = remedy.now;
    for (const auto part : {&TriedOutcome::written, &TriedOutcome::in_trace, &TriedOutcome::lost,
                            &TriedOutcome::full, &TriedOutcome::waiting})
      replace(outcome.*part, now.*part, *remedy.outcome.*part);
  }
  return of_session > 0 && tried > 1 ? std::nullopt : std::optional(outcome);
}

/// Tries the periods that people type, from the longest that may do down, at most so many: the one
/// that brings most into the trace is taken, of several the longest.
Status RemedyTrials::FindPeriod(Remedy& remedy) {
  constexpr size_t kTries = 6;
  std::vector<SweepConfig> configs;
  std::vector<uint64_t> periods;
  for (uint64_t ms = remedy.period_ns / kNsPerMillisecond;
       periods.size() < kTries && ms * kNsPerMillisecond >= kShortestReadPeriodNs;
       ms = TypedPeriod(ms - 1)) {
    periods.push_back(ms);
    configs.emplace_back(NewConfig()).options.reads = {
        ReadsMode::kStreamed, ms * kNsPerMillisecond, {}};
  }
  RS_ASSIGN_OR_RETURN(const auto rows, sweep_.Run(configs));
  std::optional<uint64_t> most;
  for (size_t i = 0; i < rows.size(); ++i) {
    const uint64_t in_trace = SumOf(rows[i]).in_trace;
    if (most && in_trace <= *most) continue;
    most = in_trace;
    remedy.period_ns = periods[i] * kNsPerMillisecond;
    remedy.changes.back().value = std::to_string(periods[i]);
  }
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
    if (remedy.is_estimate() || remedy.outcome || remedy.kind == RemedyKind::kClearState) continue;
    RS_ASSIGN_OR_RETURN(configs.emplace_back(), ConfigWith(remedy.changes));
    tried.push_back(&remedy);
  }
  auto rows = sweep_.Run(configs);
  if (!rows && tried.size() > 1) {  // by themselves, as one that cannot be tried stops all
    rows.emplace(configs.size());
    for (size_t i = 0; i < configs.size(); ++i)
      if (auto one = sweep_.Run({configs[i]}))
        (*rows)[i] = std::move(one->front());
      else
        sweep_.input().warn(NotTried(*tried[i], one.error()));
  } else if (!rows && tried.size() == 1) {
    sweep_.input().warn(NotTried(*tried.front(), rows.error()));
    rows.emplace(1);
  }
  if (!rows) return tl::unexpected(std::move(rows).error());
  for (size_t i = 0; i < tried.size(); ++i)
    if (const auto& of = (*rows)[i]; !of.empty()) {
      const bool is_split = tried[i]->kind == RemedyKind::kSplit;
      tried[i]->outcome = SumOf(of, is_split ? std::nullopt : tried[i]->buffer);
      tried[i]->keeps_others = is_split && SumOf(of, tried[i]->buffer).lost == 0;
    }
  return {};
}

Status RemedyTrials::Choose(RemedyList& list) {
  const auto is_tried = [](const Remedy& one) {
    return !one.is_estimate() && one.kind != RemedyKind::kClearState;
  };
  for (const Remedy& one : list.remedies)
    if (one.kind == RemedyKind::kSize && one.outcome && one.kept() == 0)
      list.refused.push_back(one);
  std::erase_if(list.remedies, [&](const Remedy& one) {
    const bool is_refused =
        one.kind == RemedyKind::kSize && FindSizeRemedy(list.refused, *one.buffer) != nullptr;
    return is_refused || (is_tried(one) && one.kept() == 0);
  });
  // A remedy that needs another way to read the session is last of those that were tried.
  std::ranges::stable_sort(list.remedies, [&](const Remedy& a, const Remedy& b) {
    const auto key = [&](const Remedy& one) {
      const bool is_of_buffer = is_tried(one) || one.kind == RemedyKind::kSize;
      const int rank = !is_of_buffer ? 2 : one.kind == RemedyKind::kReadPeriod ? 1 : 0;
      // A discarding buffer is meant to keep the start, unless all is written into a file.
      const bool is_last = one.kind == RemedyKind::kPolicy && !one.is_of_file;
      return std::tuple(rank, ~one.kept(), is_last, one.memory);
    };
    return key(a) < key(b);
  });
  // A size that keeps all may be that for a shorter time, too.
  for (auto one = list.remedies.begin(); one != list.remedies.end();)
    one = !one->changes.empty() && std::ranges::find(list.remedies.begin(), one, one->changes,
                                                     &Remedy::changes) != one
              ? list.remedies.erase(one)
              : std::next(one);
  for (Remedy& remedy : list.remedies) {
    if (remedy.kind == RemedyKind::kClearState) continue;
    const std::string reason =
        !remedy.outcome
            ? remedy.concerned == 0
                  ? remedy.formula
                  : fmt::format("{}; {}", Count(remedy.concerned, "packet"), remedy.formula)
        : remedy.is_for_reach()
            ? fmt::format("a replay keeps the last {} with this", HumanDuration(*remedy.reach_ns))
            : fmt::format("with this a replay has {} of {} in the trace, not {}",
                          WithCommas(remedy.outcome->in_trace),
                          Count(remedy.outcome->written, "packet"),
                          WithCommas(remedy.now.in_trace));
    if (std::ranges::all_of(remedy.changes, &std::string::empty, &ConfigChange::reason) &&
        !remedy.changes.empty())
      remedy.changes.front().reason = reason;
    for (ConfigChange& change : remedy.changes)
      change.is_estimate = remedy.is_estimate() && !change.reason.empty();
  }
  ChooseChanges(config_.facts, list);
  if (std::ranges::none_of(list.remedies,
                           [](const Remedy& one) { return one.outcome.has_value(); }))
    return {};
  if ((list.together = OutcomeOfBuffers(list))) return {};
  RS_ASSIGN_OR_RETURN(const SweepConfig all, ConfigWith(list.changes));
  RS_ASSIGN_OR_RETURN(const auto together, sweep_.Run({all}));
  list.together = SumOf(together.front());
  return {};
}

}  // namespace

Status TryRemedies(const SweepInput& input, const ReplayOptions& own, const RemedyConfig& config,
                   RemedyList& list) {
  list.is_tried = true;
  if (list.remedies.empty()) return {};
  RemedyTrials trials(input, own, config);
  RS_RETURN_IF_ERROR(trials.FindSizes(list.remedies));
  RS_RETURN_IF_ERROR(trials.FindBetween(list.remedies));
  for (Remedy& remedy : list.remedies)
    if (remedy.kind == RemedyKind::kReadPeriod) RS_RETURN_IF_ERROR(trials.FindPeriod(remedy));
  RS_RETURN_IF_ERROR(trials.Verify(list));
  return trials.Choose(list);
}

}  // namespace ringscope
