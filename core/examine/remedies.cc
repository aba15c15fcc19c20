#include "core/examine/remedies.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <set>
#include <utility>

#include "core/base/text.h"
#include "core/base/wire.h"
#include "core/log/verdict.h"
#include "core/perfetto/chunk.h"
#include "core/perfetto/clocks.h"
#include "core/perfetto/fields.h"
#include "core/perfetto/fragment.h"
#include "core/perfetto/packet_facts.h"
#include "core/sweep/sweep_report.h"

namespace ringscope {
namespace {

/// Names an entry of incremental state. @param kind number of its field in InternedData; 0: a track
uint64_t EntryOf(uint32_t kind, uint64_t id) { return uint64_t{kind} << 56 ^ id; }

/// Calls visit(entry) for the state that a track event names.
template <typename Visit>
void VisitNamed(Bytes track_event, Visit visit) {
  using Interned = proto::InternedData;
  static constexpr std::pair<uint32_t, uint32_t> kKinds[] = {
      {proto::TrackEvent::kCategoryIids, Interned::kEventCategories},
      {proto::TrackEvent::kNameIid, Interned::kEventNames},
      {proto::TrackEvent::kSourceLocationIid, Interned::kSourceLocations},
      {proto::TrackEvent::kTrackUuid, 0}};
  wire::FieldReader fields(track_event);
  while (const auto field = fields.Next()) {
    for (const auto& [number, kind] : kKinds)
      if (field->IsVarint(number)) visit(EntryOf(kind, field->value));
    if (!field->IsBytes(proto::TrackEvent::kDebugAnnotations)) continue;
    if (const auto iid = wire::LastVarint(field->bytes, proto::DebugAnnotation::kNameIid))
      visit(EntryOf(Interned::kDebugAnnotationNames, *iid));
  }
}

}  // namespace

ClearSimulation::ClearSimulation(BufferId buffer, uint64_t size, std::vector<uint64_t> periods)
    : buffer_(buffer), size_(size), periods_(std::move(periods)), more_bytes_(periods_.size(), 0) {}

void ClearSimulation::Add(const Op& op) {
  const auto* commit = std::get_if<Commit>(&op.body);
  if (const auto* record = std::get_if<ClockSnapshotRecord>(&op.body)) {
    Clocks clocks;
    clocks.AddSnapshot(wire::AsBytes(record->snapshot));
    suspended_ns_ = clocks.Resolve(proto::BuiltinClock::kBuiltinClockMonotonic, 0).value_or(0);
  }
  if (commit == nullptr || !op.time_ns || !parser_.Parse(commit->request)) return;
  for (const ChunkToMove& chunk : parser_.chunks()) {
    const std::optional<ChunkHeader> header = chunk.header();
    if (header && TargetBufferOf(chunk.target_buffer) == buffer_)
      AddChunk({commit->producer, header->writer}, *op.time_ns,
               chunk.data->subspan(kChunkHeaderSize), *header);
  }
}

void ClearSimulation::AddChunk(SequenceKey key, uint64_t time_ns, Bytes payload,
                               const ChunkHeader& header) {
  Sequence& sequence = sequences_[key];
  Chunk chunk{.sequence = key, .bytes = OuterSize(static_cast<uint32_t>(payload.size()))};
  bool is_begin = (header.flags & kFirstContinues) == 0;
  const uint64_t begins = std::max<uint64_t>(header.fragments, 1) - (is_begin ? 0 : 1);
  const uint64_t before_ns = std::min(sequence.last_ns.value_or(time_ns), time_ns);
  VisitFragments(payload, header.fragments, [&](const Fragment& fragment) {
    if (!std::exchange(is_begin, true)) return;
    const uint64_t ns = before_ns + (time_ns - before_ns) / begins * (chunk.packets + 1);
    AddPacket(sequence, ns, payload.subspan(fragment.body, fragment.size()), chunk);
  });
  for (size_t i = 0; i < chunk.effects.size(); ++i) more_bytes_[i] += chunk.effects[i].more_bytes;
  sequence.last_ns = time_ns;
  bytes_ += chunk.bytes;
  chunks_.push_back(std::move(chunk));
  while (bytes_ - chunks_.front().bytes >= size_) {
    bytes_ -= chunks_.front().bytes;
    chunks_.pop_front();
    ++first_chunk_;
  }
}

void ClearSimulation::AddPacket(Sequence& sequence, uint64_t time_ns, Bytes packet, Chunk& chunk) {
  const auto effect = [&](size_t period) -> Effect& {
    chunk.effects.resize(periods_.size());
    return chunk.effects[period];
  };
  const bool is_first = sequence.clears.empty();
  sequence.clears.resize(periods_.size());
  const PacketFacts facts = ReadPacketFacts(packet);
  for (size_t i = 0; i < periods_.size(); ++i) {
    const uint64_t clears = (time_ns - std::min(time_ns, suspended_ns_)) / periods_[i];
    const bool is_cleared = std::exchange(sequence.clears[i], clears) != clears && !is_first;
    if (!is_cleared && !facts.clears_state) continue;
    Effect& of = effect(i);
    if (!std::exchange(of.clears, true)) of.needing_before = chunk.needing;
    if (!facts.clears_state) of.more_bytes += sequence.common_bytes;
  }
  if (facts.clears_state) {
    entries_ -= sequence.entries.size();
    sequence.entries.clear();
    sequence.common_bytes = 0;
  }
  using Field = proto::TracePacket;
  wire::FieldReader fields(packet);
  Bytes track_event;
  while (const auto field = fields.Next()) {
    if (field->IsBytes(Field::kTrackEvent)) track_event = field->bytes;
    if (field->IsBytes(Field::kTracePacketDefaults)) sequence.common_bytes += field->whole.size();
    if (field->IsBytes(Field::kTrackDescriptor))
      State(sequence,
            EntryOf(0, wire::LastVarint(field->bytes, proto::TrackDescriptor::kUuid).value_or(0)),
            field->whole.size());
    if (!field->IsBytes(Field::kInternedData)) continue;
    wire::FieldReader entries(field->bytes);  // whose messages all have their id in field 1
    while (const auto entry = entries.Next())
      State(sequence, EntryOf(entry->number, wire::LastVarint(entry->bytes, 1).value_or(0)),
            entry->whole.size() + 2);  // tag and size of the InternedData
  }
  VisitNamed(track_event, [&](uint64_t name) {
    const auto found = sequence.entries.find(name);
    if (found == sequence.entries.end()) return;
    Entry& entry = found->second;
    if (!std::exchange(entry.is_named, true)) sequence.common_bytes -= entry.bytes;
    for (size_t i = 0; i < periods_.size(); ++i) {
      if (std::exchange(entry.written[i], sequence.clears[i]) == sequence.clears[i]) continue;
      effect(i).more_bytes += entry.bytes;
      entry.chunk[i] = first_chunk_ + chunks_.size();
    }
  });
  ++chunk.packets;
  chunk.needing += facts.needs_state ? 1 : 0;
}

/// Notes that a packet has the entry of the state.
void ClearSimulation::State(Sequence& sequence, uint64_t entry, uint64_t bytes) {
  if (entries_ == kMostEntries && !sequence.entries.contains(entry)) {
    sequence.common_bytes += bytes;
    return;
  }
  const auto [found, is_new] = sequence.entries.try_emplace(entry);
  Entry& of = found->second;
  entries_ += is_new ? 1 : 0;
  if (!of.is_named) sequence.common_bytes += bytes - of.bytes;
  of.bytes = bytes;
  of.written = sequence.clears;
  of.chunk.assign(periods_.size(), first_chunk_ + chunks_.size());
}

std::vector<ClearedOutcome> ClearSimulation::Outcomes() const {
  std::vector<ClearedOutcome> outcomes;
  for (size_t period = 0; period < periods_.size(); ++period) {
    outcomes.push_back({.period_ns = periods_[period], .more_bytes = more_bytes_[period]});
    ClearedOutcome& outcome = outcomes.back();
    const auto effect = [period](const Chunk& chunk) {
      return chunk.effects.empty() ? Effect() : chunk.effects[period];
    };
    size_t first = chunks_.size();
    // With what is left empty where the ring wraps, on average.
    uint64_t bytes = chunks_.empty() ? 0 : chunks_.back().bytes / 2;
    for (; first > 0; --first) {
      bytes += chunks_[first - 1].bytes + effect(chunks_[first - 1]).more_bytes;
      if (bytes > size_) break;
    }
    SequenceMap<std::optional<uint64_t>> cleared;  // number of the first chunk with a clear
    for (size_t i = first; i < chunks_.size(); ++i) {
      const Effect of = effect(chunks_[i]);
      auto& since = cleared[chunks_[i].sequence];
      outcome.packets += chunks_[i].packets;
      outcome.usable += chunks_[i].packets;
      if (since) continue;
      outcome.usable -= of.clears ? of.needing_before : chunks_[i].needing;
      if (of.clears) since = first_chunk_ + i;
    }
    for (size_t i = 0; i < cleared.size(); ++i)
      if (const auto& [key, since] = cleared.At(i); since)
        for (const auto& [name, entry] : sequences_.Find(key)->entries)
          outcome.names += entry.is_named && entry.chunk[period] >= *since ? 1 : 0;
  }
  return outcomes;
}

namespace {

constexpr uint64_t kMs = 1'000'000;
constexpr uint64_t kShortestClearPeriodNs = 50 * kMs;

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
    remedy.keep_ns = keep_ns_;
    const std::optional<uint64_t> reach_ns = ReachNs(buffer);
    if (keep_ns_ || !reach_ns || *reach_ns >= kUsualKeepNs ||
        facts_.outcome.duration_ns() <= kUsualKeepNs)
      return;
    Remedy shorter = remedy;
    shorter.keep_ns = kUsualKeepNs;
    remedies_.push_back(std::move(shorter));
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
    if (outcome.policy != FillPolicy::kDiscard || (lost == 0 && !outcome.into_file)) return;
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
    const std::optional<uint64_t> reach_ns = ReachNs(buffer);
    if (unusable == 0 || !reach_ns || outcome.policy != FillPolicy::kRingBuffer) return;
    const uint64_t period_ns = std::max(ClearPeriodFor(*reach_ns), kShortestClearPeriodNs);
    Remedy& remedy = Add(RemedyKind::kClearState, &outcome, unusable);
    remedy.period_ns = period_ns;
    remedy.size = outcome.size;
    remedy.formula = "a tenth of the time that the buffer holds";
    remedy.changes = {
        {"incremental_state_config.clear_period_ms", std::to_string(period_ns / kMs), "", true}};
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
    std::map<ProducerId, std::pair<uint64_t, uint64_t>> wanted;  // bytes, places
    for (const BufferGaps& buffer : facts_.gaps.buffers) {
      for (const SequenceGaps& sequence : buffer.sequences) {
        if (sequence.losses_by_flag() == 0) continue;
        auto& [bytes, places] = wanted[sequence.sequence.producer];
        bytes = std::max(bytes, facts_.notes.SharedMemoryOf(sequence.sequence).value_or(0) + 1);
        places += sequence.losses_by_flag();
      }
      VisitGaps(buffer, [&](const Gap& gap) {
        if (!gap.remedies.larger_smb) return;
        const uint64_t now = facts_.notes.SharedMemoryOf(gap.sequence).value_or(0);
        const uint64_t burst =
            gap.abort ? std::max(gap.abort->window_bytes, gap.abort->packet_bytes) : 0;
        auto& [bytes, packets] = wanted[gap.sequence.producer];
        bytes = std::max({bytes, now + 1, burst / 3 * 4});
        packets += gap.lost.packets;
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
          "more than it has, and four thirds of what was committed in a burst; a power of 2";
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
