#ifndef RINGSCOPE_CORE_SWEEP_SWEEP_REPLAY_H_
#define RINGSCOPE_CORE_SWEEP_SWEEP_REPLAY_H_

#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "core/engine/shape_engine.h"
#include "core/session/replay.h"
#include "core/sweep/sweep_batch.h"
#include "core/sweep/sweep_result.h"
#include "core/sweep/written_tally.h"

namespace ringscope {

/// One configuration of a sweep on its way through a session, in buffers without payloads.
/// Memory: O(chunks in the buffers + sequences).
class SweepReplay : private ReplayListener {
 public:
  SweepReplay(const ReplayOptions& config, EngineLookup find_engine);

  /// Applies the batch, unless the replay has failed.
  void Apply(const SweepBatch& batch);
  /// The reads at the end of the log, and then the result. Once, if the replay has not failed.
  /// @param written what was written to the buffers
  /// @param end_ns log time of the end; `duration_ns` from the first record to there
  void Finish(const std::map<BufferId, WrittenTally>& written, uint64_t end_ns,
              uint64_t duration_ns);
  /// The result; nullopt: there was no Finish, or the replay failed in it. Once.
  std::optional<std::vector<SweepRow>> TakeRows() { return std::exchange(rows_, std::nullopt); }

  /// Why the configuration needs a replay with payloads (kUnsupported), or cannot be replayed at
  /// all; nullptr: all is well.
  const Error* failure() const { return failure_ ? &*failure_ : nullptr; }

 private:
  struct SequenceReads {
    PacketCount read;
    uint64_t in_read = 0;    // that last returned something of it
    uint64_t oldest_ns = 0;  // commits of the oldest and the newest packet returned there
    uint64_t newest_ns = 0;
  };
  struct Buffer {
    ShapeTally tally;
    ShapeEngine* engine = nullptr;  // the session's
    PacketCount read;
    PacketCount taken;
    uint64_t begun = 0;      // the last read of this buffer
    uint64_t in_read = 0;    // the last that returned anything
    uint64_t oldest_ns = 0;  // commits of the oldest and the newest packet it returned
    uint64_t newest_ns = 0;
    StableVector<SequenceReads> sequences;  // by slot
  };

  Result<std::unique_ptr<Engine>> MakeEngine(const EngineInfo& info, const EngineConfig& config,
                                             BufferId id);
  void OnBufferReplaced(SessionBuffer& buffer) override;
  void OnBufferEmptied(SessionBuffer& buffer) override;
  void OnProgramSetUp(const SessionBuffer& buffer) override;
  void OnReadBegun(BufferId id) override;
  void OnReadLimited(BufferId) override { reads_.EndAtLimit(); }
  Status OnPacket(const SessionPacket& packet) override;
  void OnTakenPacket(const SessionPacket& packet) override;
  void AddFollowing(const SessionPacket& first, const PacketFacts& facts, uint32_t count);

  template <typename Change>
  void WithEngine(BufferId id, Change change);
  void Fail(Error error);
  void CheckFailure(const Engine& engine);
  Status ApplyOp(const Op& op);
  void FillRow(const SessionBuffer& session_buffer, const WrittenTally* written, uint64_t end_ns,
               uint64_t duration_ns, SweepRow& row);

  LossAnalysis losses_;
  std::map<BufferId, std::unique_ptr<Buffer>> buffers_;
  Replay replay_;
  std::optional<Error> failure_;
  std::optional<std::vector<SweepRow>> rows_;  // the result
  uint64_t event_ = 0;  // counts what may read: all passes of one are the same read
  ReadCount reads_;
  BufferId engine_id_{};
  ShapeEngine* engine_ = nullptr;  // of engine_id_, looked up last
  bool has_clones_ = false;
  bool counts_trace_bytes_ = false;
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_SWEEP_SWEEP_REPLAY_H_
