#include "core/session/buffer_observer.h"

#include "core/session/session.h"

namespace ringscope {
void VmFeed::FeedTo(SessionBuffer* buffer) {
  fed_buffer_ = buffer;
  WantOverwrittenPackets(buffer != nullptr);
}

bool VmFeed::Feed(const Packet& packet) { return fed_buffer_->vms->Feed(packet, now_); }

void BufferObserver::Emit(ChunkName chunk, const BufferEvent::Body& body) {
  const BufferEvent event{now(), buffer_, chunk, body};
  // Two calls, each of a function that the compiler knows: hot.
  if (draining_)
    listeners_.Call(&ReplayListener::OnDrainEvent, event);
  else
    listeners_.Call(&ReplayListener::OnBufferEvent, event);
}

void BufferObserver::EndCommit() {
  under_way_.reset();
  evicting_.reset();
  relocating_ = false;
}

void BufferObserver::OnCommitted(const ObservedChunk& chunk) {
  Emit(chunk.name(), BufferEvent::Committed{chunk, relocating_});
}

void BufferObserver::OnRewritten(const ObservedChunk& chunk) {
  Emit(chunk.name(), BufferEvent::Rewritten{chunk});
}

void BufferObserver::OnRelocated(const ObservedChunk& chunk) {
  relocating_ = true;
  Emit(chunk.name(), BufferEvent::Relocated{chunk});
}

void BufferObserver::OnDiscarded(const ChunkCommit& commit, DiscardReason reason) {
  Emit({commit.sequence, commit.chunk}, BufferEvent::Discarded{reason});
}

void BufferObserver::OnEvicting(const ObservedChunk& chunk, const ChunkCommit& by) {
  evicting_ = chunk.name();
  Emit(chunk.name(), BufferEvent::Evicting{chunk, {by.sequence, by.chunk}});
}

void BufferObserver::OnErased(const ObservedChunk& chunk) {
  const ChunkName name = chunk.name();
  if (!under_way_)
    Emit(name, BufferEvent::Erased{chunk, Erasure::kConsumed});
  else if (relocating_ && name == under_way_ && !evicting_)
    Emit(name, BufferEvent::Erased{chunk, Erasure::kMoved});
  else if (!evicting_ || *evicting_ == name)
    Emit(name, BufferEvent::Erased{chunk, Erasure::kOverwritten, under_way_});
  else
    Emit(name, BufferEvent::Erased{chunk, Erasure::kCleared, under_way_, evicting_});
}

void BufferObserver::LeaveForClone(const ObservedChunk& chunk, Erasure why) {
  Emit(chunk.name(), BufferEvent::Erased{chunk, why});
}

void BufferObserver::OnPatched(const ObservedChunk& chunk, const ChunkPatches& patches) {
  Emit(chunk.name(), BufferEvent::Patched{chunk, patches});
}

void BufferObserver::OnPatchMissed(const ObservedChunk* chunk, const ChunkPatches& patches,
                                   PatchMiss miss) {
  Emit({patches.sequence, patches.chunk}, BufferEvent::PatchMissed{chunk, patches, miss});
}

void BufferObserver::OnPacketReturned(const Packet& packet) {
  Emit({packet.sequence, packet.place.first_chunk}, BufferEvent::Returned{packet});
}

void BufferObserver::OnPacketOverwritten(const Packet& packet) {
  // A packet that is folded after the state was written is in no trace.
  if (!Feed(packet) || fed_buffer().is_state_written) return;
  Emit({packet.sequence, packet.place.first_chunk}, BufferEvent::Folded{packet, under_way_});
}

void BufferObserver::OnPacketAbandoned(SequenceKey sequence, const PacketPlace& place,
                                       uint32_t cause) {
  Emit({sequence, place.first_chunk}, BufferEvent::Abandoned{place, cause});
}

void BufferObserver::OnLossBit(SequenceKey sequence, ChunkId chunk, uint32_t bit) {
  Emit({sequence, chunk}, BufferEvent::LossBitSet{bit});
}

void BufferObserver::OnWrap() { Emit({}, BufferEvent::Wrapped{}); }

void BufferObserver::OnStalled(SequenceKey sequence, ChunkId chunk, StallReason reason) {
  Emit({sequence, chunk}, BufferEvent::Stalled{reason});
}

}  // namespace ringscope
