#include "core/compare/log_differ.h"

#include <xxhash.h>

#include <tuple>
#include <unordered_map>

#include "core/compare/list_alignment.h"

namespace ringscope {
namespace {

/// The value of a packet that differs from the other side's.
std::string ValueOf(DifferenceKind kind, const ReturnedPacket& packet) {
  if (kind == DifferenceKind::kLossBits) return LossBitsText(packet.loss_bits);
  if (kind == DifferenceKind::kIdentity)
    return fmt::format("uid {} pid {}", packet.identity.uid, packet.identity.pid);
  return fmt::format("{} bytes{}", packet.size, packet.valid ? "" : ", invalid");
}

/// Returns true if both are the same packet: by their places, or by their content where a side does
/// not report the place.
bool AreSame(const ReturnedPacket& a, const ReturnedPacket& b) {
  if (a.is_placed && b.is_placed) return a.place == b.place;
  return a.place.chunk.buffer == b.place.chunk.buffer && a.place.clone == b.place.clone &&
         a.place.chunk.name.sequence == b.place.chunk.name.sequence && a.size == b.size &&
         a.hash == b.hash;
}

}  // namespace

std::string Describe(const DiffWhy& why) {
  switch (why.kind) {
    case DiffWhy::Kind::kNotReported:
      return "not returned; the engine does not report why";
    case DiffWhy::Kind::kDiscarded:
      return fmt::format("chunk discarded: {}", RowOf(why.discard).text);
    case DiffWhy::Kind::kEvicted:
      return fmt::format("evicted{}", why.by ? " for " + ToString(*why.by) : "");
    case DiffWhy::Kind::kCleared:
      return fmt::format("cleared on the way to {}{}", why.with ? ToString(*why.with) : "another",
                         why.by ? ", evicted for " + ToString(*why.by) : "");
    case DiffWhy::Kind::kAbandoned:
      return fmt::format("abandoned by a read: {}", LossBitsText(why.loss_bits));
    case DiffWhy::Kind::kNotFound:
      return "not found in its chunk by a read";
    case DiffWhy::Kind::kHeld:
      return "still in the buffer";
    case DiffWhy::Kind::kWaits:
      return fmt::format("still in the buffer: waits for {}",
                         WaitsFor(why.stall, why.with ? ToString(*why.with) : "a chunk"));
  }
  return "";
}

std::string Divergence::Class() const {
  std::string text = Name(kind);
  if (!counters.empty()) {
    const StatField& field = kStatFields[counters.front()];
    return fmt::format("{} {} {}", text, field.name,
                       stats.a.*field.value < stats.b.*field.value ? "rises" : "falls");
  }
  if (kind == DifferenceKind::kPatch) return text + (patched.a ? " by A" : " by B");
  if (kind == DifferenceKind::kLossBits && packet)
    return fmt::format("{} {}/{}", text, LossBitsToString(packet->sides.a.packet->loss_bits),
                       LossBitsToString(packet->sides.b.packet->loss_bits));
  for (const Side side : kSides)
    if (packet && packet->sides[side].why)
      text += fmt::format(" {}", Name(packet->sides[side].why->kind));
  return text;
}

std::string Divergence::Text(const Both<std::string>& names) const {
  std::string what = chunk ? ToString(*chunk) : "a chunk";
  Both<std::string> values;
  bool is_of_a = patched.a;
  if (packet) {
    what = fmt::format("packet {}+{} ({} bytes)", what, packet->seen().place.offset,
                       packet->seen().size);
    const auto& [a, b] = packet->sides;
    is_of_a = a.packet && b.packet && a.packet->moment.record < b.packet->moment.record;
    for (const Side side : kSides)
      if (const auto& returned = packet->sides[side].packet)
        values[side] = ValueOf(kind, *returned);
  } else if (!counters.empty()) {
    const StatField& field = kStatFields[counters.front()];
    what = field.name;
    for (const Side side : kSides) values[side] = std::to_string(stats[side].*field.value);
  }
  return fmt::format(fmt::runtime(RowOf(kind).sentence), fmt::arg("what", what),
                     fmt::arg("a", names.a), fmt::arg("b", names.b), fmt::arg("of_a", values.a),
                     fmt::arg("of_b", values.b), fmt::arg("first", is_of_a ? names.a : names.b),
                     fmt::arg("second", is_of_a ? names.b : names.a));
}

Ignored Divergence::Others() const {
  Ignored others;
  others.kinds.fill(true);
  others.kinds[kind] = false;
  others.counters.fill(!counters.empty());
  if (!counters.empty()) others.counters[counters.front()] = false;
  return others;
}

bool BufferDiff::CounterDiffers(size_t i, const BufferStats& a, const BufferStats& b) const {
  const auto field = kStatFields[i].value;
  if (a.*field == b.*field) return false;
  return field != &BufferStats::buffer_size || sides.a.size == sides.b.size;
}

const Divergence* LogDiff::First() const {
  for (const auto* divergence : {&first, &first_counter, &first_order})
    if (*divergence) return &**divergence;
  return nullptr;
}

struct PatchResult {
  BufferId buffer{};
  bool ok = false;
  std::optional<ChunkName> missed;  // the chunk of one that failed, if the engine reports it
};

/// A chunk as one side has it.
struct ChunkOnSide {
  bool held = false;
  /// Place after the packet that was returned last: offset of its first fragment, plus 1.
  uint32_t returned_to = 0;
  LogMoment committed;
  std::unique_ptr<DiffWhy> why;                         // why packets of it may be missing
  std::vector<std::pair<uint32_t, DiffWhy>> abandoned;  // by offset of the packet's first fragment
};

/// The chunks that at least one side holds, or lost during the current record.
struct DiffChunks {
  std::unordered_map<ChunkAt, Both<ChunkOnSide>> chunks;
  std::vector<ChunkAt> maybe_gone;  // that a side does not hold any more, or never took in
};

/// The replay of one side of a comparison: the packets and results of the last record, and the
/// facts that explain why a packet was not returned.
class DiffSide : public ReplayListener {
 public:
  DiffSide(Side side, ReplayOptions options, DiffChunks& chunks,
           std::function<void(const std::string&)> warn)
      : side_(side), chunks_(chunks), warn_(std::move(warn)), replay_(std::move(options), *this) {}

