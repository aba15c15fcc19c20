#include "core/compare/log_differ.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/base/list_alignment.h"
#include "core/compare/diff_side.h"
#include "core/compare/outstanding_packets.h"

namespace ringscope {
namespace {

using Packets = std::span<const ReturnedPacket>;

bool SameReads(const ReplayOptions& a, const ReplayOptions& b) {
  return a.reads == b.reads && a.pass_bytes == b.pass_bytes;
}

/// Returns true if nothing of the two packets differs.
bool IsEqual(const ReturnedPacket& a, const ReturnedPacket& b) {
  return a.IsSameAs(b) && a.size == b.size && a.hash == b.hash && a.loss_bits == b.loss_bits &&
         a.identity == b.identity && a.valid == b.valid && a.again == b.again && a.late == b.late;
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

/// The packets that two lists have in common, and those of one list alone. All indices ascend;
/// pairs ascend in the first.
struct PacketMatches {
  std::vector<AlignedPair> pairs;
  std::vector<uint32_t> only_a;
  std::vector<uint32_t> only_b;
};

/// Matches packets by place, and the n-th at a place with the n-th at it; then those without a
/// place by content.
class PacketMatcher {
 public:
  PacketMatcher(Packets a, Packets b) : a_(a), b_(b), match_of_a_(a.size(), kNone) {
    matched_b_.resize(b.size(), false);
  }

  PacketMatches Run() {
    const auto by_place = [](const ReturnedPacket& packet) {
      const DiffPlace& place = packet.place;
      const size_t chunk = std::hash<ChunkAt>()(packet.chunk());
      return chunk ^ (uint64_t{place.offset} << 1 | place.clone) * 0xC2B2AE3D27D4EB4F;
    };
    Match(by_place, [](const ReturnedPacket& a, const ReturnedPacket& b) {
      return a.is_placed && b.is_placed && a.place == b.place;
    });
    const auto is_unplaced = [](const ReturnedPacket& packet) { return !packet.is_placed; };
    if (std::ranges::any_of(a_, is_unplaced) || std::ranges::any_of(b_, is_unplaced)) {
      Match([](const ReturnedPacket& packet) { return packet.hash; },
            [](const ReturnedPacket& a, const ReturnedPacket& b) {
              return !(a.is_placed && b.is_placed) && a.IsSameAs(b);
            });
    }
    PacketMatches matches;
    for (uint32_t i = 0; i < a_.size(); ++i) {
      if (match_of_a_[i] == kNone)
        matches.only_a.push_back(i);
      else
        matches.pairs.emplace_back(i, match_of_a_[i]);
    }
    for (uint32_t j = 0; j < b_.size(); ++j)
      if (!matched_b_[j]) matches.only_b.push_back(j);
    return matches;
  }

 private:
  static constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();

  template <typename Key, typename Equal>
  void Match(Key key, Equal equal) {
    // The packets of b with one key form a chain, the first of them first.
    std::unordered_map<size_t, uint32_t> heads;
    heads.reserve(b_.size());
    std::vector<uint32_t> next(b_.size(), kNone);
    for (uint32_t j = static_cast<uint32_t>(b_.size()); j-- > 0;) {
      if (matched_b_[j]) continue;
      const auto [head, is_new] = heads.try_emplace(key(b_[j]), j);
      if (!is_new) next[j] = std::exchange(head->second, j);
    }
    for (uint32_t i = 0; i < a_.size(); ++i) {
      if (match_of_a_[i] != kNone) continue;
      const auto head = heads.find(key(a_[i]));
      if (head == heads.end()) continue;
      for (uint32_t* at = &head->second; *at != kNone; at = &next[*at]) {
        if (!equal(a_[i], b_[*at])) continue;
        match_of_a_[i] = *at;
        matched_b_[*at] = true;
        *at = next[*at];
        break;
      }
    }
  }

  const Packets a_;
  const Packets b_;
  std::vector<uint32_t> match_of_a_;
  std::vector<bool> matched_b_;
};

/// Counts the pairs that must be taken out for the rest to be in the same order on both sides.
uint64_t CountDisplaced(std::span<const AlignedPair> pairs) {
  std::vector<uint32_t> seconds;
  seconds.reserve(pairs.size());
  for (const auto& [i, j] : pairs) seconds.push_back(j);
  return pairs.size() - LongestAscending(seconds).size();
}

}  // namespace

class LogDiffer::Impl {
 public:
  explicit Impl(DiffOptions options)
      : options_(std::move(options)),
        a_(Side::kA, options_.sides.a, chunks_, WarnerOf(Side::kA)),
        b_(Side::kB, options_.sides.b, chunks_, WarnerOf(Side::kB)) {
    result_.same_reads = SameReads(options_.sides.a, options_.sides.b);
  }

