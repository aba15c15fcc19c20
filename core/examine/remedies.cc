#include "core/examine/remedies.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <set>
#include <utility>

#include "core/base/text.h"
#include "core/perfetto/chunk.h"
#include "core/sweep/smallest_size.h"

namespace ringscope {
namespace {

constexpr uint64_t kMs = 1'000'000;

template <typename Visit>
void VisitGaps(const BufferGaps& buffer, Visit visit) {
  for (const SequenceGaps& sequence : buffer.sequences)
    for (const Gap& gap : sequence.gaps) visit(gap);
}

/// Finds the candidates of one session.
class RemedyFinder {
 public:
  RemedyFinder(const RemedyFacts& facts, std::optional<uint64_t> keep_ns)
      : facts_(facts), keep_ns_(keep_ns) {}

  RemedyList Find() {
    RemedyList list;
    for (const BufferGaps& buffer : facts_.gaps.buffers) {
      const BufferOutcome* const outcome = facts_.outcome.Find(buffer.id);
      if (outcome == nullptr) continue;
      AddSize(buffer, *outcome);
      AddSplit(buffer, *outcome);
      AddPolicy(buffer, *outcome);
      AddClearState(buffer, *outcome);
    }
    AddReadPeriod();
    AddFlush();
    AddSharedMemory();
    list.remedies = std::move(remedies_);
    for (const BufferGaps& buffer : facts_.gaps.buffers)
      list.lost_now += buffer.totals.lost().packets;
    return list;
  }

 private:
  /// @param buffer nullptr if the remedy concerns the session
  Remedy& Add(RemedyKind kind, const BufferOutcome* buffer, uint64_t concerned) {
    Remedy& remedy = remedies_.emplace_back();
    remedy.kind = kind;
    if (buffer != nullptr) remedy.buffer = buffer->id, remedy.index = buffer->index;
    remedy.concerned = concerned;
    for (const BufferGaps& of : facts_.gaps.buffers)
      if (buffer == nullptr || of.id == buffer->id) remedy.lost_now += of.totals.lost().packets;
    return remedy;
  }

  /// The bytes that were written from the oldest lost packet to the read that should have returned
  /// it: about what the buffer needs.
  void AddSize(const BufferGaps& buffer, const BufferOutcome& outcome) {
    uint64_t size = 0, least = 0, packets = 0;
    VisitGaps(buffer, [&](const Gap& gap) {
      if (!gap.remedies.buffer_size) return;
      size = std::max(size, *gap.remedies.buffer_size);
      least = std::max(least, gap.remedies.held_size);
      packets += gap.lost.packets;
    });
    if (size == 0) return;
    Remedy& remedy = Add(RemedyKind::kSize, &outcome, packets);
    remedy.size = std::min(PagesUp(size), kMaxTriedSize);
    remedy.least_size = least;
    remedy.holds_all = least >= outcome.stats.bytes_written;
    remedy.changes = {{fmt::format("buffers[{}].size_kb", outcome.index),
                       std::to_string(remedy.size / 1024), "", true}};
    const std::optional<uint64_t> reach_ns = ReachNs(buffer);
    if (keep_ns_)
      SetKeep(*keep_ns_, outcome, remedy);
    else if (reach_ns && *reach_ns < kUsualKeepNs && facts_.outcome.duration_ns() > kUsualKeepNs)
      SetKeep(kUsualKeepNs, outcome, remedies_.emplace_back(Remedy(remedy)));
  }

  /// The bytes that were written in that time at the mean rate, and a fourth more, are about what
  /// the buffer needs to reach back so far.
  void SetKeep(uint64_t keep_ns, const BufferOutcome& outcome, Remedy& remedy) {
    const uint64_t end_ns = facts_.outcome.last_time_ns.value_or(0);
    remedy.keep_ns = keep_ns;
    remedy.keep_from_ns = end_ns - std::min(end_ns, keep_ns);
    const auto duration_ns = std::max<double>(static_cast<double>(facts_.outcome.duration_ns()), 1);
    const double size = static_cast<double>(outcome.stats.bytes_written) * 1.25 *
                        std::min(1.0, static_cast<double>(keep_ns) / duration_ns);
    remedy.size = std::min(remedy.size, PagesUp(static_cast<uint64_t>(size)) + kMaxChunkData + 1);
  }