  // Of the last record:
  std::vector<ReturnedPacket> packets;
  std::vector<PatchResult> patches;
  LogMoment moment;
  /// The engine has reported any event so far.
  bool reports_events = false;

  /// @param op nullptr: the reads at the end, as one more record
  Status Apply(const Op* op, uint64_t number) {
    constexpr size_t kMostKept = 65536;
    // A read of a whole buffer is rare, and its memory would stay.
    if (packets.capacity() > kMostKept) packets = {};
    for (auto& [id, buffer] : buffers_) buffer.touched.reset();
    packets.clear();
    patches.clear();
    RS_RETURN_IF_ERROR(op != nullptr ? replay_.Apply(*op, number) : replay_.Finish());
    for (ReturnedPacket& packet : packets) packet.moment = moment;
    for (const auto& [id, buffer] : replay_.session().buffers())
      RS_RETURN_IF_ERROR(CheckEngine(id, *buffer.engine));
    return {};
  }
  const Replay& replay() const { return replay_; }
  /// Forgets what a buffer held, but not what it returned: a new buffer takes its id.
  void ForgetBuffer(BufferId id) {
    BufferState& buffer = buffers_[id];
    buffer = {.touched = {}, .read = buffer.read, .sequences = {}};
  }
  /// Returns nullptr if the buffer was not set up.
  const SessionBuffer* Buffer(BufferId buffer) const {
    return FindIn(replay_.session().buffers(), buffer);
  }
  DiffWhy WhyNot(const DiffPlace& place, ChunkId last_chunk) const {
    const auto find = [&](ChunkId id) -> const ChunkOnSide* {
      const auto* const sides =
          FindIn(chunks_.chunks, {place.chunk.buffer, {place.chunk.name.sequence, id}});
      return sides == nullptr ? nullptr : &(*sides)[side_];
    };
    const ChunkId first = place.chunk.name.chunk;
    const ChunkOnSide* const chunk = find(first);
    if (chunk == nullptr || !reports_events) return {};
    for (const auto& [offset, why] : chunk->abandoned)
      if (offset == place.offset) return why;
    if (!chunk->held) return chunk->why ? *chunk->why : DiffWhy{};

    // Its beginning is there: perhaps a later fragment is not.
    constexpr uint32_t kMostChunks = 4096;
    const uint32_t more = std::min(Distance(first, last_chunk), kMostChunks);
    for (uint32_t i = 1; i <= more; ++i) {
      const ChunkOnSide* const later = find(ChunkId{Raw(first) + i});
      if (later != nullptr && !later->held && later->why) return *later->why;
    }
    if (const auto* const buffer = FindIn(buffers_, place.chunk.buffer))
      if (const auto* const sequence = buffer->sequences.Find(place.chunk.name.sequence))
        if (sequence->stall) return *sequence->stall;
    return {.kind = DiffWhy::Kind::kHeld};
  }
  BufferOutcome Outcome(const SessionBuffer& buffer) const {
    BufferOutcome outcome = OutcomeOf(buffer);
    if (const auto* const state = FindIn(buffers_, buffer.id)) outcome.read = state->read;
    return outcome;
  }
  /// The chunk of the last event of the last record.
  std::optional<ChunkName> LastTouched(BufferId buffer) const {
    const auto* const state = FindIn(buffers_, buffer);
    return state == nullptr ? std::nullopt : state->touched;
  }

