#ifndef RINGSCOPE_CORE_SWEEP_SWEEP_REPLAY_H_
#define RINGSCOPE_CORE_SWEEP_SWEEP_REPLAY_H_

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/ids.h"
#include "core/base/packet_count.h"
#include "core/base/sequence_map.h"
#include "core/ledger/ledger.h"
#include "core/log/configured_ops.h"
#include "core/session/replay_outcome.h"

namespace ringscope {

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
  uint64_t used_bytes = 0;               // of the buffer that were ever written: its memory
  std::vector<SweepSequence> sequences;  // in order of first commit
  uint64_t lost = 0;                     // packets, to whatever

  /// Packets that were lost because the buffer was full. A size can change that.
  uint64_t full_packets() const { return overwritten.packets + discarded.packets; }
  /// Of these, those that a larger buffer would lose, too.
  uint64_t lost_otherwise() const { return lost - std::min(lost, full_packets()); }
  /// Packets that were read, or are still there to be read.
  uint64_t kept_packets() const {
    return read.packets - std::min(read.packets, invalid) + unread.packets;
  }
  /// Packets that are neither kept nor lost: unfinished, or waiting in the buffer.
  uint64_t waiting_packets() const {
    const uint64_t known = kept_packets() + folded.packets + lost + taken.packets;
    return written.packets > known ? written.packets - known : 0;
  }
};

/// Returns the row of a buffer, or nullptr.
inline const SweepRow* FindRow(const std::vector<SweepRow>& rows, BufferId buffer) {
  const auto found =
      std::find_if(rows.begin(), rows.end(), [=](const SweepRow& row) { return row.id == buffer; });
  return found == rows.end() ? nullptr : &*found;
}

/// What the ledger of one configuration found. What was written, and what is lost whatever the
/// buffers' sizes, is the same in configurations that differ in sizes alone.
class SessionAccounts : public ReplayListener, public LedgerSink {
 public:
  struct Sequence {
    PacketCount written;
    PacketCount overwritten;
    PacketCount discarded;      // by the buffer
    PacketCount otherwise;      // lost, but not because a buffer was full; refused packets apart
    bool is_order_free = true;  // what overwrites their chunks first changes nothing about these
    PacketCount incomplete;
    PacketCount folded;
  };
  struct Buffer {
    SequenceMap<Sequence> sequences;  // in order of first commit
    ChunkMap<PacketCount> waiting;    // packets by their first chunk
    BufferStats stats;
  };

  SessionAccounts() : ledger_(*this) {}

  ReplayListener& ledger() { return ledger_; }
  /// What does not add up; empty if all does.
  std::string Check() const { return ledger_.Check(); }
  const Buffer* Find(BufferId id) const;
  const LedgerTotals* FindTotals(BufferId id) const;

  void OnChunk(BufferId id, const ChunkCommit& commit, std::optional<Refusal>) override {
    buffers_[id].sequences[commit.sequence];
  }
  void OnPacketFate(const PacketAccount& account) override;
  Status OnLogEnd(Session& session) override;

 private:
  Ledger ledger_;
  std::map<BufferId, Buffer> buffers_;
};

/// One configuration of a sweep on its way through a session.
/// Memory: the buffers, and O(sequences + chunks that are unread at the end).
class SweepReplay {
 public:
  /// @param has_ledger else its rows follow from another replay's ledger
  /// @param session the config that the session is to have had; empty: its own
  SweepReplay(ReplayOptions options, bool has_ledger, const SessionConfig& session);
  ~SweepReplay();

  /// Applies the record, unless the replay has failed.
  void Apply(const Op& op);
  /// Makes the reads at the end, and the drain. Once.
  void Finish();
  /// The first error of the above.
  const Status& status() const { return status_; }
  /// After Finish.
  const ReplayOutcome& outcome() const { return outcome_; }
  const std::vector<std::string>& warnings() const;
  /// Returns nullptr without a ledger.
  std::shared_ptr<const SessionAccounts> accounts() const { return accounts_; }
  /// The result, after Finish. By its own ledger, or else by that of another configuration with the
  /// same reads and policies and other sizes: a packet is lost if it was written, and neither
  /// returned nor in the buffer.
  std::vector<SweepRow> Rows(const SessionAccounts& of_larger);
  /// After Rows: false if this buffer may hold or discard what the other one did not.
  bool is_exact() const { return is_exact_; }

 private:
  class Gatherer;
  /// Hands on one record at a time.
  class OneRecord : public OpSource {
   public:
    void Set(const Op& op) { op_ = op; }
    Result<std::optional<Op>> Next() override { return std::exchange(op_, std::nullopt); }

   private:
    std::optional<Op> op_;
  };

  std::shared_ptr<SessionAccounts> accounts_;
  std::unique_ptr<Gatherer> gatherer_;
  CountedReplay replay_;
  OneRecord record_;
  std::optional<ConfiguredOps> configured_;  // of record_, if the session has another config
  ReplayOutcome outcome_;
  Status status_;
  bool is_exact_ = true;
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_SWEEP_SWEEP_REPLAY_H_
