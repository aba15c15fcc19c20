#include "core/session/buffer_observer.h"

#include "core/session/session.h"

namespace ringscope {
namespace {

using Kind = BufferEvent::Kind;

}  // namespace

void VmFeed::FeedTo(SessionBuffer* buffer) {
  fed_buffer_ = buffer;
  WantOverwrittenPackets(buffer != nullptr);
}

bool VmFeed::Feed(const Packet& packet) { return fed_buffer_->vms->Feed(packet, now_) != nullptr; }

// Inlined into each that reports a chunk: hot.
[[gnu::always_inline]] inline BufferEvent BufferObserver::At(Kind kind, ChunkName chunk) const {
  return {kind, now(), buffer_, chunk};
}

[[gnu::always_inline]] inline BufferEvent BufferObserver::Of(Kind kind,
                                                             const ObservedChunk& chunk) const {
  BufferEvent event = At(kind, {chunk.sequence, chunk.chunk});
  event.offset = chunk.offset;
  event.outer_size = chunk.outer_size;
  event.payload_size = chunk.payload_size;
  event.payload_avail = chunk.payload_avail;
  event.flags = chunk.flags;
  event.incomplete = chunk.incomplete;
  event.payload = chunk.payload;
  return event;
}

BufferEvent BufferObserver::Of(Kind kind, SequenceKey sequence, const PacketPlace& place) const {
  BufferEvent event = At(kind, {sequence, place.first_chunk});
  event.first_offset = place.first_offset;
  event.last_chunk = place.last_chunk;
  return event;
}

void BufferObserver::Emit(const BufferEvent& event) {
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
  BufferEvent event = Of(Kind::kCommitted, chunk);
  event.moved = relocating_;
  Emit(event);
}

void BufferObserver::OnRewritten(const ObservedChunk& chunk) { Emit(Of(Kind::kRewritten, chunk)); }

void BufferObserver::OnRelocated(const ObservedChunk& chunk) {
  relocating_ = true;
  Emit(Of(Kind::kRelocated, chunk));
}

void BufferObserver::OnDiscarded(const ChunkCommit& commit, DiscardReason reason) {
  BufferEvent event = At(Kind::kDiscarded, {commit.sequence, commit.chunk});
  event.discard = reason;
  event.payload_size = static_cast<uint32_t>(commit.payload.size());
  event.flags = commit.flags;
  event.incomplete = !commit.complete;
  Emit(event);
}

void BufferObserver::OnEvicting(const ObservedChunk& chunk, const ChunkCommit& by) {
  BufferEvent event = Of(Kind::kEvicting, chunk);
  event.by = ChunkName{by.sequence, by.chunk};
  evicting_ = event.chunk;
  Emit(event);
}

void BufferObserver::OnErased(const ObservedChunk& chunk) {
  BufferEvent event = Of(Kind::kErased, chunk);
  if (!under_way_) {
    event.erasure = Erasure::kConsumed;
  } else if (relocating_ && event.chunk == under_way_ && !evicting_) {
    event.erasure = Erasure::kMoved;
  } else {
    event.by = under_way_;
    const bool itself = !evicting_ || *evicting_ == event.chunk;
    event.erasure = itself ? Erasure::kOverwritten : Erasure::kCleared;
    if (!itself) event.with = evicting_;
  }
  Emit(event);
}

void BufferObserver::LeaveForClone(const ObservedChunk& chunk, Erasure why) {
  BufferEvent event = Of(Kind::kErased, chunk);
  event.erasure = why;
  Emit(event);
}

void BufferObserver::OnPatched(const ObservedChunk& chunk, const ChunkPatches& patches) {
  BufferEvent event = Of(Kind::kPatched, chunk);
  event.patches = static_cast<uint32_t>(patches.patches.size());
  event.sent = &patches;
  Emit(event);
}

void BufferObserver::OnPatchMissed(const ObservedChunk* chunk, const ChunkPatches& patches,
                                   PatchMiss miss) {
  BufferEvent event = chunk != nullptr ? Of(Kind::kPatchMissed, *chunk)
                                       : At(Kind::kPatchMissed, {patches.sequence, patches.chunk});
  event.patches = static_cast<uint32_t>(patches.patches.size());
  event.miss = miss;
  event.sent = &patches;
  Emit(event);
}

void BufferObserver::OnPacketReturned(const Packet& packet) {
  BufferEvent event = Of(Kind::kReturned, packet.sequence, packet.place);
  event.packet_size = packet.size;
  event.loss_bits = packet.dropped;
  Emit(event);
}

void BufferObserver::OnPacketOverwritten(const Packet& packet) {
  // What is folded when the state is written already, is in no trace.
  if (!Feed(packet) || fed_buffer().is_state_written) return;
  BufferEvent event = Of(Kind::kFolded, packet.sequence, packet.place);
  event.packet_size = packet.size;
  event.by = under_way_;
  if (!packet.slices.empty()) event.payload = packet.slices.front();
  Emit(event);
}

void BufferObserver::OnPacketAbandoned(SequenceKey sequence, const PacketPlace& place,
                                       uint32_t cause) {
  BufferEvent event = Of(Kind::kAbandoned, sequence, place);
  event.loss_bits = cause;
  Emit(event);
}

void BufferObserver::OnLossBit(SequenceKey sequence, ChunkId chunk, uint32_t bit) {
  BufferEvent event = At(Kind::kLossBit, {sequence, chunk});
  event.loss_bits = bit;
  Emit(event);
}

void BufferObserver::OnWrap() { Emit(At(Kind::kWrap, ChunkName{})); }

void BufferObserver::OnStalled(SequenceKey sequence, ChunkId chunk, StallReason reason) {
  BufferEvent event = At(Kind::kStalled, {sequence, chunk});
  event.stall = reason;
  Emit(event);
}

}  // namespace ringscope