  bool WantsBufferEvents() const override { return true; }
  void OnRecord(const Op&, const LogMoment& now) override { moment = now; }
  void OnPatch(BufferId buffer, bool ok) override {
    patches.push_back({buffer, ok, std::exchange(missed_, std::nullopt)});
  }
  void OnBufferEvent(const BufferEvent& event) override {
    using Kind = DiffWhy::Kind;
    if (event.As<BufferEvent::Returned>() != nullptr) return;
    reports_events = true;
    BufferState& buffer = buffers_[event.buffer];
    if (event.As<BufferEvent::Wrapped>() == nullptr) buffer.touched = event.chunk;
    const ChunkAt at{event.buffer, event.chunk};
    const auto chunk_here = [&]() -> ChunkOnSide& { return chunks_.chunks[at][side_]; };
    const auto because = [](DiffWhy why) { return std::make_unique<DiffWhy>(std::move(why)); };
    const auto take_out = [&](ChunkOnSide& chunk) {
      if (std::exchange(chunk.held, false)) chunks_.maybe_gone.push_back(at);
    };
    std::visit(
        Overloaded{
            [&](const BufferEvent::Committed&) {
              ChunkOnSide& chunk = chunk_here();
              take_out(chunk);  // an engine may take a chunk id twice
              chunk.held = true;
              chunk.why.reset();
              chunk.committed = moment;
            },
            [&](const BufferEvent::Discarded& discarded) {
              ChunkOnSide& chunk = chunk_here();
              chunk.why = because(
                  {.kind = Kind::kDiscarded, .moment = moment, .discard = discarded.reason});
              if (!chunk.held) chunks_.maybe_gone.push_back(at);
            },
            [&](const BufferEvent::Erased& erased) {
              ChunkOnSide& chunk = chunk_here();
              for (const auto& [erasure, kind] : {std::pair(Erasure::kOverwritten, Kind::kEvicted),
                                                  std::pair(Erasure::kCleared, Kind::kCleared),
                                                  std::pair(Erasure::kConsumed, Kind::kNotFound)})
                if (erased.why == erasure)
                  chunk.why = because(
                      {.kind = kind, .moment = moment, .by = erased.by, .with = erased.with});
              take_out(chunk);
            },
            [&](const BufferEvent::Abandoned& abandoned) {
              chunk_here().abandoned.emplace_back(
                  abandoned.place.first_offset,
                  DiffWhy{
                      .kind = Kind::kAbandoned, .moment = moment, .loss_bits = abandoned.cause});
            },
            [&](const BufferEvent::Stalled& stalled) {
              buffer.sequences[event.chunk.sequence].stall = DiffWhy{.kind = Kind::kWaits,
                                                                     .moment = moment,
                                                                     .stall = stalled.reason,
                                                                     .with = event.chunk};
            },
            [&](const BufferEvent::PatchMissed&) { missed_ = event.chunk; }, [](const auto&) {}},
        event.body);
  }
  Status OnPacket(const SessionPacket& packet) override {
    NoteOrder(AddPacket(packet, 0));
    return {};
  }
  void OnClonePacket(const SessionPacket& packet) override { AddPacket(packet, clones_ + 1); }
  void OnCloneDone(BufferId, uint64_t, const BufferStats&) override { ++clones_; }
  void OnWarning(const std::string& text) override {
    if (warn_) warn_(text);
  }

