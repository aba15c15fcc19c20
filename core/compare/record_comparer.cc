#include "core/compare/record_comparer.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/compare/diff_matcher.h"
#include "core/compare/diff_side.h"
#include "core/compare/outstanding_packets.h"

namespace ringscope {
namespace {

bool SameReads(const ReplayOptions& a, const ReplayOptions& b) {
  return a.reads == b.reads && a.pass_bytes == b.pass_bytes;
}

PacketView ViewOf(const ReturnedPacket& packet, const LogMoment& moment) {
  return {.returned = true,
          .moment = moment,
          .size = packet.size,
          .hash = packet.hash,
          .loss_bits = packet.loss_bits,
          .identity = packet.identity,
          .valid = packet.valid,
          .why = {}};
}

}  // namespace

class RecordComparer::Impl {
 public:
  explicit Impl(const DiffOptions& options)
      : options_(options),
        a_(Side::kA, chunks_, WarnerOf(Side::kA)),
        b_(Side::kB, chunks_, WarnerOf(Side::kB)) {
    result_.same_reads = SameReads(options.sides.a, options.sides.b);
  }

  bool has_died() const { return result_.died.has_value(); }

  Status Compare(DiffSection& section) {
    for (const Side side : kSides) SideOf(side).StartTape(section.tapes[side]);
    for (size_t i = 0; i < section.records.size(); ++i) {
      op_ = &section.records[i].op;
      RS_RETURN_IF_ERROR(CompareRecord());
      if (result_.died) return {};
    }
    op_ = nullptr;
    at_end_ = section.at_end;
    return at_end_ ? CompareRecord() : Status();
  }

  /// Adds what the replays as a whole show.
  const LogDiff& Finish(const Replay& a, const Replay& b) {
    result_.records = a.records();
    result_.first_time_ns = a.first_time_ns();
    result_.last_time_ns = a.last_time_ns();
    result_.reads = {a.reads_used(), b.reads_used()};
    result_.service = {a.session().stats(), b.session().stats()};
    uint64_t differing = 0;
    for (const auto& [id, buffer_a] : a.session().buffers()) {
      const auto buffer_b = b.session().buffers().find(id);
      if (buffer_b == b.session().buffers().end()) continue;
      BufferDiff& diff = DiffOf(id);
      diff.sides = {a_.Outcome(buffer_a), b_.Outcome(buffer_b->second)};
      for (size_t i = 0; i < kStatFields.size(); ++i) differing += diff.CounterDiffers(i);
    }
    for (const ServiceField& field : kServiceFields)
      differing += result_.service.a.*field.value != result_.service.b.*field.value;
    if (!result_.died) result_.counts[DifferenceKind::kCounter] = differing;
    return result_;
  }

 private:
  std::function<void(const std::string&)> WarnerOf(Side side) const {
    return [this, side](const std::string& text) {
      if (options_.warn) options_.warn(side, text);
    };
  }
  DiffSide& SideOf(Side side) { return side == Side::kA ? a_ : b_; }

  /// Takes the death of a plug-in's process as a result.
  Status UnlessDead(Side side, Status status) {
    if (status || status.error().code != ErrorCode::kDied) return status;
    if (!result_.died)
      result_.died = {.side = side,
                      .moment = SideOf(side).moment(),
                      .at_end = at_end_,
                      .how = status.error().message,
                      .text = status.error().ToString()};
    return {};
  }

  /// Plays the next record of both sides, and compares what they did.
  Status CompareRecord() {
    for (const Side side : kSides) {
      RS_RETURN_IF_ERROR(UnlessDead(side, SideOf(side).PlayRecord()));
      if (result_.died && at_end_) return {};
    }
    if (result_.died) return {};
    CompareAll();
    if (at_end_)
      SettleWhere([](const ChunkAt&) { return true; });
    else if (const auto* setup = std::get_if<BufferSetUp>(&op_->body))
      ForgetBuffer(setup->id);
    return {};
  }

  void CompareAll() {
    ++result_.records;
    ComparePatches();
    ComparePackets();
    CompareCounters();
    // A side that does not report what it holds may still return everything.
    const bool both_report = a_.reports_events() && b_.reports_events();
    chunks_.DropGone([&](const ChunkAt& chunk) {
      if (both_report) Settle(chunk);
    });
  }