  /// The data sources of the producer that took the greater part of the space that others lacked.
  void AddSplit(const BufferGaps& buffer, const BufferOutcome& outcome) {
    std::map<SequenceKey, uint64_t> pushed;
    VisitGaps(buffer, [&](const Gap& gap) {
      if (gap.remedies.separate) pushed[*gap.remedies.separate] += gap.lost.packets;
    });
    const auto most =
        std::ranges::max_element(pushed, {}, [](const auto& one) { return one.second; });
    if (most == pushed.end() || outcome.index >= facts_.config.buffers.size()) return;
    if (facts_.outcome.clone) return;  // it would not have the new buffer
    std::set<std::string> names = facts_.notes.SourcesOf(most->first.producer, outcome.id);
    // Of a producer with several sources, the events of the kernel are those of one.
    if (facts_.notes.SourceOf(most->first, outcome.id) == kFtraceSource) names = {kFtraceSource};
    const std::string target = std::to_string(facts_.config.buffers.size());
    const std::string path = "buffers[" + target + "].";
    Remedy remedy{.size = PagesUp(outcome.size)};
    remedy.changes = {{path + "size_kb", std::to_string(remedy.size / 1024), "", false},
                      {path + "fill_policy", "RING_BUFFER", "", false}};
    if (facts_.config.buffers[outcome.index].is_v2)
      remedy.changes.push_back({path + "experimental_mode", "TRACE_BUFFER_V2", "", false});
    bool leaves_others = false;
    for (size_t i = 0; i < facts_.config.sources.size(); ++i) {
      const ConfiguredSource& source = facts_.config.sources[i];
      if (source.target_buffer != outcome.index) continue;
      if (!names.contains(source.name)) {
        leaves_others = true;
        continue;
      }
      remedy.sources.push_back(source.name);
      remedy.changes.push_back(
          {fmt::format("data_sources[{}].config.target_buffer", i), target, "", false});
    }
    if (remedy.sources.empty() || !leaves_others) return;
    Remedy& added = Add(RemedyKind::kSplit, &outcome, most->second);
    added.size = remedy.size;
    added.memory = static_cast<int64_t>(remedy.size);
    added.sources = std::move(remedy.sources);
    added.changes = std::move(remedy.changes);
  }

  void AddPolicy(const BufferGaps& buffer, const BufferOutcome& outcome) {
    const uint64_t lost = buffer.totals[Fate::kDiscarded].packets;
    if (outcome.policy != FillPolicy::kDiscard || lost == 0) return;
    Remedy& remedy = Add(RemedyKind::kPolicy, &outcome, lost);
    if (outcome.into_file)
      remedy.formula = "once it is full it accepts nothing more, however much was read";
    remedy.changes = {
        {fmt::format("buffers[{}].fill_policy", outcome.index), "RING_BUFFER", "", false}};
  }

  /// How far back from the session's end what is left of it reaches, ns.
  std::optional<uint64_t> ReachNs(const BufferGaps& buffer) const {
    const std::optional<Reach> reach = ReachOf(buffer, facts_.outcome.end_ns());
    return reach ? std::optional(reach->ns) : std::nullopt;
  }