 private:
  struct SequenceState {
    bool has_unplaced = false;        // a packet without a place was returned
    std::optional<DiffPlace> latest;  // of the packets that were returned
    std::optional<DiffWhy> stall;
  };
  struct BufferState {
    std::optional<ChunkName> touched;  // by the last event of the last record
    PacketCount read;                  // of all buffers that had the id
    SequenceMap<SequenceState> sequences;
  };

  ReturnedPacket& AddPacket(const SessionPacket& session_packet, uint32_t clone) {
    const Packet& packet = *session_packet.packet;
    const Bytes bytes = Joined(packet.slices, joined_);
    return packets.emplace_back(ReturnedPacket{
        .place = {.chunk = {session_packet.buffer, {packet.sequence, packet.place.first_chunk}},
                  .offset = packet.place.first_offset,
                  .clone = clone},
        .is_placed = packet.place != kUnknownPlace,
        .last_chunk = packet.place.last_chunk,
        .moment = {},
        .size = packet.size,
        .hash = XXH3_64bits(bytes.data(), bytes.size()),
        .loss_bits = packet.dropped,
        .identity = packet.identity,
        .valid = session_packet.valid,
        .content = packet.slices.empty() ? 0 : ReadPacketFacts(packet.slices[0]).content});
  }
  void NoteOrder(ReturnedPacket& returned) {
    const DiffPlace& place = returned.place;
    BufferState& buffer = buffers_[place.chunk.buffer];
    buffer.read += {1, returned.size};
    SequenceState& sequence = buffer.sequences[place.chunk.name.sequence];
    sequence.stall.reset();
    sequence.has_unplaced |= !returned.is_placed;
    returned.knows_order = !sequence.has_unplaced;
    if (!returned.is_placed) return;
    if (const auto& latest = sequence.latest)
      returned.late = place.chunk == latest->chunk
                          ? place.offset < latest->offset
                          : Precedes(place.chunk.name.chunk, latest->chunk.name.chunk);
    if (!returned.late) sequence.latest = place;
    auto* const sides = FindIn(chunks_.chunks, place.chunk);
    if (sides == nullptr) return;
    ChunkOnSide& chunk = (*sides)[side_];
    returned.again = place.offset < chunk.returned_to;
    chunk.returned_to = std::max(chunk.returned_to, place.offset + 1);
  }

