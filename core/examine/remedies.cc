#include "core/examine/remedies.h"

#include <fmt/format.h>

#include <bit>
#include <cctype>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "core/base/text.h"
#include "core/examine/loss_words.h"
#include "core/perfetto/chunk.h"
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

/// Finds the candidates of one session.
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
  Remedy& Add(RemedyKind kind, const BufferOutcome* buffer, uint64_t concerned) {
    Remedy& remedy = remedies_.emplace_back();
    remedy.kind = kind;
    if (buffer != nullptr) remedy.buffer = buffer->id, remedy.index = buffer->index;
    remedy.concerned = concerned;
    // A split concerns its new buffer, too.
    for (const BufferGaps& of : facts_.gaps.buffers)
      if (buffer == nullptr || of.id == buffer->id || kind == RemedyKind::kSplit)
        remedy.now += OutcomeOf(of.totals);
    return remedy;
  }

  /// A size that keeps all, or what is to be kept, and one for the time that people mostly want.
  void AddSizes(const BufferGaps& buffer, const BufferOutcome& outcome) {
    const bool is_ring = outcome.policy == FillPolicy::kRingBuffer;
    if (keep_ns_ && is_ring && *keep_ns_ > duration_ns_) return AddExtrapolated(*keep_ns_, outcome);
    const Remedy* const all = AddSize(buffer, outcome);
    if (all == nullptr || keep_ns_ || !is_ring) return;
    const std::optional<uint64_t> reach_ns = ReachNs(buffer);
    if (!reach_ns || *reach_ns >= kUsualKeepNs) return;
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
    Remedy& remedy = Add(RemedyKind::kSize, &outcome, packets);
    remedy.size = std::min(PagesUp(size), kMaxTriedSize);
    remedy.least_size = least;
    remedy.holds_all = least >= outcome.stats.bytes_written;
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
    remedy.keep_ns = keep_ns;
    remedy.keep_from_ns = end_ns - std::min(end_ns, keep_ns);
    const uint64_t size = BytesIn(std::min(keep_ns, duration_ns_), outcome);
    remedy.size = std::min(remedy.size, PagesUp(size + size / 4) + kMaxChunkData + 1);
  }

  /// The session is shorter than the time that is to be kept.
  void AddExtrapolated(uint64_t keep_ns, const BufferOutcome& outcome) {
    const uint64_t bytes = BytesIn(keep_ns, outcome);
    if (bytes <= outcome.size || duration_ns_ == 0) return;
    Remedy& remedy = Add(RemedyKind::kSize, &outcome, 0);
    remedy.size = std::min(RecommendedSize(bytes), kMaxTriedSize);
    remedy.memory = static_cast<int64_t>(remedy.size) - static_cast<int64_t>(outcome.size);
    remedy.keep_ns = keep_ns;
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
    remedy.is_of_file = outcome.into_file;
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
    const std::optional<uint64_t> reach_ns = ReachNs(buffer);
    if (unusable == 0 || !reach_ns || outcome.policy != FillPolicy::kRingBuffer) return;
    Add(RemedyKind::kClearState, &outcome, unusable).reach_ns = reach_ns;
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
    Remedy& remedy = Add(RemedyKind::kReadPeriod, nullptr, packets);
    if (!facts_.config.write_into_file)
      remedy.changes.push_back({"write_into_file", "true", "", false});
    remedy.changes.push_back({"file_write_period_ms", std::to_string(ms), "", false});
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
    Remedy& remedy = Add(RemedyKind::kFlush, nullptr, packets);
    remedy.period_ns = ms * kMs;
    remedy.formula = fmt::format("at most half of the {} that its writer held it, and 30 s",
                                 HumanDuration(held_ns));
    remedy.changes = {
        {"flush_period_ms", std::to_string(ms),
         fmt::format("{} not committed in time",
                     packets == 1 ? "1 packet was" : Count(packets, "packet") + " were"),
         true}};
  }

  /// What a producer's shared memory lacked.
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
      const auto known =
          std::ranges::find(facts_.config.producers, name, &ConfiguredProducer::name);
      const bool has_it =
          known != facts_.config.producers.end() && known->shm_size_kb * 1024 >= size;
      if (need.bytes > kLargest || has_it) continue;
      Remedy& remedy = Add(RemedyKind::kSharedMemory, nullptr, need.places);
      remedy.producer = producer;
      remedy.otherwise = RowOf(need.reason).otherwise;
      remedy.size = size;
      remedy.memory = static_cast<int64_t>(remedy.size);
      remedy.formula = need.formula;
      if (!name.empty())
        remedy.changes = SharedMemoryChanges(
            facts_.config, name, remedy.size / 1024,
            "its shared memory was full at " + Count(need.places, "place"), entries);
    }
  }

  /// @param now bytes of the memory, which `has` says
  static void AddNeed(const AbortFacts& abort, uint64_t dropped_ns, uint64_t now,
                      const std::string& has, MemoryNeed& need) {
    if (abort.reason == AbortReason::kLargePacket)
      return need.Add(std::max(now, abort.packet_bytes) + 1,
                      "a packet of more than " + HumanSize(std::max(now, abort.packet_bytes)),
                      abort.reason);
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
  const auto found = std::ranges::find_if(remedies, [&](const Remedy& remedy) {
    return remedy.kind == RemedyKind::kSize && remedy.buffer == buffer;
  });
  return found == remedies.end() ? nullptr : &*found;
}

