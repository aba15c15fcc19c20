#ifndef RINGSCOPE_CORE_ENGINE_V1_READER_PART_H_
#define RINGSCOPE_CORE_ENGINE_V1_READER_PART_H_

// Part of v1_engine.cc: how V1 reads, sequence by sequence, each in chunk order from its oldest
// chunk.

#include <algorithm>
#include <utility>

#include "core/engine/v1_engine.h"
#include "core/perfetto/data_loss.h"

namespace ringscope::v1 {

void V1Engine::BeginRead() {
  if (order_.size() < sequences_.size()) {
    const auto by_key = [&](uint32_t a, uint32_t b) {
      return sequences_[a].key < sequences_[b].key;
    };
    const auto known = static_cast<std::ptrdiff_t>(order_.size());
    for (size_t slot = order_.size(); slot < sequences_.size(); ++slot)
      order_.push_back(static_cast<uint32_t>(slot));
    std::sort(order_.begin() + known, order_.end(), by_key);
    std::inplace_merge(order_.begin(), order_.begin() + known, order_.end(), by_key);
  }
  reading_ = true;
  at_sequence_ = 0;
  EnterSequence();
}

/// Moves to the oldest chunk of the cursor's sequence, or of the next sequence that has any.
void V1Engine::EnterSequence() {
  while (at_sequence_ != order_.size() && Current().chunks.empty()) ++at_sequence_;
  if (at_sequence_ == order_.size()) {
    reading_ = false;
    return;
  }
  Sequence& sequence = Current();
  // The first whose id is above the last written one's.
  at_chunk_ = sequence.last_written == UINT32_MAX
                  ? sequence.chunks.size()
                  : sequence.chunks.LowerBound(sequence.last_written + 1);
  at_chunk_ = sequence.chunks.NextItem(at_chunk_);
  if (at_chunk_ == sequence.chunks.size()) at_chunk_ = 0;
  dropped_ = 1;
  const uint32_t first = sequence.chunks[at_chunk_].key;
  if (!sequence.read_out.IsKnownFrom(first)) {
    sequence.read_out.Begin(first);
    sequence.has_marker = false;
    return;
  }
  // Straight to where the last visit ended, as if it had read everything up to there.
  if (sequence.has_marker) dropped_ = FindChunk(sequence, sequence.marker)->skipped_last ? 1 : 0;
  at_chunk_ = sequence.chunks.LowerBound(sequence.read_out.last());
}

void V1Engine::EndSequence() {
  ++at_sequence_;
  EnterSequence();
}

/// To the next chunk of the sequence. @return false: the sequence ends here for now
bool V1Engine::MoveOn(uint32_t& at) const {
  const Sequence& sequence = Current();
  const Chunk& chunk = ChunkAt(at);
  if (chunk.id == sequence.last_written || !chunk.complete) return false;
  const uint32_t id = chunk.id;
  at = sequence.chunks.NextItem(at + 1);
  if (at == sequence.chunks.size()) at = 0;
  return sequence.chunks[at].key == id + 1;
}

/// Moves on from the cursor's chunk, which is read out. @return as MoveOn
bool V1Engine::StepForward() {
  Sequence& sequence = Current();
  const Chunk& left = ChunkAt(at_chunk_);
  if (!MoveOn(at_chunk_)) return false;
  if (left.fragments_read > 0) {
    sequence.marker = left.id;
    sequence.has_marker = true;
  }
  sequence.read_out.ExtendTo(sequence.chunks[at_chunk_].key);
  // A packet passes over it, as it is empty; the next visit will end there.
  if ((left.flags & kNeedsPatching) != 0) sequence.read_out.Forget();
  return true;
}

SequenceKey V1Engine::CurrentKey() const { return Current().key; }

/// What ReadFragment reads next is the beginning of a packet.
void V1Engine::BeginPacket() {
  packet_.size = 0;
  slices_.clear();
}

void V1Engine::CountRead(const Chunk& chunk) {
  if (!chunk.complete) return;
  ++stats_.chunks_read;
  stats_.bytes_read += chunk.record_size;
}

void V1Engine::CountIfReadOut(const Chunk& chunk) {
  if (chunk.fragments_read != chunk.fragments || !chunk.complete) return;
  CountRead(chunk);
  histograms_[CurrentKey()].Add(chunk.next_fragment);
}

/// Reads the current chunk's next fragment; its bytes are added to packet_.
auto V1Engine::ReadFragment(Chunk& chunk) -> Found {
  Fragment fragment;
  const FragmentStatus status = store_.Read(chunk, fragment);
  if (status != FragmentStatus::kFragment) [[unlikely]] {
    ++(status == FragmentStatus::kWriterDrop ? stats_.trace_writer_packet_loss
                                             : stats_.abi_violations);
    chunk.fragments_read = chunk.fragments;
    chunk.next_fragment = 0;
    CountRead(chunk);
    return Found::kInvalid;
  }
  chunk.next_fragment = fragment.end;
  ++chunk.fragments_read;
  CountIfReadOut(chunk);
  chunk.skipped_last = false;
  if (fragment.size() == 0) return Found::kEmpty;
  packet_.size += fragment.size();
  slices_.push_back(store_.Slice(chunk, fragment));
  return Found::kPacket;
}

/// The cursor's chunk is about to be read: the sequence's next one will be soon.
void V1Engine::PrefetchNext() const {
  const Sequence& sequence = Current();
  const uint32_t at = sequence.chunks.NextItem(at_chunk_ + 1);
  if (at == sequence.chunks.size()) return;
  store_.Prefetch(ChunkAt(at));
}

/// Reports to the observer why the sequence ends after the chunk `at`, for now. Ending with the
/// chunk written last is the natural end, unless a packet continues after it.
void V1Engine::ReportStall(uint32_t at, bool packet_continues) const {
  const Chunk& chunk = ChunkAt(at);
  const bool is_last = chunk.id == Current().last_written;
  if (observer_ == nullptr || (is_last && !packet_continues)) return;
  observer_->OnStalled(
      CurrentKey(), ChunkId{chunk.id},
      chunk.complete || is_last ? StallReason::kMissingChunk : StallReason::kIncomplete);
}

void V1Engine::ReportAbandoned(uint32_t chunk, uint32_t offset, uint32_t cause) const {
  if (observer_ == nullptr) return;
  observer_->OnPacketAbandoned(CurrentKey(), {ChunkId{chunk}, offset, ChunkId{chunk}}, cause);
  observer_->OnLossBit(CurrentKey(), ChunkId{chunk}, cause);
}

/// Follows a packet that begins in the current chunk. If all its fragments are in the buffer, they
/// are consumed, valid or not, and the current chunk is the one that holds the last of them.
auto V1Engine::ReadAhead() -> Ahead {
  ChunkStretch& known = Current().looked_ahead;
  const uint32_t begin = ChunkAt(at_chunk_).id;
  if (!known.IsKnownFrom(begin)) known.Begin(begin);
  uint32_t last = Current().chunks.LowerBound(known.last());
  uint32_t expected = known.last();
  bool found = false;
  bool needs_patch = false;
  uint32_t reached = last;  // the chunk after which the walk continues
  while (!found && MoveOn(last)) {
    reached = last;
    ++expected;
    const Chunk& chunk = ChunkAt(last);
    if (chunk.fragments > 0) {
      if (chunk.id != expected || (chunk.flags & kFirstContinues) == 0) break;
      needs_patch = (chunk.flags & kNeedsPatching) != 0;
      if (needs_patch) break;
      found = chunk.fragments != 1 || (chunk.flags & kLastContinues) == 0;
    }
    known.ExtendTo(chunk.id);
  }
  if (!found) {
    ++stats_.readaheads_failed;
    if (needs_patch && observer_ != nullptr)
      observer_->OnStalled(CurrentKey(), ChunkId{ChunkAt(last).id}, StallReason::kNeedsPatch);
    else
      ReportStall(reached, true);
    return Ahead::kFailed;
  }
  bool lost = false;
  while (true) {
    Chunk& chunk = ChunkAt(at_chunk_);
    const uint32_t offset = chunk.next_fragment;
    if (chunk.fragments > 0) {
      if (ReadFragment(chunk) == Found::kInvalid) {
        lost = true;
        ReportAbandoned(chunk.id, offset, kLossChunkCorrupted);
      } else if (lost) {
        ReportAbandoned(chunk.id, offset, kLossOrphanContinuation);
      }
    }
    if (at_chunk_ == last) break;
    StepForward();
  }
  if (lost) {
    ChunkAt(at_chunk_).skipped_last = true;
    return Ahead::kLost;
  }
  ++stats_.readaheads_succeeded;
  return Ahead::kPacket;
}

const Packet* V1Engine::Return(uint32_t first_chunk, uint32_t first_offset, Identity identity,
                               uint32_t dropped) {
  packet_.sequence = CurrentKey();
  packet_.identity = identity;
  packet_.dropped = dropped;
  packet_.slices = slices_;
  packet_.place = {ChunkId{first_chunk}, first_offset, ChunkId{ChunkAt(at_chunk_).id}};
  if (observer_ != nullptr) observer_->OnPacketReturned(packet_);
  return &packet_;
}

const Packet* V1Engine::NextPacket() {
  uint32_t dropped = std::exchange(dropped_, 1);
  bool lost_ahead = false;  // a packet that ends in the current chunk was lost
  Identity identity;
  while (reading_) {
    Chunk& chunk = ChunkAt(at_chunk_);
    // After such a loss, what this call returns of the chunk has the lost packet's identity.
    if (!std::exchange(lost_ahead, false)) identity = chunk.identity;
    bool sequence_ends = (chunk.flags & kNeedsPatching) != 0;
    if (sequence_ends && observer_ != nullptr)
      observer_->OnStalled(CurrentKey(), ChunkId{chunk.id}, StallReason::kNeedsPatch);
    bool moved = false;
    if (!sequence_ends && chunk.fragments_read > 0) dropped = chunk.skipped_last ? 1 : 0;
    while (!sequence_ends && !moved && chunk.fragments_read < chunk.fragments) {
      BeginPacket();
      const uint32_t id = chunk.id;
      const uint32_t offset = chunk.next_fragment;
      if (chunk.fragments_read == 0) PrefetchNext();
      if (chunk.fragments_read == 0 && (chunk.flags & kFirstContinues) != 0) {
        ReportAbandoned(id, offset, kLossOrphanContinuation);
        ReadFragment(chunk);  // its beginning is not here: skipped permanently
        chunk.skipped_last = true;
        dropped = 1;
        continue;
      }
      if (chunk.fragments_read == chunk.fragments - 1 && (chunk.flags & kLastContinues) != 0) {
        switch (ReadAhead()) {
          case Ahead::kPacket:
            return Return(id, offset, identity, dropped);
          case Ahead::kLost:
            ReportAbandoned(id, offset, kLossChunkCorrupted);
            dropped = 1;
            moved = lost_ahead = true;  // continues in the chunk now reached
            break;
          case Ahead::kFailed:
            sequence_ends = true;
            break;
        }
        continue;
      }
      switch (ReadFragment(chunk)) {
        case Found::kPacket:
          return Return(id, offset, identity, dropped);
        case Found::kEmpty:
          break;
        case Found::kInvalid:
          ReportAbandoned(id, offset, kLossChunkCorrupted);
          chunk.skipped_last = true;
          dropped = 1;
          break;
      }
    }
    if (moved) continue;
    const uint32_t left = at_chunk_;
    if (!sequence_ends && !StepForward()) {
      ReportStall(left, false);
      sequence_ends = true;
    }
    if (sequence_ends) {
      EndSequence();
      dropped = std::exchange(dropped_, 1);
    }
  }
  return nullptr;
}

}  // namespace ringscope::v1

#endif  // RINGSCOPE_CORE_ENGINE_V1_READER_PART_H_