  const Side side_;
  DiffChunks& chunks_;
  std::function<void(const std::string&)> warn_;
  Replay replay_;
  uint32_t clones_ = 0;
  std::map<BufferId, BufferState> buffers_;
  std::optional<ChunkName> missed_;  // of the patch under way
  std::string joined_;               // scratch
};

/// A packet that one side returned and the other did not, so far.
struct OutstandingPacket {
  Side side{};  // that returned it
  ReturnedPacket packet;
  LogMoment written;
  bool is_first = false;  // the first difference of all, which is updated once this is settled
};

namespace {

using Packets = std::span<const ReturnedPacket>;

/// Returns true if nothing of the two packets differs.
bool IsEqual(const ReturnedPacket& a, const ReturnedPacket& b) {
  return AreSame(a, b) && a.size == b.size && a.hash == b.hash && a.loss_bits == b.loss_bits &&
         a.identity == b.identity && a.valid == b.valid && a.again == b.again && a.late == b.late;
}

/// Finds the packet of b for each of a, the n-th of equal ones for the n-th: by place, or by
/// content where a side does not report places.
/// @return pairs of indices, ascending in the first
std::vector<AlignedPair> MatchPackets(Packets a, Packets b) {
  const auto is_placed = [](Packets all) {
    return std::ranges::all_of(all, &ReturnedPacket::is_placed);
  };
  const auto key = [by_place = is_placed(a) && is_placed(b)](const ReturnedPacket& packet) {
    if (!by_place) return size_t{packet.hash};
    return std::hash<ChunkAt>()(packet.place.chunk) ^ packet.place.offset * 0xC2B2AE3D27D4EB4F;
  };
  std::multimap<size_t, uint32_t> of_b;
  for (uint32_t j = 0; j < b.size(); ++j) of_b.emplace(key(b[j]), j);
  std::vector<AlignedPair> pairs;
  for (uint32_t i = 0; i < a.size(); ++i) {
    const auto [first, last] = of_b.equal_range(key(a[i]));
    const auto found = std::find_if(
        first, last, [&](const auto& entry) { return AreSame(a[i], b[entry.second]); });
    if (found == last) continue;
    pairs.emplace_back(i, found->second);
    of_b.erase(found);
  }
  return pairs;
}

}  // namespace

class LogDiffer::Impl {
 public:
  explicit Impl(DiffOptions options)
      : options_(std::move(options)),
        a_(Side::kA, options_.sides.a, chunks_, options_.warn),
        b_(Side::kB, options_.sides.b, chunks_, options_.warn) {
    const auto& [a, b] = options_.sides;
    result_.same_reads = a.reads == b.reads;
  }

  /// @param op nullptr: the reads at the end
  Status Apply(const Op* op, uint64_t number) {
    op_ = op;
    for (const Side side : kSides) {
      failed_ = side;
      RS_RETURN_IF_ERROR(SideOf(side).Apply(op, number));
    }
    CompareRecord();
    if (op == nullptr) {
      SettleWhere([](const ChunkAt&) { return true; });
      AddOutcomes();
    } else if (const auto* setup = std::get_if<BufferSetUp>(&op->body)) {
      ForgetBuffer(setup->id);
    }
    return {};
  }

  DiffSide& SideOf(Side side) { return side == Side::kA ? a_ : b_; }
  Side failed() const { return failed_; }
  const LogDiff& result() const { return result_; }

 private:
  /// Adds the results of the replays as a whole.
  void AddOutcomes() {
    const Replay& a = a_.replay();
    const Replay& b = b_.replay();
    result_.records = a.records();
    result_.first_time_ns = a.first_time_ns();
    result_.last_time_ns = a.last_time_ns();
    result_.reads = {a.reads().used(), b.reads().used()};
    uint64_t& differing = result_.counts[DifferenceKind::kCounter] = 0;
    for (const auto& [id, buffer_a] : a.session().buffers()) {
      const SessionBuffer* const buffer_b = b_.Buffer(id);
      if (buffer_b == nullptr) continue;
      BufferDiff& diff = DiffOf(id);
      diff.sides = {a_.Outcome(buffer_a), b_.Outcome(*buffer_b)};
      for (size_t i = 0; i < kStatFields.size(); ++i)
        differing += Counts(i) && diff.CounterDiffers(i);
    }
  }

  bool Ignores(DifferenceKind kind) const { return options_.ignored.kinds[kind]; }
  /// Returns true if a counter is not ignored.
  bool Counts(size_t counter) const {
    return !Ignores(DifferenceKind::kCounter) && !options_.ignored.counters[counter];
  }

  void CompareRecord() {
    ComparePatches();
    ComparePackets();
    CompareCounters();
    for (const ChunkAt& chunk : chunks_.maybe_gone) {
      const auto found = chunks_.chunks.find(chunk);
      if (found == chunks_.chunks.end() || found->second.a.held || found->second.b.held) continue;
      // A side that does not report what it holds may still return everything.
      if (a_.reports_events && b_.reports_events) Settle(chunk);
      chunks_.chunks.erase(found);
    }
    chunks_.maybe_gone.clear();
  }

  void ComparePatches() {
    const auto &a = a_.patches, &b = b_.patches;
    for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
      if (a[i].ok == b[i].ok || Ignores(DifferenceKind::kPatch)) continue;
      ++result_.counts[DifferenceKind::kPatch];
      if (result_.first) continue;
      result_.first =
          Snapshot(DifferenceKind::kPatch, a[i].buffer, a[i].ok ? b[i].missed : a[i].missed);
      result_.first->patched = {a[i].ok, b[i].ok};
    }
  }