namespace {

/// Sets the period by which the state is to be repeated in a ring that reaches back so far.
void SetClearPeriod(const TraceConfigFacts& config, uint64_t reach_ns, Remedy& remedy) {
  const ClearPeriod period = ClearPeriodFor(reach_ns, config);
  remedy.reach_ns = reach_ns;
  remedy.period_ns = period.reason.empty() ? 0 : period.ms * kMs;
  remedy.formula = period.reason.text;
  remedy.changes = {{"incremental_state_config.clear_period_ms", std::to_string(period.ms),
                     period.reason.text, true}};
}

}  // namespace

void ChooseChanges(const TraceConfigFacts& config, RemedyList& list) {
  std::map<BufferId, const Remedy*> chosen;
  list.changes.clear();
  for (Remedy& remedy : list.remedies) {
    if (remedy.kind == RemedyKind::kClearState) {
      // With a larger ring the state may last longer, or there is all of it.
      const auto found = chosen.find(*remedy.buffer);
      const Remedy* const first = found == chosen.end() ? nullptr : found->second;
      const bool has_all =
          first != nullptr && (first->outcome ? first->outcome->full == 0 : first->concerned == 0);
      uint64_t reach_ns = *remedy.reach_ns;
      if (first != nullptr)
        reach_ns = std::max(reach_ns, first->reach_ns.value_or(first->keep_ns.value_or(0)));
      if (!has_all) SetClearPeriod(config, reach_ns, remedy);
      if (remedy.period_ns == 0) continue;
    } else if (remedy.kind == RemedyKind::kReadPeriod) {
      remedy.is_alternative = !chosen.empty();
    } else if (remedy.buffer) {
      remedy.is_alternative = !chosen.emplace(*remedy.buffer, &remedy).second;
    }
    const bool is_there =
        !remedy.changes.empty() && std::ranges::find(list.changes, remedy.changes.front().path,
                                                     &ConfigChange::path) != list.changes.end();
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
    return remedy.kind == RemedyKind::kClearState && remedy.period_ns == 0;
  });
}

