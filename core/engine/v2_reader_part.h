#ifndef RINGSCOPE_CORE_ENGINE_V2_READER_PART_H_
#define RINGSCOPE_CORE_ENGINE_V2_READER_PART_H_

// Part of v2_engine.cc: reading in sequence order, shared by read passes and clearing, and reading
// in buffer order.

#include "core/engine/v2_engine.h"

namespace ringscope::v2 {

template <bool kObserved, typename Store>
void V2Engine<kObserved, Store>::AddLoss(uint32_t slot, uint32_t bit, ChunkId at) {
  Sequence& sequence = s_.sequences[slot];
  sequence.loss_bits = static_cast<uint16_t>(sequence.loss_bits | bit | kLossPresent);
  if constexpr (kObserved) observer_->OnLossBit(sequence.key, at, bit);
}

template <bool kObserved, typename Store>
Reader V2Engine<kObserved, Store>::MakeReader(ChunkRef target) {
  ++looks_;
  const uint32_t slot = s_.chunks[target].sequence;
  const Sequence& sequence = s_.sequences[slot];
  const StoredChunk& first = s_.chunks[sequence.chunks.front()];
  if (sequence.has_last && first.id != Successor(sequence.last_id)) {
    const bool readmitted =
        first.id == sequence.last_id && sequence.last_incomplete && s_.rules.readmission_is_no_gap;
    // Once for all readers of the gap, until a packet carries it.
    const bool is_pending = (sequence.loss_bits & kLossReadGap) != 0;
    if (!readmitted && !is_pending) AddLoss(slot, kLossReadGap, first.id);
  }
  return {.slot = slot, .target = target, .position = first.unread_offset(), .met_gap = false};
}

template <bool kObserved, typename Store>
template <Mode kMode>
void V2Engine<kObserved, Store>::Consume(StoredChunk& chunk, uint32_t bytes) {
  chunk.payload_avail = static_cast<uint16_t>(chunk.payload_avail - bytes);
  if (chunk.payload_avail != 0) return;
  if constexpr (kMode == Mode::kRead) {
    ++s_.stats.chunks_read;
    s_.stats.bytes_read += chunk.outer_size();
  } else if (s_.rules.counts_lost_fragments) {
    ++s_.stats.chunks_overwritten;
    s_.stats.bytes_overwritten += chunk.outer_size();
  }
}

template <bool kObserved, typename Store>
void V2Engine<kObserved, Store>::ReturnPacket(const Sequence& sequence, ChunkId first,
                                              uint32_t first_offset, ChunkId last) {
  packet_.sequence = sequence.key;
  packet_.identity = sequence.identity;
  packet_.place = {first, first_offset, last};
}

/// Continues to read the sequence. True: packet_ is the next one (in erase mode: it is lost).
template <bool kObserved, typename Store>
template <Mode kMode>
bool V2Engine<kObserved, Store>::NextOf(Reader& reader) {
  Sequence& sequence = s_.sequences[reader.slot];
  if constexpr (kMode == Mode::kRead) {
    if (sequence.skipped_in_pass == s_.pass || sequence.steady) return false;
  }
  while (true) {
    const ChunkRef ref = sequence.chunks.front();
    StoredChunk& chunk = s_.chunks[ref];
    Fragment fragment;
    const FragmentStatus status = store_.Read(ref, chunk, reader.position, fragment);
    if (status != FragmentStatus::kFragment) {
      if (status == FragmentStatus::kCorrupted) AddLoss(reader.slot, kLossChunkCorrupted, chunk.id);
      if (kMode == Mode::kRead && chunk.is_incomplete()) {
        sequence.skipped_in_pass = s_.pass;
        sequence.stalled_in_chain = sequence.stalled_at_end = false;
        sequence.stall_repeats = !reader.moved;
        ReportStall(reader.slot, {chunk.id, StallReason::kIncomplete});
        return false;
      }
      const ChunkId erased = chunk.id;
      Erase(reader.slot);
      reader.moved = true;
      if (ref == reader.target || sequence.chunks.empty()) return false;
      const StoredChunk& next = s_.chunks[sequence.chunks.front()];
      reader.met_gap |= next.id != Successor(erased);
      reader.position = next.unread_offset();
      continue;
    }

    reader.position = fragment.end;
    switch (KindOf(fragment, chunk.payload_size, chunk.flags)) {
      case FragmentKind::kWhole:
        if constexpr (!Store::kHasBytes) {
          if (kMode == Mode::kErase || (this->joins() && fragment.size() > 0)) {
            TakeWhole<kMode>(reader, ref, chunk, fragment);
            if (shape_.packets == 0) continue;
            ReturnPacket(sequence, chunk.id, fragment.offset, chunk.id);
            if constexpr (kMode == Mode::kRead) {
              run_ref_ = ref;
              run_end_ = chunk.payload_size;
            }
            return true;
          }
        }
        Consume<kMode>(chunk, fragment.size_with_header());
        if (fragment.size() == 0) continue;
        if constexpr (Store::kHasBytes) packet_.slices = {&whole_slice_, 1};
        SetWhole(reader.slot, ref, chunk, fragment);
        ReturnPacket(sequence, chunk.id, fragment.offset, chunk.id);
        if constexpr (kMode == Mode::kRead) {
          run_ref_ = ref;
          run_end_ = chunk.payload_size;
        }
        return true;
      case FragmentKind::kContinue:
      case FragmentKind::kEnd:
        AddLoss(reader.slot, kLossOrphanContinuation, chunk.id);
        if constexpr (kObserved && kMode == Mode::kRead)
          observer_->OnPacketAbandoned(sequence.key, {chunk.id, fragment.offset, chunk.id},
                                       kLossOrphanContinuation);
        Consume<kMode>(chunk, fragment.size_with_header());
        continue;
      case FragmentKind::kBegin:
        break;
    }

    uint32_t loss_bit = 0;
    const Chain outcome = Reassemble<kMode>(reader, fragment, loss_bit);
    switch (outcome) {
      case Chain::kWhole:
        return true;
      case Chain::kLost:
        AddLoss(reader.slot, loss_bit, chunk.id);
        break;
      case Chain::kUnfinished:
        if constexpr (kMode == Mode::kRead) {
          sequence.skipped_in_pass = s_.pass;
          sequence.stalled_in_chain = true;
          sequence.stalled_at_end = reader.at_end;
          sequence.stall_repeats = !reader.moved;
          return false;
        }
        AddLoss(reader.slot, kLossOverwrite, chunk.id);
        break;
    }
    if constexpr (!Store::kHasBytes && kMode == Mode::kErase) {
      if (loss_bit != kLossChunkCorrupted)
        TallyCutOff(reader.slot, chunk.id, fragment.size(), outcome);
    }
    if constexpr (kObserved && kMode == Mode::kRead)
      observer_->OnPacketAbandoned(sequence.key,
                                   {chunk.id, fragment.offset, packet_.place.last_chunk}, loss_bit);
  }
}

/// Follows a packet from its first fragment over the sequence's chunks; consumes what the outcome
/// asks for and, if all of it is there, makes packet_. (In any case, packet_.place.last_chunk is
/// the last chunk of which the walk took fragments.)
template <bool kObserved, typename Store>
template <Mode kMode>
auto V2Engine<kObserved, Store>::Reassemble(Reader& reader, const Fragment& begin,
                                            uint32_t& loss_bit) -> Chain {
  const Sequence& sequence = s_.sequences[reader.slot];
  const ChunkList& list = sequence.chunks;
  const StoredChunk& first = s_.chunks[list.front()];
  chain_.clear();
  if constexpr (Store::kHasBytes) {
    slices_.clear();
    slices_.push_back(store_.Slice(first, begin));
  } else {
    SetShape(reader.slot, list.front());
  }
  chain_.push_back(begin.size_with_header());
  packet_.size = begin.size();
  packet_.place.last_chunk = first.id;

  Chain outcome = Chain::kUnfinished;
  StallReason stall = StallReason::kNeedsPatch;
  ChunkId stalled_at = first.id;
  ChunkId previous = first.id;
  constexpr uint32_t kFetchedAhead = 12;  // chunks
  bool done = (first.flags & kNeedsPatching) != 0;
  for (uint32_t i = 1; !done; ++i) {
    if (i == list.size()) {
      stall = StallReason::kMissingChunk;
      break;
    }
    const StoredChunk& chunk = s_.chunks[list[i]];
    if (i + kFetchedAhead < list.size()) store_.PrefetchStart(s_.chunks[list[i + kFetchedAhead]]);
    if ((chunk.flags & kNeedsPatching) != 0) {
      stalled_at = chunk.id;
      break;
    }
    if (reader.met_gap || chunk.id != Successor(previous)) {
      outcome = Chain::kLost;
      loss_bit = kLossReassemblyGap;
      break;
    }
    previous = stalled_at = chunk.id;
    Fragment fragment;
    const FragmentStatus status = store_.Read(list[i], chunk, chunk.unread_offset(), fragment);
    if (status == FragmentStatus::kCorrupted) {
      outcome = Chain::kLost;
      loss_bit = kLossChunkCorrupted;
      break;
    }
    if (status != FragmentStatus::kFragment) {
      chain_.push_back(0);
      continue;
    }
    switch (KindOf(fragment, chunk.payload_size, chunk.flags)) {
      case FragmentKind::kEnd:
        outcome = Chain::kWhole;
        done = true;
        [[fallthrough]];
      case FragmentKind::kContinue:
        if constexpr (Store::kHasBytes) slices_.push_back(store_.Slice(chunk, fragment));
        chain_.push_back(fragment.size_with_header());
        packet_.size += fragment.size();
        packet_.place.last_chunk = chunk.id;
        break;
      case FragmentKind::kBegin:
      case FragmentKind::kWhole:
        outcome = Chain::kLost;
        loss_bit = kLossReassemblyBrokenChain;
        done = true;
        break;
    }
  }

  if (outcome == Chain::kWhole) {
    ++s_.stats.readaheads_succeeded;
    if constexpr (Store::kHasBytes) packet_.slices = slices_;
    ReturnPacket(sequence, first.id, begin.offset, packet_.place.last_chunk);
  } else {
    reader.at_end = stall == StallReason::kMissingChunk;
    ++s_.stats.readaheads_failed;
    if (outcome == Chain::kUnfinished && kMode == Mode::kRead)
      ReportStall(reader.slot, {stalled_at, stall});
  }
  const bool consumes = outcome != Chain::kUnfinished ||
                        (kMode == Mode::kErase && s_.rules.clearing_consumes_fragments);
  if (consumes) {
    for (uint32_t i = 0; i < chain_.size(); ++i)
      if (chain_[i] > 0) Consume<kMode>(s_.chunks[list[i]], chain_[i]);
  }
  return outcome;
}

template <bool kObserved, typename Store>
void V2Engine<kObserved, Store>::BeginRead() {
  if (++s_.pass == 0) s_.pass = 1;
  reading_ = true;
  begun_ = false;
  has_reader_ = false;
  run_end_ = 0;
  if constexpr (!Store::kHasBytes) this->BeginPass();
}

template <bool kObserved, typename Store>
void V2Engine<kObserved, Store>::ReportStall(uint32_t slot, Stall stall) {
  if constexpr (kObserved) {
    if (stalls_.size() <= slot) stalls_.resize(slot + 1);
    stalls_[slot] = stall;
    observer_->OnStalled(s_.sequences[slot].key, stall.chunk, stall.reason);
  }
}

/// Begins a pass after the steady chunks, with what it would count and report of them.
template <bool kObserved, typename Store>
void V2Engine<kObserved, Store>::BeginAfterSteady() {
  // Chunks that left the ring are steady no longer.
  if (s_.steady_end - s_.chunks.begin() > s_.chunks.size()) s_.steady_end = s_.chunks.begin();
  read_ref_ = s_.steady_end;
  s_.stats.readaheads_failed += s_.steady_failures;
  if constexpr (kObserved)
    for (const SteadySequence& steady : s_.steady) ReportStall(steady.slot, stalls_[steady.slot]);
}

/// The pass is done with a chunk: it is steady if its sequence stalled and all before it are.
template <bool kObserved, typename Store>
void V2Engine<kObserved, Store>::ExtendSteady(ChunkRef ref) {
  if (ref != s_.steady_end) return;
  const StoredChunk& chunk = s_.chunks[ref];
  if (!chunk.is_padding()) {
    Sequence& sequence = s_.sequences[chunk.sequence];
    if (!sequence.steady) {
      if (sequence.skipped_in_pass != s_.pass || !sequence.stall_repeats) return;
      sequence.steady = true;
      s_.steady.push_back({.first = ref, .slot = chunk.sequence});
      s_.steady_failures += sequence.stalled_in_chain ? 1 : 0;
    }
  }
  ++s_.steady_end;
}

/// Something changes in the sequence: if its stall was steady, passes have to look at it again,
/// and at what follows its first chunk.
template <bool kObserved, typename Store>
void V2Engine<kObserved, Store>::Disturb(const Sequence& sequence) {
  if (!sequence.steady) return;
  const ChunkRef begin = s_.chunks.begin();
  const ChunkRef from = sequence.in_buffer_order ? sequence.chunks.front() : begin;
  while (!s_.steady.empty() && s_.steady.back().first - begin >= from - begin) {
    Sequence& disturbed = s_.sequences[s_.steady.back().slot];
    disturbed.steady = false;
    s_.steady_failures -= disturbed.stalled_in_chain ? 1 : 0;
    s_.steady.pop_back();
  }
  s_.steady_end = from;
}

/// Whether a sequence that stalled will stall the same way with this chunk added after its last;
/// notes where.
template <bool kObserved, typename Store>
bool V2Engine<kObserved, Store>::KeepsStall(uint32_t slot, const Incoming& in, bool consecutive) {
  Sequence& sequence = s_.sequences[slot];
  if (!sequence.stalled_at_end) return true;  // its reader does not get so far
  // The reader waits for the packet's next fragment.
  if (!consecutive || in.consumed > 0 || in.broken) return false;
  constexpr uint8_t kContinues = kFirstContinues | kLastContinues;
  const bool needs_patch = (in.flags & kNeedsPatching) != 0;
  if (!needs_patch && (in.fragments != 1 || (in.flags & kContinues) != kContinues)) return false;
  if (needs_patch) sequence.stalled_at_end = false;
  if constexpr (kObserved)
    stalls_[slot] = {in.commit.chunk,
                     needs_patch ? StallReason::kNeedsPatch : StallReason::kMissingChunk};
  return true;
}

template <bool kObserved, typename Store>
const Packet* V2Engine<kObserved, Store>::NextPacket() {
  if (StoreFailed()) return nullptr;
  if (reader_.position < run_end_ && NextOfRun()) return &packet_;
  run_end_ = 0;
  const Packet* packet = Advance();
  return StoreFailed() ? nullptr : packet;
}

/// The packet after a whole one, if it is a whole one of the same chunk, too, as most are: what is
/// the same for both stays in packet_. False: it takes a closer look.
template <bool kObserved, typename Store>
bool V2Engine<kObserved, Store>::NextOfRun() {
  StoredChunk& chunk = s_.chunks[run_ref_];
  Fragment fragment;
  if (store_.Read(run_ref_, chunk, reader_.position, fragment) != FragmentStatus::kFragment ||
      fragment.size() == 0 ||
      KindOf(fragment, chunk.payload_size, chunk.flags) != FragmentKind::kWhole)
    return false;
  if constexpr (!Store::kHasBytes) {
    if (this->joins()) {
      TakeWhole<Mode::kRead>(reader_, run_ref_, chunk, fragment);
      packet_.dropped = 0;
      return true;
    }
  }
  reader_.position = fragment.end;
  Consume<Mode::kRead>(chunk, fragment.size_with_header());
  SetWhole(reader_.slot, run_ref_, chunk, fragment);
  packet_.dropped = 0;
  if constexpr (kObserved) observer_->OnPacketReturned(packet_);
  return true;
}

/// The packet is this fragment of the chunk.
template <bool kObserved, typename Store>
void V2Engine<kObserved, Store>::SetWhole(uint32_t slot, ChunkRef ref, const StoredChunk& chunk,
                                          const Fragment& fragment) {
  if constexpr (Store::kHasBytes)
    whole_slice_ = store_.Slice(chunk, fragment);
  else
    SetShape(slot, ref);
  packet_.size = fragment.size();
  packet_.place.first_offset = fragment.offset;
}

template <bool kObserved, typename Store>
const Packet* V2Engine<kObserved, Store>::Advance() {
  if (!reading_) return nullptr;
  if (!begun_) {
    begun_ = true;
    BeginAfterSteady();
  }
  while (true) {
    if (!has_reader_) {
      if (read_ref_ == s_.chunks.end()) {
        reading_ = false;
        return nullptr;
      }
      if (s_.chunks[read_ref_].is_padding()) {
        ExtendSteady(read_ref_++);
        continue;
      }
      if (read_ref_ + 1 != s_.chunks.end()) store_.Prefetch(s_.chunks[read_ref_ + 1]);
      reader_ = MakeReader(read_ref_);
      has_reader_ = true;
    }
    if (NextOf<Mode::kRead>(reader_)) {
      reader_.moved = true;
      Sequence& sequence = s_.sequences[reader_.slot];
      packet_.dropped = s_.rules.reports_loss_causes
                            ? sequence.loss_bits
                            : static_cast<uint32_t>(sequence.loss_bits != 0);
      sequence.loss_bits = 0;
      if constexpr (kObserved) observer_->OnPacketReturned(packet_);
      return &packet_;
    }
    has_reader_ = false;
    ExtendSteady(read_ref_++);
  }
}

}  // namespace ringscope::v2

#endif  // RINGSCOPE_CORE_ENGINE_V2_READER_PART_H_