  void ComparePackets() {
    const Packets a = a_.packets, b = b_.packets;
    size_t same = 0;
    while (same < a.size() && same < b.size() && IsEqual(a[same], b[same])) ++same;
    result_.counts.matched += same;
    if (same == a.size() && same == b.size()) return;

    const Packets rest_a = a.subspan(same), rest_b = b.subspan(same);
    const std::vector<AlignedPair> pairs = MatchPackets(rest_a, rest_b);
    if (result_.same_reads) CompareOrder(pairs);
    std::vector<bool> is_matched(rest_b.size());
    for (const auto& [i, j] : pairs) is_matched[j] = true;
    // In the order of their places in the record, so that the first difference is the first.
    auto pair = pairs.begin();
    for (size_t n = 0; n < std::max(rest_a.size(), rest_b.size()); ++n) {
      const bool has_pair = pair != pairs.end() && pair->first == n;
      if (n < rest_a.size() && !has_pair) AddUnmatched(Side::kA, rest_a[n]);
      if (n < rest_b.size() && !is_matched[n]) AddUnmatched(Side::kB, rest_b[n]);
      if (!has_pair) continue;
      ++result_.counts.matched;
      CompareContents(rest_a[n], rest_b[pair->second]);
      ++pair;
    }
  }

  /// Notes all differences of a packet that both sides returned.
  void CompareContents(const ReturnedPacket& a, const ReturnedPacket& b) {
    const auto note = [&](DifferenceKind kind) { Note(kind, MatchedDifference(a, b)); };
    if (a.hash != b.hash || a.size != b.size || a.valid != b.valid) note(DifferenceKind::kContent);
    if (a.loss_bits != b.loss_bits) note(DifferenceKind::kLossBits);
    if (a.identity != b.identity) note(DifferenceKind::kIdentity);
    if (a.knows_order && b.knows_order && a.late != b.late) note(DifferenceKind::kReordered);
  }

  PacketDifference MatchedDifference(const ReturnedPacket& a, const ReturnedPacket& b) const {
    return {.written = Written(Side::kA, a), .sides = {{a, {}}, {b, {}}}};
  }
  PacketDifference Missing(const OutstandingPacket& outstanding) {
    const auto& [side, packet, written, is_first] = outstanding;
    PacketDifference difference{.written = written, .sides = {}};
    difference.sides[side].packet = packet;
    difference.sides[Other(side)].why = SideOf(Other(side)).WhyNot(packet.place, packet.last_chunk);
    return difference;
  }
  LogMoment Written(Side side, const ReturnedPacket& packet) const {
    const ChunkAt& first = packet.place.chunk;
    const auto* const last =
        FindIn(chunks_.chunks, {first.buffer, {first.name.sequence, packet.last_chunk}});
    return last == nullptr ? LogMoment{} : (*last)[side].committed;
  }

  /// Counts the pairs that must be taken out for the rest to be in the same order on both sides.
  void CompareOrder(std::span<const AlignedPair> pairs) {
    std::vector<uint32_t> seconds;
    for (const auto& [i, j] : pairs) seconds.push_back(j);
    const uint64_t displaced = pairs.size() - LongestAscending(seconds).size();
    if (displaced == 0 || Ignores(DifferenceKind::kReordered) || Ignores(DifferenceKind::kOrder))
      return;
    result_.counts[DifferenceKind::kOrder] += displaced;
    if (!result_.first_order)
      result_.first_order = {.kind = DifferenceKind::kOrder, .moment = a_.moment};
  }

  // Packets that only one side returned.

