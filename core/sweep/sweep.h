#ifndef RINGSCOPE_CORE_SWEEP_SWEEP_H_
#define RINGSCOPE_CORE_SWEEP_SWEEP_H_

#include "core/ledger/ledger.h"
#include "core/log/configured_ops.h"
#include "core/log/session_index.h"
#include "core/session/replay_outcome.h"

// A sweep replays one session in many configurations, and gives for each the rows that a replay of
// that configuration alone gives.
//
//   records ──► section of 1 MiB ──┬─► SweepReplay (largest size)  ─ engine ─ ledger ─┐
//   (read once per pass)           ├─► SweepReplay (next size)     ─ engine           ├─► Rows
//                                  └─► SweepReplay ...             ─ engine           ┘     │
//                                                  again, with a ledger ◄── not exact ◄─────┘
//
// A ledger costs more than the replay of a buffer, and most of what it finds does not depend on the
// buffer's size: the packets written, and those lost in shared memory, at the commit or unfinished.
// So a setting (engine, policy, reads: everything but sizes) has one ledger, in its largest
// configuration. In the others only the packets that come out are counted, and for each sequence
//
//   lost to the size = written - came out - lost otherwise - unfinished - waiting
//
// where only "came out" and "waiting" are of that configuration. The equation does not hold where
// the size changes more than which packets are overwritten: a chunk is refused in one size and
// taken in the other, a packet is read as the chunk that stalled it was overwritten, a read returns
// a packet twice. `SweepReplay::is_exact` detects these cases, and `Sweep::Run` replays them once
// more with a ledger of their own. A search for a larger buffer goes the other way: the session was
// replayed with a ledger already, and a single larger size needs none if all comes out that could.
// Sizes in which the buffer would not wrap are one configuration: they are not replayed.
// Clones and programs (ProtoVM) have a ledger in each configuration, as
// what they lose depends on what is in the buffer at one moment.
//
// Order of calls: `Run` may be called again with further configurations, as a search for the
// smallest size does; a setting that was replayed keeps the ledger of its largest size, and larger
// sizes replace it. Within a pass each section goes through all replays before the next one is
// read, so that all replays see the same records and none is ahead of another. A pass holds as many
// buffers as `SweepInput::memory_limit` allows, the largest first: no configuration is replayed
// before the one whose ledger it needs.

namespace ringscope {

/// The space that the chunks of one buffer took, and its reads. From these follow the sizes that a
/// ring needs, by arithmetic: as if each read took all that is there. A replay tells whether that
/// is so. Memory: 4 bytes for each chunk.
class RingWrites {
 public:
  /// @param keep_from_ns of each sequence, the newest chunk that was committed by then is to be
  /// kept
  explicit RingWrites(uint64_t keep_from_ns) : keep_from_ns_(keep_from_ns) {}

  /// A chunk is committed in which a packet begins.
  /// @param bytes that were written to the buffer before it
  void AddPackets(SequenceKey sequence, uint64_t now_ns, uint64_t bytes) {
    SetBytes(bytes);
    std::optional<size_t>& from = kept_from_[sequence];
    if (!from || now_ns <= keep_from_ns_) from = chunks_.size();
  }
  void AddRead(uint64_t bytes) {
    SetBytes(bytes);
    reads_.push_back(chunks_.size());
  }
  /// Notes what was written since the last call. @param bytes of all chunks so far
  void SetBytes(uint64_t bytes) {
    if (bytes > bytes_) chunks_.push_back(static_cast<uint32_t>(bytes - bytes_));
    bytes_ = bytes;
  }

  /// The size of the smallest ring that overwrites nothing that was not read, in whole pages.
  uint64_t SizeToHoldAll() const { return SizeFrom(0, reads_); }
  /// The size of the smallest ring that has what is to be kept at the end, in whole pages.
  uint64_t SizeToKeep() const;

 private:
  uint64_t SizeFrom(size_t first, const std::vector<size_t>& reads) const;
  uint64_t HeldBy(uint64_t size, size_t first, const std::vector<size_t>& reads) const;

  const uint64_t keep_from_ns_;
  std::vector<uint32_t> chunks_;  // bytes that each takes
  std::vector<size_t> reads_;     // by the number of chunks before them
  uint64_t bytes_ = 0;
  SequenceMap<std::optional<size_t>> kept_from_;  // chunk to be kept
};

/// The outcome of a configuration for one sequence.
struct SweepSequence {
  SequenceKey sequence;
  PacketCount written;
  PacketCount read;
  PacketCount overwritten;
  uint64_t history_ns = 0;  // see SweepRow
};

/// The outcome of a configuration for one buffer. Each number is what a replay of the configuration
/// gives.
struct SweepRow : BufferOutcome {
  PacketCount written;  // to this buffer; bytes: of payload
  PacketCount overwritten;
  PacketCount discarded;  // by the buffer: fill policy, or a chunk committed too late
  uint64_t late = 0;      // of these, packets that a buffer of any size refuses
  /// Overwritten, but a program (ProtoVM) has their content in a state that is in the trace.
  PacketCount folded;
  std::optional<uint64_t> state_bytes;  // of the programs' states at the end; absent: none run
  PacketCount taken;  // of a clone: read by the session itself before the clone was made

  /// How far back the last read that returned anything reaches; 0: none did. Of a buffer that lost
  /// nothing, the log's duration.
  uint64_t history_ns = 0;
  /// The shortest one of any of its sequences that wrote packets.
  uint64_t shortest_history_ns = 0;
  std::optional<SequenceKey> shortest_sequence;
  std::vector<SweepSequence> sequences;  // in order of first commit
  uint64_t lost = 0;                     // packets, to whatever
  uint64_t again = 0;  // packets that were returned before, as far as they are known
  std::shared_ptr<const RingWrites> writes;  // if SweepConfig::keep_from_ns is set