  void AddClearState(const BufferGaps& buffer, const BufferOutcome& outcome) {
    uint64_t unusable = 0;
    for (const SequenceGaps& sequence : buffer.sequences)
      unusable += sequence.unusable.count.packets;
    std::optional<uint64_t> reach_ns = ReachNs(buffer);
    if (unusable == 0 || !reach_ns || outcome.policy != FillPolicy::kRingBuffer) return;
    // The ring may be another one then.
    const Remedy* const size = FindSizeRemedy(remedies_, outcome.id);
    if (size != nullptr && size->keep_ns) reach_ns = std::max(*reach_ns, *size->keep_ns);
    const ClearPeriod period = ClearPeriodFor(reach_ns, facts_.config);
    if (period.reason.empty()) return;
    Remedy& remedy = Add(RemedyKind::kClearState, &outcome, unusable);
    remedy.period_ns = period.ms * kMs;
    remedy.formula = period.reason.text;
    remedy.changes = {{"incremental_state_config.clear_period_ms", std::to_string(period.ms),
                       period.reason.text, true}};
  }

  /// The longest period that may do: the shortest time that a lost packet was in its buffer.
  void AddReadPeriod() {
    std::optional<uint64_t> longest;
    uint64_t packets = 0;
    bool helps = true;
    for (const BufferGaps& buffer : facts_.gaps.buffers)
      VisitGaps(buffer, [&](const Gap& gap) {
        const std::optional<uint64_t> period = gap.remedies.read_period_ns;
        helps &= period || !gap.remedies.buffer_size;
        if (!period) return;
        longest = std::min(longest.value_or(UINT64_MAX), *period);
        packets += gap.lost.packets;
      });
    // A read at the end of the period is too late for what is evicted right then.
    if (longest) *longest = (*longest - std::min<uint64_t>(*longest, 1)) / kMs * kMs;
    if (!helps || longest < kShortestReadPeriodNs) return;
    Remedy& remedy = Add(RemedyKind::kReadPeriod, nullptr, packets);
    remedy.period_ns = *longest;
    if (!facts_.config.write_into_file)
      remedy.changes.push_back({"write_into_file", "true", "", false});
    remedy.changes.push_back({"file_write_period_ms", std::to_string(*longest / kMs), "", false});
  }

  void AddFlush() {
    uint64_t packets = 0;
    for (const BufferGaps& buffer : facts_.gaps.buffers)
      VisitGaps(buffer, [&](const Gap& gap) {
        if (gap.remedies.flush) packets += gap.lost.packets;
      });
    // Events of before the session were not held back in it.
    for (const StaleSequence& stale : facts_.gaps.stale)
      if (stale.longest.time_ns >= facts_.notes.start_ns()) packets += stale.stale;
    if (packets == 0) return;
    // What is flushed is in its ring before that has gone round.
    constexpr uint64_t kShortestNs = 1000 * kMs, kLongestNs = 30'000 * kMs;
    uint64_t period_ns = std::min(kLongestNs, facts_.outcome.duration_ns() / 2);
    for (const BufferGaps& buffer : facts_.gaps.buffers)
      if (const auto reach_ns = ReachNs(buffer); reach_ns && *reach_ns > 0)
        period_ns = std::min(period_ns, *reach_ns / 2);
    period_ns = std::max(period_ns / kMs * kMs, kShortestNs);
    if (facts_.config.flush_period_ms)
      period_ns = std::min(period_ns, *facts_.config.flush_period_ms * kMs / 2);
    Remedy& remedy = Add(RemedyKind::kFlush, nullptr, packets);
    remedy.period_ns = period_ns;
    remedy.formula =
        "half of what the buffer reaches back, or of the session; 10 s to 30 s are usual";
    remedy.changes = {
        {"flush_period_ms", std::to_string(remedy.period_ns / kMs),
         fmt::format("{} not committed in time",
                     packets == 1 ? "1 packet was" : Count(packets, "packet") + " were"),
         true}};
  }

