#include "core/sweep/kept_batches.h"

#include <utility>

namespace ringscope {

void KeptBatches::OnRecord(const Op& op, const LogMoment&) {
  if (Ignores()) return;
  if (builder_.is_full()) Put(builder_.TakeBatch());
  if (!Ignores()) builder_.AddRecord(op);
}

void KeptBatches::OnBufferSetUp(SessionBuffer& buffer) {
  // Only engines of this tool report each patch; a plug-in's buffers are replayed in full anyway.
  if (buffer.info->create_shapes) return;
  Drop();
  forward_ = {};
}

void KeptBatches::OnChunkWritten(BufferId buffer, WrittenCommit& written) {
  if (!Ignores()) builder_.AddWritten(buffer, written);
}

void KeptBatches::OnChunk(BufferId buffer, const ChunkCommit& commit,
                          std::optional<Refusal> refusal) {
  if (!Ignores() && !refusal) builder_.AddChunk(buffer, commit);
}

void KeptBatches::OnBufferEvent(const BufferEvent& event) {
  const bool has_patches =
      event.kind == BufferEvent::Kind::kPatched || event.kind == BufferEvent::Kind::kPatchMissed;
  if (!Ignores() && has_patches) builder_.AddPatches(event.buffer, *event.sent);
}

void KeptBatches::BeginReplay(std::function<void(std::shared_ptr<const SweepBatch>)> forward) {
  Begin();
  builder_ = {};
  forward_ = std::move(forward);
}

void KeptBatches::Begin() {
  complete_ = forwarded_all_ = false;
  forward_ = {};
  batches_.clear();
  bytes_ = 0;
}

void KeptBatches::Put(std::shared_ptr<const SweepBatch> batch) {
  if (forward_) forward_(batch);
  if (dropped_) return;
  bytes_ += batch->bytes();
  batches_.push_back(std::move(batch));
  if (bytes_ > max_bytes_) Drop();
}

void KeptBatches::Drop() {
  dropped_ = true;
  batches_ = {};
}

void KeptBatches::Complete(BatchBuilder& facts) {
  if (dropped_) return;
  if (&facts != &builder_) builder_ = std::move(facts);
  if (!builder_.problem().empty()) batches_ = {};  // shapes are of no use
  complete_ = true;
}

void KeptBatches::Finish() {
  if (Ignores()) return;
  Put(builder_.TakeBatch());
  builder_.Finish();
  forwarded_all_ = static_cast<bool>(forward_);
  forward_ = {};
  Complete(builder_);
}

}  // namespace ringscope