namespace {

/// "keeps everything, as a replay shows"
std::string TriedText(const Remedy& remedy) {
  if (!remedy.outcome)
    return fmt::format("should keep {} (an estimate: {})",
                       remedy.keep_ns ? "the last " + HumanDuration(*remedy.keep_ns) : "everything",
                       remedy.formula);
  if (remedy.is_for_reach())
    return fmt::format("keeps the last {}, as a replay shows", HumanDuration(*remedy.reach_ns));
  return OutcomeText(*remedy.outcome, remedy.now).text + ", as a replay shows";
}

/// "; 6,544 KiB are enough for this session, and the rest is a reserve"
std::string LeastText(const Remedy& remedy) {
  if (!remedy.outcome || remedy.least_size >= remedy.size) return "";
  return fmt::format("; {} KiB are just enough for this session", remedy.least_size / 1024);
}

/// Names what would have saved the packets of a gap, beside a change that the list has; may be
/// empty.
std::string OtherRemedyOf(const Gap& gap, bool has_size) {
  const GapRemedies& remedies = gap.remedies;
  if (remedies.no_size_helps && !has_size)
    return "no buffer size or read period helps, as the patch is not in the log: find out why its "
           "writer did not send it";
  if (gap.Has(Cause::kAborted)) return RowOf(gap.abort.value_or(AbortFacts()).reason).otherwise;
  if (gap.Has(Cause::kIdsReused))
    return "no change of the config helps: the producer gave a writer an id again that the buffer "
           "still knew";
  if (gap.Has(Cause::kNeverCommitted))
    return "no buffer size or flush helps: the writer finished the chunk, as it went on after it, "
           "and the commit of the chunk is missing";
  if (!remedies.buffer_size && !remedies.flush && gap.Has(Cause::kAlreadyConsumed))
    return "no buffer size, read period or flush helps: the producer has to commit the chunks of a "
           "writer in the order of their ids";
  return "";
}

}  // namespace

std::vector<std::string> RemedyTexts(const RemedyList& list, const SessionNotes& notes) {
  std::vector<std::string> texts;
  for (const Remedy& remedy : list.remedies) {
    const ProducerId producer = remedy.producer.value_or(ProducerId{});
    texts.push_back(
        (remedy.is_alternative ? "Or: " : "") +
        fmt::format(
            fmt::runtime(RowOf(remedy.kind).text), fmt::arg("size", HumanSize(remedy.size)),
            fmt::arg("kb", remedy.size / 1024),
            fmt::arg("buffer", fmt::format("buffers[{}]", remedy.index)),
            fmt::arg("new", remedy.changes.empty() ? ""
                                                   : remedy.changes.front().path.substr(
                                                         0, remedy.changes.front().path.find('.'))),
            fmt::arg("sources", Joined(remedy.sources)),
            fmt::arg("s", remedy.sources.size() == 1 ? "s" : ""),
            fmt::arg("producer", ProducerText(producer, notes.ProducerOf({producer, WriterId{1}}))),
            fmt::arg("tried", TriedText(remedy)), fmt::arg("least", LeastText(remedy)),
            fmt::arg("ms", remedy.period_ns / 1'000'000), fmt::arg("formula", remedy.formula),
            fmt::arg("others",
                     !remedy.keeps_others
                         ? ""
                         : fmt::format("; what else is in buffers[{}] is all kept", remedy.index)),
            fmt::arg("cuts", remedy.outcome && remedy.outcome->lost > 0
                                 ? "; it keeps the end of the session, not its start"
                                 : ""),
            fmt::arg("otherwise", remedy.otherwise),
            fmt::arg("places", Count(remedy.concerned, "place")),
            fmt::arg("concerned", Count(remedy.concerned, "packet"))));
  }
  return texts;
}

std::vector<std::string> RefusedTexts(const RemedyList& list) {
  std::vector<std::string> texts;
  for (const Remedy& remedy : list.refused) {
    const TriedOutcome& outcome = *remedy.outcome;
    texts.push_back(fmt::format(
        "No size of buffers[{}] helps: with {} KiB {} of {} {} in the trace, {}, as a replay "
        "shows{}.",
        remedy.index, remedy.size / 1024, WithCommas(outcome.in_trace),
        Count(outcome.written, "packet"), Is(outcome.in_trace),
        outcome.in_trace == remedy.now.in_trace ? "as now"
                                                : "not " + WithCommas(remedy.now.in_trace),
        outcome.waiting == 0
            ? ""
            : fmt::format("; {} remain{} unread to the end", Count(outcome.waiting, "packet"),
                          outcome.waiting == 1 ? "s" : "")));
  }
  return texts;
}

