#ifndef RINGSCOPE_CORE_COMPARE_LOG_DIFFER_H_
#define RINGSCOPE_CORE_COMPARE_LOG_DIFFER_H_

#include <numeric>

#include "core/compare/stream_notation.h"
#include "core/session/replay_outcome.h"

namespace ringscope {

/// The two sides of a comparison.
enum class Side : uint8_t { kA, kB };
inline constexpr std::array<Side, 2> kSides = {Side::kA, Side::kB};
constexpr Side Other(Side side) { return side == Side::kA ? Side::kB : Side::kA; }
constexpr char Letter(Side side) { return side == Side::kA ? 'A' : 'B'; }

/// One value for each side.
template <typename T>
struct Both {
  T a{};
  T b{};
  T& operator[](Side side) { return side == Side::kA ? a : b; }
  const T& operator[](Side side) const { return side == Side::kA ? a : b; }
  friend bool operator==(const Both&, const Both&) = default;
};

/// A way in which two sides differ.
enum class DifferenceKind : uint8_t {
  kOnlyInA,       // a packet that B never returned
  kOnlyInB,       // a packet that A never returned
  kDuplicateInA,  // a packet that A returned once more
  kDuplicateInB,  // a packet that B returned once more
  kMoved,         // returned by both, after different records
  kReordered,     // after a later packet of its sequence on one side alone
  kContent,       // other bytes, or other validity
  kLossBits,      // another previous_packet_dropped
  kIdentity,      // another uid or pid
  kPatch,         // a patch was applied on one side alone
  kCounter,       // counters of a buffer
  kOrder,         // packets in another order relative to other sequences
};
/// A row of the kinds' table.
struct DifferenceRow {
  DifferenceKind value;
  const char* name;
  const char* text;      // of packets that differ so; of patches and counters the noun
  const char* sentence;  // {what} differs: {a} and {b} are the sides, {first} the one that did it
};
template <>
inline constexpr auto kEnumRows<DifferenceKind> = EnumTable<DifferenceRow>({
    {DifferenceKind::kOnlyInA, "only_in_a", "only in A", "{a} returns {what}, {b} does not"},
    {DifferenceKind::kOnlyInB, "only_in_b", "only in B", "{b} returns {what}, {a} does not"},
    {DifferenceKind::kDuplicateInA, "duplicate_in_a", "returned twice by A",
     "{a} returns {what} twice"},
    {DifferenceKind::kDuplicateInB, "duplicate_in_b", "returned twice by B",
     "{b} returns {what} twice"},
    {DifferenceKind::kMoved, "moved", "returned at a different moment",
     "{first} returns {what} earlier"},
    {DifferenceKind::kReordered, "reordered", "in a different order within the sequence",
     "{what} is returned in a different order within its sequence"},
    {DifferenceKind::kContent, "content", "with different content",
     "{what}: {of_a} from {a}, {of_b} from {b}"},
    {DifferenceKind::kLossBits, "loss_bits", "flagged differently",
     "{what}: flag {of_a} from {a}, {of_b} from {b}"},
    {DifferenceKind::kIdentity, "identity", "with a different uid or pid",
     "{what}: {of_a} from {a}, {of_b} from {b}"},
    {DifferenceKind::kPatch, "patch", "patch result",
     "a patch of {what} is applied by {first}, not by {second}"},
    {DifferenceKind::kCounter, "counter", "counter", "{what} is {of_a} in {a}, {of_b} in {b}"},
    {DifferenceKind::kOrder, "other_order_across_sequences",
     "in a different order across sequences",
     "{a} and {b} return packets of several sequences in different orders"},
});
constexpr DifferenceKind OnlyIn(Side side) {
  return side == Side::kA ? DifferenceKind::kOnlyInA : DifferenceKind::kOnlyInB;
}
constexpr DifferenceKind DuplicateIn(Side side) {
  return side == Side::kA ? DifferenceKind::kDuplicateInA : DifferenceKind::kDuplicateInB;
}

/// One value for each kind of differences.
template <typename T>
struct PerKind : std::array<T, kEnumRows<DifferenceKind>.size()> {
  PerKind() : std::array<T, kEnumRows<DifferenceKind>.size()>{} {}
  T& operator[](DifferenceKind kind) { return this->at(static_cast<size_t>(kind)); }
  const T& operator[](DifferenceKind kind) const { return this->at(static_cast<size_t>(kind)); }
};

/// Kinds of differences and counters that do not count.
struct Ignored {
  PerKind<bool> kinds{};
  std::array<bool, kStatFields.size()> counters{};
};

/// The reason why a side did not return a packet, by what became of the packet's chunk.
struct DiffWhy {
  enum class Kind : uint8_t {
    kNotReported,  // the engine does not report it
    kDiscarded,    // the chunk was not taken in: `discard`
    kEvicted,      // `by` needed the chunk's space
    kCleared,      // cleared on the way to `with`, whose space `by` needed
    kAbandoned,    // a read pass consumed the packet without returning it: `loss_bits`
    kNotFound,     // a read pass consumed the chunk, and did not find the packet in it
    kHeld,         // the chunk is still in the buffer
    kWaits,        // likewise, and its sequence waits: `with`, `stall`
  };