  /// For the bytes that the producer committed in a burst.
  void AddSharedMemory() {
    constexpr uint64_t kDefaultMemory = uint64_t{256} << 10;     // of the service
    std::map<ProducerId, std::pair<uint64_t, uint64_t>> wanted;  // bytes, places
    for (const BufferGaps& buffer : facts_.gaps.buffers) {
      for (const SequenceGaps& sequence : buffer.sequences) {
        if (sequence.losses_by_flag() == 0) continue;
        auto& [bytes, places] = wanted[sequence.sequence.producer];
        bytes = std::max(
            bytes, facts_.notes.SharedMemoryOf(sequence.sequence).value_or(kDefaultMemory) + 1);
        places += sequence.losses_by_flag();
      }
      VisitGaps(buffer, [&](const Gap& gap) {
        if (!gap.Has(Cause::kAborted)) return;
        const uint64_t now = facts_.notes.SharedMemoryOf(gap.sequence).value_or(kDefaultMemory);
        const uint64_t burst =
            gap.abort ? std::max(gap.abort->window_bytes, gap.abort->packet_bytes) : 0;
        auto& [bytes, places] = wanted[gap.sequence.producer];
        bytes = std::max({bytes, now + 1, burst / 3 * 4});
        places += gap.places;
      });
    }
    size_t index = 0;
    for (const auto& [producer, want] : wanted) {
      constexpr uint64_t kLargest = uint64_t{32} << 20;  // of the service
      Remedy& remedy = Add(RemedyKind::kSharedMemory, nullptr, want.second);
      remedy.producer = producer;
      remedy.size = std::clamp(std::bit_ceil(want.first), kPageBytes, kLargest);
      remedy.memory = static_cast<int64_t>(remedy.size);
      remedy.formula =
          "more than it has, or than the default of 256 KiB, and four thirds of what was committed "
          "in "
          "a burst; a power of 2";
      const std::string name = facts_.notes.ProducerOf({producer, WriterId{1}});
      if (name.empty()) continue;
      const std::string path = fmt::format("producers[{}].", index++);
      remedy.changes = {{path + "producer_name", Quoted(name), "", false},
                        {path + "shm_size_kb", std::to_string(remedy.size / 1024),
                         "its shared memory was full at " + Count(want.second, "place"), true}};
    }
  }

  static std::string Quoted(const std::string& text) {
    std::string quoted = "\"";
    for (const char c : Printable(text)) {
      if (c == '"' || c == '\\') quoted += '\\';
      quoted += c;
    }
    return quoted + "\"";
  }

  const RemedyFacts& facts_;
  const std::optional<uint64_t> keep_ns_;
  std::vector<Remedy> remedies_;
};

}  // namespace

RemedyList FindRemedies(const RemedyFacts& facts, std::optional<uint64_t> keep_ns) {
  return RemedyFinder(facts, keep_ns).Find();
}

const Remedy* FindSizeRemedy(const std::vector<Remedy>& remedies, BufferId buffer) {
  const auto found = std::ranges::find_if(remedies, [&](const Remedy& remedy) {
    return remedy.kind == RemedyKind::kSize && remedy.buffer == buffer;
  });
  return found == remedies.end() ? nullptr : &*found;
}

void ChooseChanges(RemedyList& list) {
  const bool has_size = std::ranges::any_of(list.remedies, [](const Remedy& one) {
    return one.kind == RemedyKind::kSize && (one.kept() > 0 || one.is_estimate());
  });
  list.changes.clear();
  for (const Remedy& remedy : list.remedies) {
    if (!remedy.is_estimate() && remedy.kept() == 0) continue;
    if (has_size && (remedy.kind == RemedyKind::kReadPeriod || remedy.kind == RemedyKind::kSplit))
      continue;
    // A buffer that loses nothing has all state.
    const Remedy* const size = remedy.kind == RemedyKind::kClearState
                                   ? FindSizeRemedy(list.remedies, *remedy.buffer)
                                   : nullptr;
    if (size != nullptr && size->outcome && size->outcome->lost == 0) continue;
    // The first one of a buffer's sizes counts.
    if (!remedy.changes.empty() && std::ranges::find(list.changes, remedy.changes.front().path,
                                                     &ConfigChange::path) != list.changes.end())
      continue;
    list.changes.insert(list.changes.end(), remedy.changes.begin(), remedy.changes.end());
  }
}

}  // namespace ringscope