Sentence OutcomeText(const TriedOutcome& outcome, const TriedOutcome& now) {
  const Sentence lost = Number("lost_with_change", outcome.lost, "packet");
  if (outcome.lost == 0 && outcome.waiting == 0) return "keeps everything";
  if (outcome.loses_nothing(now)) return "loses nothing";
  Sentence text = Say("keeps {} of {}", Number("in_trace_with_change", outcome.in_trace),
                      Number("written", outcome.written, "packet"));
  if (outcome.lost > 0) text += Say(" and loses {}", Number("lost_with_change", outcome.lost));
  if (outcome.waiting > now.waiting)
    text += Say("; {} remain{} unread", Number("waiting_with_change", outcome.waiting),
                outcome.waiting == 1 ? "s" : "");
  return text;
}

const Remedy* SizeThatKeeps(const Gap& gap, const RemedyList& list) {
  const Fate fate = gap.causes.empty() ? Fate::kUnexplained : gap.causes.front().fate;
  if (fate != Fate::kOverwritten && fate != Fate::kDiscarded) return nullptr;
  const Remedy* const size = FindSizeRemedy(list.remedies, gap.buffer);
  const bool keeps = size != nullptr && !gap.remedies.no_size_helps && size->outcome &&
                     size->outcome->loses_nothing(size->now) && !size->keep_ns;
  return keeps ? size : nullptr;
}

std::string RemedyOf(const Gap& gap, const RemedyList& list) {
  const Remedy* const size = FindSizeRemedy(list.remedies, gap.buffer);
  const bool keeps_some = size != nullptr && size->outcome && gap.remedies.buffer_size;
  if (SizeThatKeeps(gap, list) != nullptr)
    return fmt::format("buffers[{}].size_kb: {}", size->index, size->size / 1024);
  for (const Remedy& remedy : list.remedies) {
    if (remedy.kind == RemedyKind::kFlush && gap.remedies.flush) return "flush_period_ms";
    if (remedy.kind == RemedyKind::kSharedMemory && remedy.producer == gap.sequence.producer &&
        gap.Has(Cause::kAborted))
      return fmt::format("shm_size_kb: {} (an estimate); or {}", remedy.size / 1024,
                         OtherRemedyOf(gap, false));
  }
  if (keeps_some && !size->keep_ns)
    return fmt::format("buffers[{}].size_kb: {} {}", size->index, size->size / 1024,
                       OutcomeText(*size->outcome, size->now).text);
  return OtherRemedyOf(gap, keeps_some);
}

std::vector<std::string> OtherTexts(const GapReport& report, const RemedyList& list) {
  std::vector<std::string> texts;
  for (const BufferGaps& buffer : report.buffers)
    for (const SequenceGaps& sequence : buffer.sequences)
      for (const Gap& gap : sequence.gaps)
        if (std::string text = RemedyOf(gap, list);
            !text.empty() && text == OtherRemedyOf(gap, false) && !gap.Has(Cause::kAborted)) {
          text += '.';
          text.front() = static_cast<char>(std::toupper(text.front()));
          if (std::ranges::find(texts, text) == texts.end()) texts.push_back(std::move(text));
        }
  return texts;
}

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
  const TriedBuffer* FindTried(BufferId buffer, uint64_t size) const;
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

auto RemedyTrials::FindTried(BufferId buffer, uint64_t size) const -> const TriedBuffer* {
  const auto tried = sized_.find({buffer, size});
  return tried == sized_.end() ? nullptr : &tried->second;
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
  // What needs another way to read the session is last of what was tried.
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
