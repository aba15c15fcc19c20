#ifndef RINGSCOPE_CORE_SWEEP_SWEEP_REPLAY_H_
#define RINGSCOPE_CORE_SWEEP_SWEEP_REPLAY_H_

#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/chunk_map.h"
#include "core/base/sequence_map.h"
#include "core/ledger/ledger.h"
#include "core/log/configured_ops.h"
#include "core/session/replay_outcome.h"
#include "core/sweep/sweep_result.h"

namespace ringscope {

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
    ChunkMap<uint64_t> committed_ns;  // of each chunk, when it was committed first
    ChunkMap<PacketCount> waiting;    // packets by their first chunk
    BufferStats stats;
  };

  SessionAccounts() : ledger_(*this) {}

  ReplayListener& ledger() { return ledger_; }
  /// What does not add up; empty if all does.
  std::string Check() const { return ledger_.Check(); }
  const Buffer* Find(BufferId id) const;
  const LedgerTotals* FindTotals(BufferId id) const;

  void OnRecord(const Op&, const LogMoment& moment) override { now_ = moment; }
  void OnChunk(BufferId id, const ChunkCommit& commit, std::optional<Refusal>) override;
  void OnPacketFate(const PacketAccount& account) override;
  Status OnLogEnd(Session& session) override;

 private:
  Ledger ledger_;
  LogMoment now_;
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
