#include "core/examine/remedies.h"

#include "core/sweep/smallest_size.h"

namespace ringscope {
namespace {

constexpr uint64_t kMs = 1'000'000;
/// The mean rate of a shorter session says little about ten seconds.
constexpr uint64_t kShortestExtrapolatedNs = 1000 * kMs;

template <typename Visit>
void VisitGaps(const BufferGaps& buffer, Visit visit) {
  for (const SequenceGaps& sequence : buffer.sequences)
    for (const Gap& gap : sequence.gaps) visit(gap);
}

class RemedyFinder {
 public:
  RemedyFinder(const RemedyFacts& facts, std::optional<uint64_t> keep_ns)
      : facts_(facts),
        keep_ns_(keep_ns),
        duration_ns_(facts.outcome.end_ns() -
                     std::min(facts.outcome.end_ns(), facts.outcome.first_time_ns.value_or(0))) {}

  RemedyList Find() {
    RemedyList list;
    for (const BufferGaps& buffer : facts_.gaps.buffers) {
      list.now += OutcomeOf(buffer.totals);
      const BufferOutcome* const outcome = facts_.outcome.Find(buffer.id);
      if (outcome == nullptr) continue;
      AddSizes(buffer, *outcome);
      AddSplit(buffer, *outcome);
      AddPolicy(buffer, *outcome);
      AddClearState(buffer, *outcome);
    }
    AddReadPeriod();
    AddFlush();
    AddSharedMemory();
    list.remedies = std::move(remedies_);
    return list;
  }

 private:
  /// @param buffer nullptr if the remedy concerns the session
  Remedy& Add(decltype(Remedy::own) own, const BufferOutcome* buffer, uint64_t concerned) {
    Remedy& remedy = remedies_.emplace_back();
    remedy.own = std::move(own);
    if (buffer != nullptr) remedy.buffer = buffer->id, remedy.index = buffer->index;
    remedy.concerned = concerned;
    // A split concerns its new buffer, too.
    for (const BufferGaps& of : facts_.gaps.buffers)
      if (buffer == nullptr || of.id == buffer->id || remedy.As<SplitRemedy>())
        remedy.now += OutcomeOf(of.totals);
    return remedy;
  }

  /// A size that keeps all, or what is to be kept, and one for the time that people mostly want.
  void AddSizes(const BufferGaps& buffer, const BufferOutcome& outcome) {
    const bool is_ring = outcome.policy == FillPolicy::kRingBuffer;
    if (keep_ns_ && is_ring && *keep_ns_ > duration_ns_) return AddExtrapolated(*keep_ns_, outcome);
    const Remedy* const all = AddSize(buffer, outcome);
    if (all == nullptr || keep_ns_ || !is_ring) return;
    const std::optional<Reach> reach = ReachOf(buffer);
    if (!reach || reach->ns >= kUsualKeepNs) return;
    if (duration_ns_ > kUsualKeepNs)
      SetKeep(kUsualKeepNs, outcome, remedies_.emplace_back(Remedy(*all)));
    else if (duration_ns_ >= kShortestExtrapolatedNs)
      AddExtrapolated(kUsualKeepNs, outcome);
  }

  /// The bytes that were written from the oldest lost packet to the read that should have returned
  /// it: about what the buffer needs.
  const Remedy* AddSize(const BufferGaps& buffer, const BufferOutcome& outcome) {
    uint64_t size = 0, least = 0, packets = 0;
    VisitGaps(buffer, [&](const Gap& gap) {
      if (!gap.remedies.buffer_size) return;
      size = std::max(size, *gap.remedies.buffer_size);
      least = std::max(least, gap.remedies.held_size);
      packets += gap.lost.packets;
    });
    if (size == 0) return nullptr;
    Remedy& remedy =
        Add(SizeRemedy{.least_size = least, .holds_all = least >= outcome.stats.bytes_written},
            &outcome, packets);
    remedy.size = std::min(PagesUp(size), kMaxTriedSize);
    SetSizeChange(remedy);
    if (keep_ns_) SetKeep(*keep_ns_, outcome, remedy);
    return &remedy;
  }