  void AddUnmatched(Side side, const ReturnedPacket& packet) {
    if (packet.place.clone == 0 && MatchOutstanding(side, packet)) return;
    OutstandingPacket outstanding{.side = side, .packet = packet, .written = Written(side, packet)};
    // A clone is read once, so that nothing can follow; and a packet returned again is settled
    // too.
    if (packet.place.clone != 0 || packet.again) return Lose(outstanding);
    if (result_.same_reads && !result_.first && !Ignores(OnlyIn(side))) {
      outstanding.is_first = true;
      SetFirst(OnlyIn(side), Missing(outstanding));
    }
    unplaced_ += packet.is_placed ? 0 : 1;
    outstanding_[packet.place.chunk].push_back(std::move(outstanding));
    // Without a chunk in the table nothing would settle it before the end; an entry that no side
    // holds is dropped after this record.
    chunks_.maybe_gone.push_back(packet.place.chunk);
  }

  /// Returns true if the other side returned the packet before.
  bool MatchOutstanding(Side side, const ReturnedPacket& packet) {
    std::optional<OutstandingPacket> taken;
    const auto take_from = [&](auto at) {
      std::vector<OutstandingPacket>& waiting = at->second;
      const auto found = std::ranges::find_if(waiting, [&](const OutstandingPacket& other) {
        return other.side != side && AreSame(other.packet, packet);
      });
      if (found == waiting.end()) return false;
      taken = std::move(*found);
      waiting.erase(found);
      if (waiting.empty()) outstanding_.erase(at);
      return true;
    };
    const auto of_chunk = outstanding_.find(packet.place.chunk);
    if (of_chunk == outstanding_.end() || !take_from(of_chunk)) {
      if (packet.is_placed && unplaced_ == 0) return false;
      for (auto at = outstanding_.begin(); at != outstanding_.end() && !take_from(at);) ++at;
      if (!taken) return false;
    }
    unplaced_ -= taken->packet.is_placed ? 0 : 1;

    ++result_.counts.matched;
    const ReturnedPacket& a = side == Side::kA ? packet : taken->packet;
    const ReturnedPacket& b = side == Side::kA ? taken->packet : packet;
    if (result_.same_reads) {
      PacketDifference moved = MatchedDifference(a, b);
      moved.kind = DifferenceKind::kMoved;
      if (taken->is_first) {
        result_.first->kind = moved.kind;
        result_.first->packet = moved;
      }
      Note(DifferenceKind::kMoved, std::move(moved));
    }
    CompareContents(a, b);
    return true;
  }

  /// Notes a packet that the other side will not return any more.
  void Lose(const OutstandingPacket& outstanding) {
    PacketDifference missing = Missing(outstanding);
    if (outstanding.packet.again) {
      missing.sides[Other(outstanding.side)].why.reset();
      return Note(DuplicateIn(outstanding.side), std::move(missing));
    }
    if (outstanding.is_first) result_.first->packet = missing;
    Note(OnlyIn(outstanding.side), std::move(missing));
  }

  /// Settles the packets of a chunk that no side holds any more.
  void Settle(const ChunkAt& chunk) {
    const auto found = outstanding_.extract(chunk);
    if (!found) return;
    for (const OutstandingPacket& outstanding : found.mapped()) Lose(outstanding);
  }

  /// Settles the packets of the chunks that `selects` is true for, in the order of the log.
  template <typename Selects>
  void SettleWhere(Selects selects) {
    std::vector<OutstandingPacket> taken;
    std::erase_if(outstanding_, [&](auto& entry) {
      if (!selects(entry.first)) return false;
      std::ranges::move(entry.second, std::back_inserter(taken));
      return true;
    });
    std::ranges::sort(taken, {}, [](const OutstandingPacket& packet) {
      const DiffPlace& place = packet.packet.place;
      return std::tuple(packet.packet.moment.record, Raw(place.chunk.buffer),
                        place.chunk.name.Packed(), place.offset, packet.side);
    });
    for (const OutstandingPacket& outstanding : taken) Lose(outstanding);
  }

  /// Settles the packets of an earlier buffer, whose id a new one has.
  void ForgetBuffer(BufferId buffer) {
    SettleWhere([&](const ChunkAt& chunk) { return chunk.buffer == buffer; });
    std::erase_if(chunks_.chunks, [&](const auto& entry) { return entry.first.buffer == buffer; });
    for (DiffSide* side : {&a_, &b_}) side->ForgetBuffer(buffer);
  }

  // Notes.