  Kind kind = Kind::kNotReported;
  LogMoment moment;  // when; none for kHeld and kNotReported
  DiscardReason discard{};
  StallReason stall{};
  uint32_t loss_bits = 0;
  std::optional<ChunkName> by = {};
  std::optional<ChunkName> with = {};
};
/// In words: "evicted for 1:2#90".
std::string Describe(const DiffWhy& why);
template <>
inline constexpr std::array kEnumNames<DiffWhy::Kind> = {
    "not_reported", "discarded", "evicted", "cleared", "abandoned", "not_found", "held", "waits"};

/// A packet's place, which distinguishes packets whatever their content.
struct DiffPlace {
  ChunkAt chunk;        // holds the first fragment
  uint32_t offset = 0;  // of that fragment's size varint in the chunk's payload
  uint32_t clone = 0;   // 0: returned by a read pass; else by the log's n-th clone
  friend bool operator==(const DiffPlace&, const DiffPlace&) = default;
};

/// A packet that one side returned, with a hash in place of its bytes.
struct ReturnedPacket {
  DiffPlace place;
  bool is_placed = true;  // false: a plug-in did not report where the packet is
  ChunkId last_chunk{};   // holds its last fragment
  LogMoment moment;
  uint64_t size = 0;
  uint64_t hash = 0;  // of its bytes
  uint32_t loss_bits = 0;
  Identity identity;
  bool valid = true;         // passed the service's validation
  uint32_t content = 0;      // field that holds the packet's data; see ContentName
  bool again = false;        // was returned before, as far as that is known
  bool late = false;         // a later packet of its sequence was returned before
  bool knows_order = false;  // it has a place, and so have all before it in its sequence
};

/// A packet as one side returned it, or why it did not.
struct PacketView {
  std::optional<ReturnedPacket> packet;
  std::optional<DiffWhy> why;
};

/// A packet that the sides do not agree on.
struct PacketDifference {
  DifferenceKind kind{};
  LogMoment written;  // commit of its last chunk, if known
  Both<PacketView> sides;

  /// Returns the packet as a side returned it, A first.
  const ReturnedPacket& seen() const { return sides.a.packet ? *sides.a.packet : *sides.b.packet; }
};

/// The first record after which the sides differ.
struct Divergence {
  DifferenceKind kind{};
  LogMoment moment;
  bool at_end = false;    // by the read after the last record
  std::string operation;  // the record in words
  std::optional<BufferId> buffer;
  /// The chunk that it shows at; absent for a counter that no chunk's event explains.
  std::optional<ChunkName> chunk;
  std::optional<PacketDifference> packet;  // of kinds about one packet
  Both<bool> patched;                      // kPatch
  std::vector<size_t> counters;  // kCounter: indices in kStatFields, all that differ first
  Both<BufferStats> stats;       // of the buffer, after the record