  // Patches.

  void ComparePatches() {
    const std::span<const PatchResult> a = a_.patches();
    const std::span<const PatchResult> b = b_.patches();
    result_.counts.patches += a.size();
    for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
      if (a[i].ok == b[i].ok) continue;
      ++result_.counts[DifferenceKind::kPatch];
      if (result_.first) continue;
      const DiffSide& missed = a[i].ok ? b_ : a_;
      Divergence first = Snapshot(DifferenceKind::kPatch, a[i].buffer, missed.MissedPatch(i));
      first.patched = {a[i].ok, b[i].ok};
      result_.first = std::move(first);
    }
  }

  // Packets.

  void ComparePackets() {
    const ReturnedPackets a = a_.packets();
    const ReturnedPackets b = b_.packets();
    size_t same = 0;
    while (same < a.size() && same < b.size() && a[same] == b[same]) ++same;
    result_.counts.matched += same;
    if (same == a.size() && same == b.size()) return;

    const ReturnedPackets rest_a = a.From(same);
    const ReturnedPackets rest_b = b.From(same);
    const PacketMatches matches = MatchByPlace(rest_a, rest_b);
    if (result_.same_reads) CompareOrder(matches);
    // In the order of their places in the record, so that the first difference is the first.
    auto pair = matches.pairs.begin();
    auto only_a = matches.only_a.begin();
    auto only_b = matches.only_b.begin();
    const auto place = [](auto at, auto end) { return at == end ? SIZE_MAX : size_t{*at}; };
    while (true) {
      const size_t next_pair = pair == matches.pairs.end() ? SIZE_MAX : size_t{pair->first};
      const size_t next_a = place(only_a, matches.only_a.end());
      const size_t next_b = place(only_b, matches.only_b.end());
      const size_t next = std::min({next_pair, next_a, next_b});
      if (next == SIZE_MAX) return;
      if (next == next_a) {
        AddUnmatched(Side::kA, rest_a[next]);
        ++only_a;
      } else if (next == next_b) {
        AddUnmatched(Side::kB, rest_b[next]);
        ++only_b;
      } else {
        CompareMatched(rest_a[pair->first], rest_b[pair->second]);
        ++pair;
      }
    }
  }

  void CompareMatched(const ReturnedPacket& a, const ReturnedPacket& b) {
    ++result_.counts.matched;
    const auto make = [&] { return MatchedDifference(a, a_.moment(), b, b_.moment()); };
    CompareContents(a, b, make);
  }

  /// Notes in what a packet that both sides returned differs.
  template <typename Make>
  void CompareContents(const ReturnedPacket& a, const ReturnedPacket& b, Make make) {
    if (a.hash != b.hash || a.size != b.size || a.valid != b.valid)
      Note(DifferenceKind::kContent, make());
    if (a.loss_bits != b.loss_bits) Note(DifferenceKind::kLossBits, make());
    if (a.identity != b.identity) Note(DifferenceKind::kIdentity, make());
    if (a.late != b.late) Note(DifferenceKind::kReordered, make());
  }

  PacketDifference MatchedDifference(const ReturnedPacket& a, const LogMoment& moment_a,
                                     const ReturnedPacket& b, const LogMoment& moment_b) {
    PacketDifference difference;
    difference.place = a.place;
    difference.last_chunk = a.last_chunk;
    difference.written = Written(Side::kA, a);
    difference.content = a.content;
    difference.sides = {ViewOf(a, moment_a), ViewOf(b, moment_b)};
    return difference;
  }

  void CompareOrder(const PacketMatches& matches) {
    const uint64_t displaced = CountDisplaced(matches.pairs);
    if (displaced == 0) return;
    result_.counts.across_order += displaced;
    if (!result_.first_across_order) result_.first_across_order = a_.moment();
  }

  LogMoment Written(Side side, const ReturnedPacket& packet) {
    const DiffChunks::Entry* entry =
        chunks_.Find({packet.place.buffer, {packet.place.sequence, packet.last_chunk}});
    return entry == nullptr ? LogMoment{} : (*entry)[side].info.committed;
  }