  Status Apply(const Op& op, uint64_t number) {
    op_ = &op;
    for (const Side side : kSides) {
      failed_ = side;
      RS_RETURN_IF_ERROR(SideOf(side).Apply(op, number));
    }
    CompareRecord();
    if (const auto* setup = std::get_if<BufferSetUp>(&op.body)) ForgetBuffer(setup->id);
    op_ = nullptr;
    return {};
  }

  Status ApplyEnd() {
    at_end_ = true;
    for (const Side side : kSides) {
      failed_ = side;
      RS_RETURN_IF_ERROR(SideOf(side).Finish());
    }
    CompareRecord();
    SettleWhere([](const ChunkAt&) { return true; });
    return {};
  }

  DiffSide& SideOf(Side side) { return side == Side::kA ? a_ : b_; }
  Side failed() const { return failed_; }
  const LogDiff& result() const { return result_; }

  /// Adds the results of the replays as a whole.
  LogDiff& AddOutcomes() {
    const Replay& a = a_.replay();
    const Replay& b = b_.replay();
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
      for (size_t i = 0; i < kStatFields.size(); ++i)
        differing += Counts(i) && diff.CounterDiffers(i);
    }
    if (!options_.ignored(DifferenceKind::kCounter))
      for (const ServiceField& field : kServiceFields)
        differing += result_.service.a.*field.value != result_.service.b.*field.value;
    result_.counts[DifferenceKind::kCounter] = differing + cloned_differing_;
    return result_;
  }

 private:
  std::function<void(const std::string&)> WarnerOf(Side side) const {
    return [this, side](const std::string& text) {
      if (options_.warn) options_.warn(side, text);
    };
  }
  /// Returns true if a counter is not ignored.
  bool Counts(size_t counter) const {
    return !options_.ignored(DifferenceKind::kCounter) && !options_.ignored.counters[counter];
  }

  void CompareRecord() {
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
      if (a[i].ok == b[i].ok || options_.ignored(DifferenceKind::kPatch)) continue;
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
    const Packets a = a_.packets();
    const Packets b = b_.packets();
    size_t same = 0;
    while (same < a.size() && same < b.size() && IsEqual(a[same], b[same])) ++same;
    result_.counts.matched += same;
    if (same == a.size() && same == b.size()) return;

    const Packets rest_a = a.subspan(same);
    const Packets rest_b = b.subspan(same);
    const PacketMatches matches = PacketMatcher(rest_a, rest_b).Run();
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
    CompareContents(a, b, [&] { return MatchedDifference(a, a_.moment(), b, b_.moment()); });
  }

  /// Notes all differences of a packet that both sides returned.
  template <typename Make>
  void CompareContents(const ReturnedPacket& a, const ReturnedPacket& b, Make make) {
    if (a.hash != b.hash || a.size != b.size || a.valid != b.valid)
      Note(DifferenceKind::kContent, make());
    if (a.loss_bits != b.loss_bits) Note(DifferenceKind::kLossBits, make());
    if (a.identity != b.identity) Note(DifferenceKind::kIdentity, make());
    if (a.is_placed && b.is_placed && a.late != b.late) Note(DifferenceKind::kReordered, make());
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
    if (displaced == 0 || options_.ignored(DifferenceKind::kReordered)) return;
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
    if (packet.place.clone == 0 && MatchOutstanding(side, packet, moment)) return;
    OutstandingPacket outstanding{.side = side,
                                  .packet = packet,
                                  .moment = moment,
                                  .written = Written(side, packet),
                                  .is_first = false};
    // A clone is read once, so that nothing can follow; and a packet returned again is settled
    // too.
    if (packet.place.clone != 0 || packet.again) return Lose(outstanding);
    if (result_.same_reads && !result_.first && !options_.ignored(OnlyIn(side))) {
      outstanding.is_first = true;
      SetFirst(OnlyIn(side), Missing(outstanding));
    }
    outstanding_.Add(outstanding);
    // Without a chunk in the table nothing would settle it before the end; an entry that no side
    // holds is dropped after this record.
    const ChunkAt at = packet.chunk();
    if (DiffChunks::Entry* entry = chunks_.Find(at); entry && !entry->a.held && !entry->b.held)
      chunks_.MayBeGone(at);
  }

  /// Returns true if the other side returned the packet before.
  bool MatchOutstanding(Side side, const ReturnedPacket& packet, const LogMoment& moment) {
    const std::optional<OutstandingPacket> taken = outstanding_.Take(side, packet);
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
    for (const OutstandingPacket& outstanding : outstanding_.TakeAll(chunk)) Lose(outstanding);
  }

  /// Settles the packets of the chunks that `selects` is true for.
  template <typename Selects>
  void SettleWhere(Selects selects) {
    for (const OutstandingPacket& outstanding : outstanding_.TakeWhere(selects)) Lose(outstanding);
  }