  /// Equal for differences of one sort, so that a smaller log can be held to it: "only_in_a
  /// evicted", "loss_bits present/read_gap", "patch by A", "counter chunks_read rises".
  std::string Class() const;
  /// "bytes_written is 32 in A, 64 in B". @param names of the sides
  std::string Text(const Both<std::string>& names) const;
  /// All kinds and counters but this one.
  Ignored Others() const;
};

/// Numbers of differences, by kind.
struct DiffCounts : PerKind<uint64_t> {
  uint64_t matched = 0;  // packets that both sides returned

  uint64_t all() const { return std::reduce(begin(), end()); }
};

struct BufferDiff {
  BufferId id{};
  Both<BufferOutcome> sides;  // at the end; losses and what is unread are left out
  /// For each counter the moment from which on it differed; absent: it never did. A counter may
  /// agree again at the end.
  std::array<std::optional<LogMoment>, kStatFields.size()> diverged{};

  /// Returns true if counter `i` of kStatFields differs, and not only as sizes were chosen.
  bool CounterDiffers(size_t i, const BufferStats& a, const BufferStats& b) const;
  bool CounterDiffers(size_t i) const { return CounterDiffers(i, sides.a.stats, sides.b.stats); }
};

/// The differences of two replays of one session.
struct LogDiff {
  uint64_t records = 0;
  std::optional<uint64_t> first_time_ns;
  std::optional<uint64_t> last_time_ns;
  bool same_reads = true;  // both sides were read at the same moments: moments are compared
  std::vector<BufferDiff> buffers;
  Both<ReadsUsed> reads;
  DiffCounts counts;
  std::optional<Divergence> first;          // in the results
  std::optional<Divergence> first_counter;  // in a counter
  std::optional<Divergence> first_order;    // in the order across sequences
  /// The first packets that differ, at most DiffOptions::listed of each kind.
  PerKind<std::vector<PacketDifference>> packets;

  bool Same() const { return counts.all() == 0; }
  /// Returns true if packets, their order, loss bits and patch results are the same.
  bool SameResults() const { return counts.all() == counts[DifferenceKind::kCounter]; }
  /// The first divergence of the results, else of the counters, else of the order; nullptr if none.
  const Divergence* First() const;
};

struct DiffOptions {
  Both<ReplayOptions> sides;
  Ignored ignored;
  size_t listed = 20;  // packets that differ to keep in full, of each kind
  /// The record in words, for the report of a divergence. May be empty.
  std::function<std::string(const Op&)> describe = {};
  /// Something the user should know about a side's replay. May be empty.
  std::function<void(const std::string&)> warn = {};
};

/// Compares two replays of one session in lock step: both sides apply a record, and the packets,
/// loss bits, patch results and counters that come out are compared before the next one. Packets
/// are matched by place. One pass; memory: both sides' buffers, O(chunks held), and the packets
/// that one record returns.
///
/// If both sides are read at the same moments, a packet that is returned after different records
/// is a difference ("moved"), and the order across sequences is compared within each record. If
/// not, both are left out: a packet that one side returned counts as missing on the other when
/// neither holds its chunk any more, or at the end.
class LogDiffer {
 public:
  explicit LogDiffer(DiffOptions options);
  ~LogDiffer();

  /// @param number of the record, as differences are to name it
  Status Apply(const Op& op, uint64_t number);
  /// The reads at the end. All outstanding packets are differences then.
  Result<LogDiff> Finish();

  /// The differences so far.
  const LogDiff& result() const;
  /// The side whose error Apply or Finish returned.
  Side failed() const;
  const Replay& replay(Side side) const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

/// Compares the sides over these records, which are numbered from 0.
Result<LogDiff> DiffOps(const std::vector<StoredOp>& ops, DiffOptions options);

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_COMPARE_LOG_DIFFER_H_