  static void SetSizeChange(Remedy& remedy) {
    remedy.changes = {{fmt::format("buffers[{}].size_kb", remedy.index),
                       std::to_string(remedy.size / 1024), "", true}};
  }

  /// Returns the bytes that are written to the buffer in that time, at the session's mean rate.
  uint64_t BytesIn(uint64_t ns, const BufferOutcome& outcome) const {
    const auto duration_ns = std::max<double>(static_cast<double>(duration_ns_), 1);
    return static_cast<uint64_t>(static_cast<double>(outcome.stats.bytes_written) *
                                 static_cast<double>(ns) / duration_ns);
  }

  /// What is written in that time, and a fourth more, is about what the buffer needs to reach back
  /// so far.
  void SetKeep(uint64_t keep_ns, const BufferOutcome& outcome, Remedy& remedy) const {
    const uint64_t end_ns = facts_.outcome.end_ns();
    auto& own = std::get<SizeRemedy>(remedy.own);
    own.keep_ns = keep_ns;
    own.keep_from_ns = end_ns - std::min(end_ns, keep_ns);
    const uint64_t size = BytesIn(std::min(keep_ns, duration_ns_), outcome);
    remedy.size = std::min(remedy.size, PagesUp(size + size / 4) + kMaxChunkData + 1);
  }

  /// The session is shorter than the time that is to be kept.
  void AddExtrapolated(uint64_t keep_ns, const BufferOutcome& outcome) {
    const uint64_t bytes = BytesIn(keep_ns, outcome);
    if (bytes <= outcome.size || duration_ns_ == 0) return;
    Remedy& remedy = Add(SizeRemedy{.keep_ns = keep_ns}, &outcome, 0);
    remedy.size = std::min(RecommendedSize(bytes), kMaxTriedSize);
    remedy.memory = static_cast<int64_t>(remedy.size) - static_cast<int64_t>(outcome.size);
    remedy.formula = fmt::format("{} in {}, extrapolated to {}; a fifth more",
                                 HumanSize(outcome.stats.bytes_written),
                                 HumanDuration(duration_ns_), HumanDuration(keep_ns));
    SetSizeChange(remedy);
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
    const uint64_t size = PagesUp(outcome.size);
    std::vector<ConfigChange> changes = {{path + "size_kb", std::to_string(size / 1024), ""},
                                         {path + "fill_policy", "RING_BUFFER", ""}};
    if (facts_.config.buffers[outcome.index].is_v2)
      changes.push_back({path + "experimental_mode", "TRACE_BUFFER_V2", ""});
    std::vector<std::string> sources;
    bool leaves_others = false;
    for (size_t i = 0; i < facts_.config.sources.size(); ++i) {
      const ConfiguredSource& source = facts_.config.sources[i];
      if (source.target_buffer != outcome.index) continue;
      if (!names.contains(source.name)) {
        leaves_others = true;
        continue;
      }
      sources.push_back(source.name);
      changes.push_back({fmt::format("data_sources[{}].config.target_buffer", i), target, ""});
    }
    if (sources.empty() || !leaves_others) return;
    Remedy& remedy = Add(SplitRemedy{.sources = std::move(sources)}, &outcome, most->second);
    remedy.size = size;
    remedy.memory = static_cast<int64_t>(size);
    remedy.changes = std::move(changes);
  }

  void AddPolicy(const BufferGaps& buffer, const BufferOutcome& outcome) {
    const uint64_t lost = buffer.totals[Fate::kDiscarded].packets;
    if (outcome.policy != FillPolicy::kDiscard || lost == 0) return;
    Add(PolicyRemedy{.is_of_file = outcome.into_file}, &outcome, lost).changes = {
        {fmt::format("buffers[{}].fill_policy", outcome.index), "RING_BUFFER", ""}};
  }

  std::optional<Reach> ReachOf(const BufferGaps& buffer) const {
    const int64_t end_ns = SignedNs(facts_.outcome.end_ns());
    return ringscope::ReachOf(facts_.gaps, buffer,
                              {std::min(SignedNs(facts_.notes.start_ns()), end_ns), end_ns});
  }