  void Note(DifferenceKind kind, PacketDifference difference) {
    if (Ignores(kind)) return;
    difference.kind = kind;
    ++result_.counts[kind];
    if (!result_.first) SetFirst(kind, difference);
    std::vector<PacketDifference>& listed = result_.packets[kind];
    if (listed.size() < options_.listed) listed.push_back(std::move(difference));
  }

  void SetFirst(DifferenceKind kind, PacketDifference difference) {
    difference.kind = kind;
    const auto& [buffer, chunk] = difference.seen().place.chunk;
    result_.first = Snapshot(kind, buffer, chunk);
    result_.first->packet = std::move(difference);
  }

  /// Both sides in their present state.
  Divergence Snapshot(DifferenceKind kind, BufferId buffer, std::optional<ChunkName> chunk) {
    Divergence divergence{.kind = kind, .moment = a_.moment, .at_end = op_ == nullptr};
    if (op_ != nullptr && options_.describe) divergence.operation = options_.describe(*op_);
    divergence.buffer = buffer;
    divergence.chunk = chunk;
    for (const Side side : kSides)
      if (const SessionBuffer* found = SideOf(side).Buffer(buffer))
        divergence.stats[side] = found->stats();
    return divergence;
  }

  // Counters.

  BufferDiff& DiffOf(BufferId id) {
    const auto found = std::ranges::lower_bound(result_.buffers, id, {}, &BufferDiff::id);
    if (found != result_.buffers.end() && found->id == id) return *found;
    return *result_.buffers.insert(found, {.id = id, .sides = {}});
  }

  void CompareCounters() {
    for (const auto& [id, buffer_a] : a_.replay().session().buffers()) {
      const SessionBuffer* const buffer_b = b_.Buffer(id);
      if (buffer_b == nullptr) continue;
      const BufferStats& stats_a = buffer_a.engine->stats();
      const BufferStats& stats_b = buffer_b->engine->stats();
      if (stats_a == stats_b) continue;
      BufferDiff& diff = DiffOf(id);
      diff.sides.a.size = buffer_a.requested_size;
      diff.sides.b.size = buffer_b->requested_size;
      std::vector<size_t> fresh;
      for (size_t i = 0; i < kStatFields.size(); ++i) {
        if (diff.diverged[i] || !Counts(i) || !diff.CounterDiffers(i, stats_a, stats_b)) continue;
        diff.diverged[i] = a_.moment;
        fresh.push_back(i);
      }
      if (fresh.empty() || result_.first_counter) continue;
      const std::optional<ChunkName> chunk = a_.LastTouched(id);
      result_.first_counter =
          Snapshot(DifferenceKind::kCounter, id, chunk ? chunk : b_.LastTouched(id));
      result_.first_counter->counters = std::move(fresh);
    }
  }

  const DiffOptions options_;
  DiffChunks chunks_;
  DiffSide a_;
  DiffSide b_;
  std::unordered_map<ChunkAt, std::vector<OutstandingPacket>> outstanding_;  // by first chunk
  uint64_t unplaced_ = 0;  // of these, packets without a place
  LogDiff result_;
  const Op* op_ = nullptr;  // the current record; nullptr: the read at the end
  Side failed_ = Side::kA;
};

LogDiffer::LogDiffer(DiffOptions options) : impl_(std::make_unique<Impl>(std::move(options))) {}
LogDiffer::~LogDiffer() = default;
Status LogDiffer::Apply(const Op& op, uint64_t number) { return impl_->Apply(&op, number); }
Result<LogDiff> LogDiffer::Finish() {
  RS_RETURN_IF_ERROR(impl_->Apply(nullptr, 0));
  return impl_->result();
}
const LogDiff& LogDiffer::result() const { return impl_->result(); }
Side LogDiffer::failed() const { return impl_->failed(); }
const Replay& LogDiffer::replay(Side side) const { return impl_->SideOf(side).replay(); }

Result<LogDiff> DiffOps(const std::vector<StoredOp>& ops, DiffOptions options) {
  LogDiffer diff(std::move(options));
  for (size_t i = 0; i < ops.size(); ++i) RS_RETURN_IF_ERROR(diff.Apply(ops[i].op(), i));
  return diff.Finish();
}

}  // namespace ringscope