  void AddUnmatched(Side side, const ReturnedPacket& packet) {
    const LogMoment moment = SideOf(side).moment();
    const ChunkAt at{packet.place.buffer, {packet.place.sequence, packet.place.chunk}};
    if (packet.place.clone == 0 && MatchOutstanding(side, packet, moment, at)) return;
    OutstandingPacket outstanding{.side = side,
                                  .packet = packet,
                                  .moment = moment,
                                  .written = Written(side, packet),
                                  .is_first = false};
    // A clone is read once, so that nothing can follow; and a packet returned again is settled
    // too.
    if (packet.place.clone != 0 || packet.again) return Lose(outstanding);
    if (result_.same_reads && !result_.first) {
      outstanding.is_first = true;
      SetFirst(OnlyIn(side), Missing(outstanding));
    }
    outstanding_.Add(at, outstanding);
    // Without a chunk in the table nothing would settle it before the end; an entry that no side
    // holds is dropped after this record.
    if (DiffChunks::Entry* entry = chunks_.Find(at); entry && !entry->a.held && !entry->b.held)
      chunks_.MayBeGone(at);
  }

  /// Whether the other side returned the packet before.
  bool MatchOutstanding(Side side, const ReturnedPacket& packet, const LogMoment& moment,
                        const ChunkAt& at) {
    const std::optional<OutstandingPacket> taken = outstanding_.Take(side, packet.place, at);
    if (!taken) return false;
    const OutstandingPacket& other = *taken;

    ++result_.counts.matched;
    const auto make = [&] {
      return side == Side::kA ? MatchedDifference(packet, moment, other.packet, other.moment)
                              : MatchedDifference(other.packet, other.moment, packet, moment);
    };
    if (result_.same_reads) {
      PacketDifference moved = make();
      if (other.is_first) {
        result_.first->kind = moved.kind = DifferenceKind::kMoved;
        result_.first->packet = moved;
      }
      Note(DifferenceKind::kMoved, std::move(moved));
    }
    if (side == Side::kA)
      CompareContents(packet, other.packet, make);
    else
      CompareContents(other.packet, packet, make);
    return true;
  }

  PacketDifference Missing(const OutstandingPacket& outstanding) {
    const ReturnedPacket& packet = outstanding.packet;
    const Side other = Other(outstanding.side);
    PacketDifference difference;
    difference.place = packet.place;
    difference.last_chunk = packet.last_chunk;
    difference.written = outstanding.written;
    difference.content = packet.content;
    difference.sides[outstanding.side] = ViewOf(packet, outstanding.moment);
    difference.sides[other].why = SideOf(other).WhyNot(packet.place, packet.last_chunk);
    return difference;
  }

  /// The other side will not return it any more.
  void Lose(const OutstandingPacket& outstanding) {
    PacketDifference missing = Missing(outstanding);
    if (outstanding.packet.again) {
      missing.sides[Other(outstanding.side)].why.reset();
      return Note(DuplicateIn(outstanding.side), std::move(missing));
    }
    if (outstanding.is_first) result_.first->packet = missing;
    Note(OnlyIn(outstanding.side), std::move(missing));
  }

  /// No side holds the chunk any more: what is outstanding of it cannot be returned.
  void Settle(const ChunkAt& chunk) {
    for (const OutstandingPacket& outstanding : outstanding_.TakeAll(chunk)) Lose(outstanding);
  }

  /// All that is outstanding of the chunks that `selects` is true for cannot be returned any more.
  template <typename Selects>
  void SettleWhere(Selects selects) {
    for (const OutstandingPacket& outstanding : outstanding_.TakeWhere(selects)) Lose(outstanding);
  }

  /// A new buffer has this id: nothing of an earlier one can be returned any more.
  void ForgetBuffer(BufferId buffer) {
    SettleWhere([&](const ChunkAt& chunk) { return chunk.buffer == buffer; });
    chunks_.DropBuffer(buffer);
    for (DiffSide* side : {&a_, &b_}) side->ForgetBuffer(buffer);
  }

  // Notes.

  void Note(DifferenceKind kind, PacketDifference difference) {
    difference.kind = kind;
    ++result_.counts[kind];
    if (!result_.first) SetFirst(kind, difference);
    std::vector<PacketDifference>& listed = result_.packets[static_cast<size_t>(kind)];
    if (listed.size() < options_.listed) listed.push_back(std::move(difference));
  }