  void AddClearState(const BufferGaps& buffer, const BufferOutcome& outcome) {
    uint64_t unusable = 0;
    for (const SequenceGaps& sequence : buffer.sequences)
      unusable += sequence.unusable.count.packets;
    const std::optional<Reach> reach = ReachOf(buffer);
    if (unusable == 0 || !reach || outcome.policy != FillPolicy::kRingBuffer) return;
    Add(ClearStateRemedy{.idle_ns = reach->idle_ns}, &outcome, unusable).reach_ns = reach->ns;
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
    if (!helps || !longest) return;
    // A read at the end of the period is too late for what is evicted right then.
    const uint64_t ms = TypedPeriod((std::max<uint64_t>(*longest, 1) - 1) / kMs);
    const bool is_as_short = facts_.config.write_into_file && facts_.config.PeriodNs() <= ms * kMs;
    if (ms * kMs < kShortestReadPeriodNs || is_as_short) return;
    Remedy& remedy = Add(ReadPeriodRemedy(), nullptr, packets);
    if (!facts_.config.write_into_file) remedy.changes.push_back({"write_into_file", "true", ""});
    remedy.changes.push_back({"file_write_period_ms", std::to_string(ms), ""});
    remedy.period_ns = ms * kMs;
  }

  /// For data that its writer held for so long that a periodic flush would have brought it.
  void AddFlush() {
    constexpr uint64_t kShortestNs = 100 * kMs, kLongestNs = 30'000 * kMs;
    uint64_t packets = 0, held_ns = UINT64_MAX;
    const auto add = [&](uint64_t count, uint64_t since_ns, uint64_t until_ns) {
      const uint64_t ns = until_ns - std::min(until_ns, since_ns);
      if (ns / 2 < kShortestNs) return;
      packets += count;
      held_ns = std::min(held_ns, ns);
    };
    for (const BufferGaps& buffer : facts_.gaps.buffers)
      VisitGaps(buffer, [&](const Gap& gap) {
        if (gap.remedies.flush)
          add(gap.lost.packets, gap.written.first.time_ns.value_or(UINT64_MAX),
              facts_.outcome.end_ns());
      });
    // Events of before the session were not held back in it.
    for (const StaleSequence& stale : facts_.gaps.stale)
      if (stale.longest.time_ns >= facts_.notes.start_ns())
        add(stale.stale, stale.longest.time_ns, stale.longest.time_ns + stale.longest.delay_ns);
    const uint64_t ms = TypedPeriod(std::min(kLongestNs, held_ns / 2) / kMs);
    if (packets == 0 || facts_.config.flush_period_ms.value_or(UINT64_MAX) <= ms) return;
    Remedy& remedy = Add(FlushRemedy(), nullptr, packets);
    remedy.period_ns = ms * kMs;
    remedy.formula = fmt::format("at most half of the {} that its writer held it, and 30 s",
                                 HumanDuration(held_ns));
    remedy.changes = {
        {"flush_period_ms", std::to_string(ms),
         fmt::format("{} {} not committed in time", Count(packets, "packet"), Was(packets)), true}};
  }

  struct MemoryNeed {
    uint64_t places = 0;
    uint64_t bytes = 0;   // the most that it had to hold at once
    std::string formula;  // of that
    AbortReason reason = AbortReason::kNotShown;

    void Add(uint64_t need, std::string how, AbortReason why) {
      if (need <= bytes) return;
      bytes = need, formula = std::move(how), reason = why;
    }
  };