  /// Settles the packets of an earlier buffer, whose id a new one has.
  void ForgetBuffer(BufferId buffer) {
    SettleWhere([&](const ChunkAt& chunk) { return chunk.buffer == buffer; });
    chunks_.DropBuffer(buffer);
    for (DiffSide* side : {&a_, &b_}) side->ForgetBuffer(buffer);
  }

  // Notes.

  void Note(DifferenceKind kind, PacketDifference difference) {
    if (options_.ignored(kind)) return;
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

  /// Both sides in their present state.
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
      if (const SessionBuffer* found = SideOf(side).Buffer(buffer))
        divergence.stats[side] = found->stats();
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
    CompareClones();
    touched_ = a_.touched();
    touched_.insert(touched_.end(), b_.touched().begin(), b_.touched().end());
    std::sort(touched_.begin(), touched_.end());
    touched_.erase(std::unique(touched_.begin(), touched_.end()), touched_.end());
    for (const BufferId id : touched_) {
      const SessionBuffer* const buffer_a = a_.Buffer(id);
      const SessionBuffer* const buffer_b = b_.Buffer(id);
      if (buffer_a == nullptr || buffer_b == nullptr) continue;
      const BufferStats& stats_a = buffer_a->engine->stats();
      const BufferStats& stats_b = buffer_b->engine->stats();
      if (stats_a == stats_b) continue;
      BufferDiff& diff = DiffOf(id);
      diff.sides.a.size = buffer_a->requested_size;
      diff.sides.b.size = buffer_b->requested_size;
      std::vector<size_t> fresh;
      for (const size_t i : Differing(stats_a, stats_b, diff)) {
        if (diff.diverged[i]) continue;
        diff.diverged[i] = a_.moment();
        fresh.push_back(i);
      }
      if (fresh.empty() || result_.first_counter) continue;
      std::optional<ChunkName> chunk = a_.LastTouched(id);
      if (!chunk) chunk = b_.LastTouched(id);
      SetFirstCounter(id, chunk, std::move(fresh));
    }
  }

  /// The counters that differ, and not only as sizes were chosen.
  std::vector<size_t> Differing(const BufferStats& a, const BufferStats& b,
                                const BufferDiff& diff) const {
    std::vector<size_t> differing;
    for (size_t i = 0; i < kStatFields.size(); ++i) {
      const auto field = kStatFields[i].value;
      const bool as_chosen =
          field == &BufferStats::buffer_size && diff.sides.a.size != diff.sides.b.size;
      if (a.*field != b.*field && !as_chosen && Counts(i)) differing.push_back(i);
    }
    return differing;
  }

  void SetFirstCounter(BufferId buffer, std::optional<ChunkName> chunk,
                       std::vector<size_t> counters) {
    Divergence first = Snapshot(DifferenceKind::kCounter, buffer, chunk);
    first.counters = std::move(counters);
    result_.first_counter = std::move(first);
  }

  /// The counters of clones, where those of the cloned buffers agree.
  void CompareClones() {
    for (size_t i = 0; i < std::min(a_.cloned().size(), b_.cloned().size()); ++i) {
      const auto& [id, stats_a] = a_.cloned()[i];
      const BufferStats& stats_b = b_.cloned()[i].second;
      if (stats_a == stats_b) continue;
      const BufferDiff& diff = DiffOf(id);
      std::vector<size_t> fresh = Differing(stats_a, stats_b, diff);
      std::erase_if(fresh, [&](size_t counter) { return diff.diverged[counter].has_value(); });
      if (fresh.empty()) continue;
      cloned_differing_ += fresh.size();
      if (!result_.first_counter) {
        SetFirstCounter(id, std::nullopt, std::move(fresh));
        result_.first_counter->stats = {stats_a, stats_b};
      }
    }
  }

  const DiffOptions options_;
  DiffChunks chunks_;
  DiffSide a_;
  DiffSide b_;
  OutstandingPackets outstanding_;
  std::vector<BufferId> touched_;  // scratch
  LogDiff result_;
  uint64_t cloned_differing_ = 0;  // counters of clones
  const Op* op_ = nullptr;         // the current record
  Side failed_ = Side::kA;
  bool at_end_ = false;
};

LogDiffer::LogDiffer(DiffOptions options) : impl_(std::make_unique<Impl>(std::move(options))) {}
LogDiffer::~LogDiffer() = default;
Status LogDiffer::Apply(const Op& op, uint64_t number) { return impl_->Apply(op, number); }
Result<LogDiff> LogDiffer::Finish() {
  RS_RETURN_IF_ERROR(impl_->ApplyEnd());
  return std::move(impl_->AddOutcomes());
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