  void SetFirst(DifferenceKind kind, PacketDifference difference) {
    difference.kind = kind;
    Divergence first = Snapshot(kind, difference.place.buffer,
                                ChunkName{difference.place.sequence, difference.place.chunk});
    first.packet = std::move(difference);
    result_.first = std::move(first);
  }

  /// Both sides as they are now.
  Divergence Snapshot(DifferenceKind kind, BufferId buffer, std::optional<ChunkName> chunk) {
    Divergence divergence;
    divergence.kind = kind;
    divergence.moment = a_.moment();
    divergence.at_end = at_end_;
    if (op_ != nullptr && options_.describe) divergence.operation = options_.describe(*op_);
    divergence.buffer = buffer;
    divergence.chunk = chunk;
    for (const Side side : kSides) {
      divergence.states[side] = SideOf(side).StateOf(buffer, chunk);
      if (const CountedBuffer* counted = SideOf(side).Counted(buffer))
        divergence.stats[side] = counted->seen ? *counted->seen : counted->stats;
    }
    return divergence;
  }

  // Counters.

  BufferDiff& DiffOf(BufferId id) {
    const auto found = std::find_if(result_.buffers.begin(), result_.buffers.end(),
                                    [&](const BufferDiff& buffer) { return buffer.id >= id; });
    if (found != result_.buffers.end() && found->id == id) return *found;
    BufferDiff added;
    added.id = id;
    return *result_.buffers.insert(found, std::move(added));
  }

  void CompareCounters() {
    touched_ = a_.touched();
    touched_.insert(touched_.end(), b_.touched().begin(), b_.touched().end());
    std::sort(touched_.begin(), touched_.end());
    touched_.erase(std::unique(touched_.begin(), touched_.end()), touched_.end());
    for (const BufferId id : touched_) {
      const CountedBuffer* const buffer_a = a_.Counted(id);
      const CountedBuffer* const buffer_b = b_.Counted(id);
      if (buffer_a == nullptr || buffer_b == nullptr) continue;
      const BufferStats& stats_a = buffer_a->stats;
      const BufferStats& stats_b = buffer_b->stats;
      // A process for which nobody had to wait may have ended in this record.
      for (const Side side : kSides)
        if (const Error* failure = SideOf(side).Failure(id))
          static_cast<void>(UnlessDead(side, tl::unexpected(*failure)));
      if (result_.died) return;
      if (stats_a == stats_b) continue;
      BufferDiff& diff = DiffOf(id);
      diff.sides.a.size = buffer_a->requested_size;
      diff.sides.b.size = buffer_b->requested_size;
      std::vector<size_t> fresh;
      for (size_t i = 0; i < kStatFields.size(); ++i) {
        const auto field = kStatFields[i].value;
        if (diff.diverged[i] || stats_a.*field == stats_b.*field) continue;
        const bool as_chosen = field == &BufferStats::buffer_size &&
                               buffer_a->requested_size != buffer_b->requested_size;
        if (as_chosen) continue;
        diff.diverged[i] = a_.moment();
        fresh.push_back(i);
      }
      if (fresh.empty() || result_.first_counter) continue;
      std::optional<ChunkName> chunk = a_.LastTouched(id);
      if (!chunk) chunk = b_.LastTouched(id);
      Divergence first = Snapshot(DifferenceKind::kCounter, id, chunk);
      first.counters = std::move(fresh);
      result_.first_counter = std::move(first);
    }
  }

  const DiffOptions& options_;
  DiffChunks chunks_;
  DiffSide a_;
  DiffSide b_;
  OutstandingPackets outstanding_;
  std::vector<BufferId> touched_;  // scratch
  LogDiff result_;
  const Op* op_ = nullptr;
  bool at_end_ = false;
};

RecordComparer::RecordComparer(const DiffOptions& options)
    : impl_(std::make_unique<Impl>(options)) {}
RecordComparer::~RecordComparer() = default;
Status RecordComparer::Compare(DiffSection& section) { return impl_->Compare(section); }
bool RecordComparer::has_died() const { return impl_->has_died(); }
const LogDiff& RecordComparer::Finish(const Replay& a, const Replay& b) {
  return impl_->Finish(a, b);
}

}  // namespace ringscope