  /// What the memory has, and what its producer writes in the longest time without a free chunk.
  void AddSharedMemory() {
    constexpr uint64_t kDefault = uint64_t{256} << 10, kLargest = uint64_t{32} << 20;  // service's
    std::map<ProducerId, MemoryNeed> needs;
    for (const BufferGaps& buffer : facts_.gaps.buffers)
      for (const SequenceGaps& sequence : buffer.sequences) {
        const std::optional<uint64_t> size = facts_.notes.SharedMemoryOf(sequence.sequence);
        const uint64_t now = size.value_or(kDefault);
        const std::string has = size ? HumanSize(now) + " that it has"
                                     : "the default of 256 KiB, as its size is not in the log";
        const uint64_t by_flag = sequence.losses_by_flag();
        MemoryNeed need{.places = by_flag};
        if (by_flag > 0) need.Add(now + 1, "more than " + has, AbortReason::kNotShown);
        for (const Gap& gap : sequence.gaps) {
          if (!gap.Has(Cause::kAborted)) continue;
          need.places += gap.places;
          AddNeed(gap.abort.value_or(AbortFacts()), sequence.dropped_ns, now, has, need);
        }
        if (need.places == 0) continue;
        MemoryNeed& all = needs[sequence.sequence.producer];
        all.places += need.places;
        all.Add(need.bytes, need.formula, need.reason);
      }
    size_t entries = facts_.config.producers.size();
    for (const auto& [producer, need] : needs) {
      const uint64_t size = std::bit_ceil(std::max(need.bytes, kDefault));
      const std::string name = facts_.notes.ProducerOf({producer, WriterId{1}});
      const auto* const known = FindBy(facts_.config.producers, name, &ConfiguredProducer::name);
      const bool has_it = known != nullptr && known->shm_size_kb * 1024 >= size;
      if (need.bytes > kLargest || has_it) continue;
      Remedy& remedy =
          Add(SharedMemoryRemedy{producer, RowOf(need.reason).otherwise}, nullptr, need.places);
      remedy.size = size;
      remedy.memory = static_cast<int64_t>(size);
      remedy.formula = need.formula;
      if (!name.empty())
        remedy.changes = SharedMemoryChanges(
            facts_.config, name, size / 1024,
            "its shared memory was full at " + Count(need.places, "place"), entries);
    }
  }

  /// @param now bytes of the memory, which `has` says
  static void AddNeed(const AbortFacts& abort, uint64_t dropped_ns, uint64_t now,
                      const std::string& has, MemoryNeed& need) {
    const uint64_t packet = std::max(now, abort.packet_bytes);
    if (abort.reason == AbortReason::kLargePacket)
      return need.Add(packet + 1, "a packet of more than " + HumanSize(packet), abort.reason);
    // The service took no chunk while it was quiet, while chunks waited, and while none was free.
    const uint64_t blocked_ns = std::max({abort.quiet_ns, abort.waiting_ns, abort.held_ns});
    const uint64_t ns = blocked_ns + dropped_ns;
    const auto per_ns = static_cast<double>(abort.window_bytes) /
                        static_cast<double>(AbortFacts::kWindowNs + abort.quiet_ns);
    const auto bytes = static_cast<uint64_t>(per_ns * static_cast<double>(ns));
    need.Add(std::max(now, bytes) + 1,
             bytes <= now
                 ? "more than " + has
                 : fmt::format("{}/s, for the {} in which the service took no chunk",
                               HumanSize(static_cast<uint64_t>(per_ns * 1e9)), HumanDuration(ns)),
             abort.reason);
  }

  const RemedyFacts& facts_;
  const std::optional<uint64_t> keep_ns_;
  const uint64_t duration_ns_;  // of the session, to its end
  std::vector<Remedy> remedies_;
};

}  // namespace

TriedOutcome OutcomeOf(const LedgerTotals& totals) {
  return {.written = totals.written.packets,
          .in_trace = totals[Fate::kRead].packets,
          .lost = totals.lost().packets,
          .full = totals[Fate::kOverwritten].packets + totals[Fate::kDiscarded].packets,
          .waiting = totals[Fate::kStalled].packets + totals[Fate::kIncomplete].packets +
                     totals[Fate::kMoved].packets + totals[Fate::kReadable].packets};
}

RemedyList FindRemedies(const RemedyFacts& facts, std::optional<uint64_t> keep_ns) {
  return RemedyFinder(facts, keep_ns).Find();
}

const Remedy* FindSizeRemedy(const std::vector<Remedy>& remedies, BufferId buffer) {
  for (const Remedy& remedy : remedies)
    if (remedy.As<SizeRemedy>() && remedy.buffer == buffer) return &remedy;
  return nullptr;
}

}  // namespace ringscope
