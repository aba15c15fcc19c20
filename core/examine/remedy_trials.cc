#include "core/examine/remedies.h"
#include "core/sweep/smallest_size.h"

namespace ringscope {
namespace {

constexpr uint64_t kNsPerMillisecond = 1'000'000;

/// Returns true for a remedy whose effect replays show.
bool IsTried(const Remedy& remedy) {
  return !remedy.is_estimate() && !remedy.As<ClearStateRemedy>();
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

/// Returns the smallest size with which the buffer has the same outcome: what it did not write to
/// the end it does not need.
uint64_t SameFrom(const SweepRow& row) {
  const bool is_once = row.stats.write_wrap_count == 0 && row.full_packets() == 0;
  const uint64_t written = std::max(PagesUp(row.stats.bytes_written), kPageBytes);
  return is_once ? std::min(written, row.size) : row.size;
}

/// Returns the outcome of the session with the changes that go together, as far as it follows from
/// those of its buffers: they do not affect each other. nullopt: it does not follow.
std::optional<TriedOutcome> OutcomeOfBuffers(const RemedyList& list) {
  TriedOutcome outcome = list.now;
  size_t of_session = 0, tried = 0;
  for (const Remedy& remedy : list.remedies) {
    if (remedy.is_alternative || !remedy.outcome) continue;
    ++tried;
    of_session += remedy.As<SplitRemedy>() || !remedy.buffer ? 1 : 0;
    for (const auto part : {&TriedOutcome::written, &TriedOutcome::in_trace, &TriedOutcome::lost,
                            &TriedOutcome::full, &TriedOutcome::waiting})
      outcome.*part += *remedy.outcome.*part - remedy.now.*part;
  }
  return of_session > 0 && tried > 1 ? std::nullopt : std::optional(outcome);
}

/// Sets the changes that go together, of remedies in order of their effect, and marks the others as
/// alternatives.
/// @param config of the session
void ChooseChanges(const TraceConfigFacts& config, RemedyList& list) {
  std::map<BufferId, const Remedy*> chosen;
  list.changes.clear();
  for (Remedy& remedy : list.remedies) {
    if (const auto* const clear = remedy.As<ClearStateRemedy>()) {
      // With a larger ring the state may last longer, or there is all of it.
      const Remedy* const first =
          chosen.contains(*remedy.buffer) ? chosen.at(*remedy.buffer) : nullptr;
      remedy.is_alternative =
          first != nullptr && (first->outcome ? first->outcome->full == 0 : first->concerned == 0);
      uint64_t reach_ns = *remedy.reach_ns;
      if (first != nullptr && !remedy.is_alternative)
        reach_ns = std::max(reach_ns, first->reach_ns.value_or(first->keep_ns().value_or(0)));
      reach_ns -= std::min(reach_ns, clear->idle_ns);
      const ClearPeriod period = ClearPeriodFor(reach_ns, config);
      remedy.reach_ns = reach_ns;
      remedy.period_ns = period.reason.empty() ? 0 : period.ms * kNsPerMillisecond;
      remedy.formula = period.reason.text;
      remedy.changes = {{"incremental_state_config.clear_period_ms", std::to_string(period.ms),
                         period.reason.text, true}};
      if (remedy.period_ns == 0) continue;
    } else if (remedy.As<ReadPeriodRemedy>()) {
      remedy.is_alternative = !chosen.empty();
    } else if (remedy.buffer) {
      remedy.is_alternative = !chosen.emplace(*remedy.buffer, &remedy).second;
    }
    const bool is_there = !remedy.changes.empty() &&
                          Contains(list.changes, remedy.changes.front().path, &ConfigChange::path);
    if (!remedy.is_alternative && !is_there)
      list.changes.insert(list.changes.end(), remedy.changes.begin(), remedy.changes.end());
  }
  // Entries that are added come in the order of their numbers.
  std::ranges::stable_sort(list.changes, {}, [](const ConfigChange& change) {
    const std::string entry = change.path.substr(0, change.path.find(']'));
    return entry.starts_with("producers[") ? std::pair(entry.size(), entry)
                                           : std::pair(size_t{0}, std::string());
  });
  std::erase_if(list.remedies, [](const Remedy& remedy) {
    return remedy.As<ClearStateRemedy>() && remedy.period_ns == 0;
  });
}

/// Tries the remedies of one session. The functions are called in their order.
class RemedyTrials {
 public:
  RemedyTrials(const SweepInput& input, const ReplayOptions& own, const RemedyConfig& config)
      : sweep_(input), own_(own), config_(config) {}

  /// Finds the smallest sizes of all buffers that have a remedy of that kind. They are replayed
  /// with the config that is printed.
  Status FindSizes(std::vector<Remedy>& remedies) {
    const SweepInput& input = sweep_.input();
    uint64_t keep_from_ns = 0;
    // No more memory than the replay as it was took, twice, or that is the sweep's anyway.
    const uint64_t limit = std::max(input.memory_limit, 2 * sweep_.BytesOf(own_));
    std::vector<SizeGoal> goals;
    std::vector<Remedy*> searched;
    for (Remedy& remedy : remedies) {
      const auto* const own = remedy.As<SizeRemedy>();
      if (own == nullptr || remedy.is_estimate()) continue;
      if (remedy.size > limit) {
        SetSize(remedy, std::min(RecommendedSize(remedy.size), kMaxTriedSize));
        remedy.formula =
            fmt::format("what {}, and a fifth more; too large to try",
                        own->keep_ns ? "is written in that time at the session's mean rate"
                                     : "was written from the oldest lost packet to its read");
        continue;
      }
      if (own->keep_ns) keep_from_ns = own->keep_from_ns;
      const auto* const same = FindBy(goals, *remedy.buffer, &SizeGoal::buffer);
      const auto* const now = BufferOf(remedy);
      goals.push_back({.buffer = *remedy.buffer,
                       .first = same != nullptr ? same->first : FirstSizes(remedy, *own),
                       .judge = [&, own](const SweepRow& row) { return Judge(remedy, *own, row); },
                       .too_small = now == nullptr ? 0 : now->size,
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
    RS_ASSIGN_OR_RETURN(const auto found,
                        FindSmallestSizes(goals, input.facts.commit_bytes, replay));
    std::vector<BufferSizes> untried;
    for (size_t i = 0; i < searched.size(); ++i) {
      const BufferId buffer = *searched[i]->buffer;
      const uint64_t size = std::min(RecommendedSize(found[i].best), kMaxTriedSize);
      SetSize(*searched[i], size, found[i].best);
      if (!sized_.contains({buffer, size})) untried.push_back({{buffer, size}});
    }
    if (!untried.empty()) RS_RETURN_IF_ERROR(replay(untried).map([](auto&&) {}));
    for (Remedy* const remedy : searched) Recommend(*remedy);
    return {};
  }

  /// Where the size that holds all brings nothing, tries those in between.
  Status FindBetween(std::vector<Remedy>& remedies) {
    std::vector<SweepConfig> configs;
    std::vector<std::pair<Remedy*, uint64_t>> tried;
    for (Remedy& remedy : remedies) {
      if (!remedy.As<SizeRemedy>() || !remedy.outcome || remedy.keep_ns() || remedy.kept() > 0)
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
      SetSize(*remedy, size, size);
      remedy->outcome = outcome;
    }
    return {};
  }

  /// Tries the periods that people type, from the longest that may do down, at most so many: the
  /// one that brings most into the trace is taken, of several the longest.
  Status FindPeriod(Remedy& remedy) {
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

  /// Replays the session with the printed config of each remedy that was not replayed before.
  Status Verify(RemedyList& list) {
    std::vector<SweepConfig> configs;
    std::vector<Remedy*> tried;
    for (Remedy& remedy : list.remedies) {
      if (!IsTried(remedy) || remedy.outcome) continue;
      RS_ASSIGN_OR_RETURN(configs.emplace_back(), ConfigWith(remedy.changes));
      tried.push_back(&remedy);
    }
    auto rows = sweep_.Run(configs);
    // By themselves, as one that cannot be tried stops all.
    const bool is_each_alone = !rows && configs.size() > 1;
    for (size_t i = 0; i < tried.size(); ++i) {
      Remedy& remedy = *tried[i];
      if (is_each_alone) rows = sweep_.Run({configs[i]});
      if (!rows) {
        sweep_.input().warn(fmt::format("the remedy '{}' cannot be tried: {}", remedy.kind(),
                                        rows.error().ToString()));
        continue;
      }
      const std::vector<SweepRow>& own = (*rows)[is_each_alone ? 0 : i];
      auto* const split = std::get_if<SplitRemedy>(&remedy.own);
      remedy.outcome = SumOf(own, split != nullptr ? std::nullopt : remedy.buffer);
      if (split != nullptr) split->keeps_others = SumOf(own, remedy.buffer).lost == 0;
    }
    return {};
  }

  /// Removes what is of no use, chooses the changes that go together, and replays these, unless
  /// that shows nothing new.
  Status Choose(RemedyList& list) {
    for (const Remedy& one : list.remedies)
      if (one.As<SizeRemedy>() && one.outcome && one.kept() == 0) list.refused.push_back(one);
    std::erase_if(list.remedies, [&](const Remedy& one) {
      const bool is_refused =
          one.As<SizeRemedy>() && FindSizeRemedy(list.refused, *one.buffer) != nullptr;
      return is_refused || (IsTried(one) && one.kept() == 0);
    });
    // A remedy that needs another way to read the session is last of those that were tried.
    std::ranges::stable_sort(list.remedies, {}, [](const Remedy& one) {
      const bool is_of_buffer = IsTried(one) || one.As<SizeRemedy>();
      const int rank = !is_of_buffer ? 2 : one.As<ReadPeriodRemedy>() ? 1 : 0;
      // A discarding buffer is meant to keep the start, unless all is written into a file.
      const auto* const policy = one.As<PolicyRemedy>();
      const bool is_last = policy != nullptr && !policy->is_of_file;
      return std::tuple(rank, ~one.kept(), is_last, one.memory);
    });
    // A size that keeps all may be that for a shorter time, too.
    for (auto one = list.remedies.begin(); one != list.remedies.end();)
      one = !one->changes.empty() && std::ranges::find(list.remedies.begin(), one, one->changes,
                                                       &Remedy::changes) != one
                ? list.remedies.erase(one)
                : std::next(one);
    for (Remedy& remedy : list.remedies)
      if (!remedy.As<ClearStateRemedy>()) SetReason(remedy);
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

 private:
  /// A buffer of a size, whatever the others have.
  struct TriedBuffer {
    TriedOutcome outcome;
    uint64_t reach_ns = 0;  // of its sequence that reaches back least far
  };

  SweepConfig NewConfig() { return {.setting = ++settings_, .options = own_}; }

  Result<SweepConfig> ConfigWith(const std::vector<ConfigChange>& changes) {
    SweepConfig config = NewConfig();
    RS_ASSIGN_OR_RETURN(config.session.config, config_.with(changes));
    config.options.session.all.size.reset();
    config.options.session.all.policy.reset();
    for (auto& [id, choice] : config.options.session.buffers)
      choice.size.reset(), choice.policy.reset();
    const TraceConfigFacts facts = ReadTraceConfigFacts(wire::AsBytes(config.session.config));
    if (ReadsDiffer(config_.facts, facts))
      config.options.reads = {
          facts.write_into_file ? ReadsMode::kStreamed : ReadsMode::kEnd, 0, {}};
    return config;
  }

  /// Returns the remedy's buffer as the session has it, or nullptr.
  const SessionIndex::Buffer* BufferOf(const Remedy& remedy) const {
    return FindIn(sweep_.input().facts.buffers, *remedy.buffer);
  }

  /// @param least absent: as before
  void SetSize(Remedy& remedy, uint64_t size, std::optional<uint64_t> least = {}) {
    remedy.size = size;
    if (least) std::get<SizeRemedy>(remedy.own).least_size = *least;
    if (const auto* const now = BufferOf(remedy))
      remedy.memory = static_cast<int64_t>(size) - static_cast<int64_t>(now->size);
    remedy.changes.front().value = std::to_string(size / 1024);
  }

  /// Returns true for a ring that must hold its first chunk until its last one is written. (That it
  /// must is not known of a ring that chunks may have been too large for.)
  bool MustHoldAll(const Remedy& remedy, const SizeRemedy& own) const {
    const auto* const now = BufferOf(remedy);
    return own.holds_all && !own.keep_ns && now != nullptr &&
           now->policy == FillPolicy::kRingBuffer && now->size >= kMaxChunkData + kPageBytes;
  }

  /// Returns the sizes to replay first: they show a size that surely is large enough, or nearly.
  std::vector<uint64_t> FirstSizes(const Remedy& remedy, const SizeRemedy& own) const {
    if (own.keep_ns) return {remedy.size};
    const uint64_t least = std::clamp(PagesUp(own.least_size), kPageBytes, remedy.size);
    const uint64_t recommended = RecommendedSize(least);
    if (MustHoldAll(remedy, own)) return {recommended};
    // A ring that wraps leaves some space unused.
    std::vector<uint64_t> sizes = {std::max(least - kPageBytes, kPageBytes), least,
                                   own.holds_all ? least : remedy.size, recommended};
    std::ranges::sort(sizes);
    return sizes;
  }

  /// A size that is to keep all is large enough if nothing is lost to it; another one if it reaches
  /// as far back as it is to.
  TriedSize Judge(const Remedy& remedy, const SizeRemedy& own, const SweepRow& row) const {
    TriedSize tried{.meets = row.full_packets() == 0 ||
                             (own.keep_ns && row.shortest_history_ns >= *own.keep_ns),
                    .lost = row.lost,
                    .same_from = SameFrom(row)};
    // With a page less than was written, the last chunk overwrites the first.
    tried.is_least = tried.meets && MustHoldAll(remedy, own) &&
                     row.stats.bytes_written > tried.same_from - kPageBytes;
    if (!tried.is_least && row.writes)
      tried.estimate = own.keep_ns ? row.writes->SizeToKeep() : row.writes->SizeToHoldAll();
    return tried;
  }

  /// Sets the outcome of the size to recommend; of the least one if nothing larger does as well.
  void Recommend(Remedy& remedy) {
    const uint64_t least_size = remedy.As<SizeRemedy>()->least_size;
    const TriedBuffer* recommended = FindIn(sized_, {*remedy.buffer, remedy.size});
    const TriedBuffer* const least = FindIn(sized_, {*remedy.buffer, least_size});
    const auto is_worse = [](const TriedOutcome& one, const TriedOutcome& other) {
      return one.in_trace < other.in_trace || one.full > other.full;
    };
    if (recommended == nullptr ||
        (least != nullptr && is_worse(recommended->outcome, least->outcome))) {
      SetSize(remedy, least_size);
      recommended = least;
    }
    if (recommended == nullptr) return;
    remedy.outcome = recommended->outcome;
    remedy.reach_ns = recommended->reach_ns;
  }

  static void SetReason(Remedy& remedy) {
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

  Sweep sweep_;
  const ReplayOptions& own_;
  const RemedyConfig& config_;
  size_t settings_ = 0;
  std::map<std::pair<BufferId, uint64_t>, TriedBuffer> sized_;  // by buffer and size
};

}  // namespace

Status TryRemedies(const SweepInput& input, const ReplayOptions& own, const RemedyConfig& config,
                   RemedyList& list) {
  list.is_tried = true;
  if (list.remedies.empty()) return {};
  RemedyTrials trials(input, own, config);
  RS_RETURN_IF_ERROR(trials.FindSizes(list.remedies));
  RS_RETURN_IF_ERROR(trials.FindBetween(list.remedies));
  for (Remedy& remedy : list.remedies)
    if (remedy.As<ReadPeriodRemedy>()) RS_RETURN_IF_ERROR(trials.FindPeriod(remedy));
  RS_RETURN_IF_ERROR(trials.Verify(list));
  return trials.Choose(list);
}

}  // namespace ringscope