  /// Packets that were lost because the buffer was full. A size can change that.
  uint64_t full_packets() const { return overwritten.packets + discarded.packets - late; }
  /// Lost packets that a larger buffer would lose, too.
  uint64_t lost_otherwise() const { return lost - std::min(lost, full_packets()); }
  /// Packets that came out, each once.
  uint64_t in_trace() const { return read.packets - std::min(read.packets, invalid + again); }
  /// Packets that were read, or are still there to be read.
  uint64_t kept_packets() const { return in_trace() + unread.packets; }
  /// Packets that are neither kept nor lost: unfinished, or waiting in the buffer.
  uint64_t waiting_packets() const {
    const uint64_t known = kept_packets() + folded.packets + lost + taken.packets;
    return written.packets > known ? written.packets - known : 0;
  }
};

/// The ledger's sums of one configuration. What was written, and what is lost whatever the
/// buffers' sizes, is the same in configurations that differ in sizes alone.
class SessionAccounts : public ReplayListener, public LedgerSink {
 public:
  struct Sequence {
    PacketCount written;
    PacketCount overwritten;
    PacketCount discarded;      // by the buffer
    uint64_t late = 0;          // of these, packets: not because it was full
    PacketCount otherwise;      // lost, but not because a buffer was full; refused packets apart
    bool is_order_free = true;  // what overwrites their chunks first changes nothing about these
    PacketCount waiting;        // at the end, in chunks of Buffer::waiting
    PacketCount incomplete;
    PacketCount folded;
  };
  struct Buffer {
    SequenceMap<Sequence> sequences;  // in order of first commit
    ChunkMap<PacketCount> waiting;    // packets by their first chunk
    BufferStats stats;
  };

  std::map<BufferId, Buffer> buffers;
  std::map<BufferId, LedgerTotals> totals;  // of the ledger, after the replay

  /// Returns true if larger buffers can change nothing but what was overwritten. Call after
  /// `totals` are set.
  bool AreOfLargerToo() const;

  bool reads_facts() const override { return false; }
  void OnChunk(BufferId id, const ChunkCommit& commit, std::optional<Refusal>) override {
    buffers[id].sequences[commit.sequence];
  }
  void OnPacketFate(const PacketAccount& account) override;
  Status OnLogEnd(Session& session) override;
};

/// A configuration of a sweep.
struct SweepConfig {
  /// The setting that differs from the session's own in the sizes of buffers alone.
  static constexpr size_t kSizesOnly = 0;
  /// Configurations of the same setting differ in the sizes of buffers alone.
  size_t setting = kSizesOnly;
  ReplayOptions options;
  /// The session is replayed as if it had had this config; empty: its own.
  SessionConfig session = {};
  /// Session time from which on packets are to be kept: the rows have the writes. Absent: rows have
  /// none.
  std::optional<uint64_t> keep_from_ns = {};
};

/// Calls task(0) .. task(count - 1), perhaps on several threads, and returns after the last one.
/// Tasks with low numbers begin first.
using TaskRunner = std::function<void(size_t count, const std::function<void(size_t)>& task)>;

/// One session of a log, and what its sweeps need.
struct SweepInput {
  /// Opens the session's records, from the first one. Called once for each pass.
  std::function<Result<std::unique_ptr<OpSource>>()> open;
  /// The clone that is replayed; absent: the session itself. `open` then ends with the clone.
  std::optional<CloneFacts> clone;
  /// Resolves the engines that configurations name.
  EngineLookup find_engine = FindEngine;
  TaskRunner run_tasks = [](size_t count, const auto& task) {
    for (size_t i = 0; i < count; ++i) task(i);
  };
  std::optional<bool> has_reads = {};  // that touch the session's buffers; absent: not known
  bool is_reconfigured = false;        // see ReplayOptions
  /// Accounts of an earlier replay of the session, with smaller buffers than configurations of
  /// SweepConfig::kSizesOnly; nullptr: there are none.
  const SessionAccounts* accounts = nullptr;
  /// Facts of the records that `open` returns; by default of a session that was not read yet.
  SessionIndex facts = {.commit_bytes = UINT64_MAX};
  /// Bytes that the buffers of one pass may hold.
  uint64_t memory_limit = uint64_t{128} << 20;
  /// Gets warnings for the user: the end of a sentence that begins with the log's name.
  std::function<void(const std::string&)> warn = [](const std::string&) {};
};

/// Replays one session in many configurations.
class Sweep {
 public:
  explicit Sweep(SweepInput input) : input_(std::move(input)) {}

  /// Replays configurations with all accounts.
  /// @return rows by buffer id, of each configuration
  Result<std::vector<std::vector<SweepRow>>> Run(const std::vector<SweepConfig>& configs);
  /// Call after Run. Returns the outcome of one configuration; only fields that all configurations
  /// share are valid.
  const ReplayOutcome& outcome() const { return outcome_; }
  const SweepInput& input() const { return input_; }
  /// Bytes that the buffers of a configuration take.
  /// @param most of each buffer: as much as the log can fill
  uint64_t BytesOf(const ReplayOptions& config, uint64_t most = UINT64_MAX) const;

 private:
  std::optional<std::vector<SweepRow>> RowsOfSame(const SweepConfig& config) const;

  const SweepInput input_;
  /// The accounts of the largest configuration of a setting.
  struct Largest {
    uint64_t bytes = 0;
    std::shared_ptr<const SessionAccounts> accounts;
    std::vector<SweepRow> rows;
  };
  std::map<size_t, Largest> largest_;  // by setting
  ReplayOutcome outcome_;
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_SWEEP_SWEEP_H_
