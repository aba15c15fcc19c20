#ifndef RINGSCOPE_CORE_SWEEP_KEPT_BATCHES_H_
#define RINGSCOPE_CORE_SWEEP_KEPT_BATCHES_H_

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "core/ledger/ledger.h"
#include "core/sweep/batch_builder.h"

namespace ringscope {

/// Keeps what a session sends to its buffers, so that further sweeps of it need not read its log
/// again: as a sweep reads it (Begin, Put, Complete), or as a replay with a ledger does: give it to
/// the replay as a listener, and to the ledger; then Finish. Memory: O(packets written), up to a
/// limit, beyond which nothing is kept.
class KeptBatches : public ReplayListener, public LedgerSink {
 public:
  static constexpr size_t kMaxBytes = size_t{128} << 20;

  explicit KeptBatches(size_t max_bytes = kMaxBytes) : max_bytes_(max_bytes) {}

  bool WantsBufferEvents() const override { return true; }
  void OnRecord(const Op& op, const LogMoment& moment) override;
  void OnBufferSetUp(SessionBuffer& buffer) override;
  void OnBufferReplaced(SessionBuffer& buffer) override { builder_.EndBuffer(buffer.id); }
  void OnChunkWritten(BufferId buffer, WrittenCommit& written) override;
  void OnChunk(BufferId buffer, const ChunkCommit& commit, std::optional<Refusal> refusal) override;
  void OnBufferEvent(const BufferEvent& event) override;

  /// A replay follows that this listens to.
  /// @param forward gets each batch, too, as soon as it is made, also if there are too many to be
  /// kept; may be empty
  void BeginReplay(std::function<void(std::shared_ptr<const SweepBatch>)> forward = {});
  /// After the replay.
  void Finish();

  /// The first batch of a sweep follows.
  void Begin();
  void Put(std::shared_ptr<const SweepBatch> batch);
  /// All batches were put.
  /// @param facts of the session; taken over if the batches are kept
  void Complete(BatchBuilder& facts);

  /// Whether all that sweeps need is kept: `facts`, and all batches, unless facts have a problem.
  bool complete() const { return complete_; }
  const std::vector<std::shared_ptr<const SweepBatch>>& batches() const { return batches_; }
  /// What all configurations have in common.
  const BatchBuilder& facts() const { return builder_; }
  /// Whether all that the replay sent to its buffers was forwarded, and `facts` are complete.
  bool forwarded_all() const { return forwarded_all_; }

 private:
  void Drop();
  /// Whether nobody needs what a replay sends to its buffers.
  bool Ignores() const { return dropped_ && !forward_; }

  const size_t max_bytes_;
  BatchBuilder builder_;
  std::vector<std::shared_ptr<const SweepBatch>> batches_;
  size_t bytes_ = 0;  // of these
  std::function<void(std::shared_ptr<const SweepBatch>)> forward_;
  bool dropped_ = false;
  bool complete_ = false;
  bool forwarded_all_ = false;
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_SWEEP_KEPT_BATCHES_H_
