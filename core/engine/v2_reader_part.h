#ifndef RINGSCOPE_CORE_ENGINE_V2_READER_PART_H_
#define RINGSCOPE_CORE_ENGINE_V2_READER_PART_H_

// Part of v2_engine.cc: reading in sequence order, shared by read passes and clearing, and reading
// in buffer order.

#include "core/engine/v2_engine.h"

namespace ringscope::v2 {

template <bool kObserved>
void V2Engine<kObserved>::AddLoss(uint32_t slot, uint32_t bit, ChunkId at) {
  Sequence& sequence = s_.sequences[slot];
  sequence.loss_bits = static_cast<uint16_t>(sequence.loss_bits | bit | kLossPresent);
  if constexpr (kObserved) observer_->OnLossBit(sequence.key, at, bit);
}

template <bool kObserved>
Reader V2Engine<kObserved>::MakeReader(ChunkRef target) {
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

template <bool kObserved>
template <Mode kMode>
void V2Engine<kObserved>::Consume(StoredChunk& chunk, uint32_t bytes) {
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

template <bool kObserved>
void V2Engine<kObserved>::ReturnPacket(const Sequence& sequence, ChunkId first,
                                       uint32_t first_offset, ChunkId last) {
  packet_.sequence = sequence.key;
  packet_.identity = sequence.identity;
  packet_.place = {first, first_offset, last};
}

/// Continues to read the sequence. True: packet_ is the next one (in erase mode: it is lost).
template <bool kObserved>
template <Mode kMode>
bool V2Engine<kObserved>::NextOf(Reader& reader) {
  Sequence& sequence = s_.sequences[reader.slot];
  if constexpr (kMode == Mode::kRead) {
    if (sequence.skipped_in_pass == s_.pass || s_.stalled.Skips(reader.slot)) return false;
  }
  while (true) {
    const ChunkRef ref = sequence.chunks.front();
    StoredChunk& chunk = s_.chunks[ref];
    Fragment fragment;
    const FragmentStatus status = store_.Read(chunk, reader.position, fragment);
    if (status != FragmentStatus::kFragment) {
      if (status == FragmentStatus::kCorrupted) AddLoss(reader.slot, kLossChunkCorrupted, chunk.id);
      if (kMode == Mode::kRead && chunk.is_incomplete()) {
        LeaveAt({chunk.id, StallReason::kIncomplete}, reader);
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
        Consume<kMode>(chunk, fragment.size_with_header());
        if (fragment.size() == 0) continue;
        packet_.slices = {&whole_slice_, 1};
        SetWhole(chunk, fragment);
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
    Stall stall;
    const Chain outcome = Reassemble<kMode>(reader, fragment, loss_bit, stall);
    switch (outcome) {
      case Chain::kWhole:
        return true;
      case Chain::kLost:
        AddLoss(reader.slot, loss_bit, chunk.id);
        break;
      case Chain::kUnfinished:
        if constexpr (kMode == Mode::kRead) {
          LeaveAt(stall, reader);
          return false;
        }
        AddLoss(reader.slot, kLossOverwrite, chunk.id);
        break;
    }
    if constexpr (kObserved && kMode == Mode::kRead)
      observer_->OnPacketAbandoned(sequence.key,
                                   {chunk.id, fragment.offset, packet_.place.last_chunk}, loss_bit);
  }
}

/// Follows a packet from its first fragment over the sequence's chunks; consumes what the outcome
/// asks for and, if all of it is there, makes packet_.
/// @param stall set if the outcome is kUnfinished
template <bool kObserved>
template <Mode kMode>
auto V2Engine<kObserved>::Reassemble(Reader& reader, const Fragment& begin, uint32_t& loss_bit,
                                     Stall& stall) -> Chain {
  const Sequence& sequence = s_.sequences[reader.slot];
  const ChunkList& list = sequence.chunks;
  const StoredChunk& first = s_.chunks[list.front()];
  chain_.clear();
  slices_.clear();
  slices_.push_back(store_.Slice(first, begin));
  chain_.push_back(begin.size_with_header());
  packet_.size = begin.size();
  packet_.place.last_chunk = first.id;

  Chain outcome = Chain::kUnfinished;
  stall = {first.id, StallReason::kNeedsPatch};
  ChunkId previous = first.id;
  constexpr uint32_t kFetchedAhead = 12;  // chunks
  bool done = (first.flags & kNeedsPatching) != 0;
  for (uint32_t i = 1; !done; ++i) {
    if (i == list.size()) {
      stall.reason = StallReason::kMissingChunk;
      break;
    }
    const StoredChunk& chunk = s_.chunks[list[i]];
    if (i + kFetchedAhead < list.size()) store_.PrefetchStart(s_.chunks[list[i + kFetchedAhead]]);
    if ((chunk.flags & kNeedsPatching) != 0) {
      stall.chunk = chunk.id;
      break;
    }
    if (reader.met_gap || chunk.id != Successor(previous)) {
      outcome = Chain::kLost;
      loss_bit = kLossReassemblyGap;
      break;
    }
    previous = stall.chunk = chunk.id;
    Fragment fragment;
    const FragmentStatus status = store_.Read(chunk, chunk.unread_offset(), fragment);
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
        slices_.push_back(store_.Slice(chunk, fragment));
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
    packet_.slices = slices_;
    ReturnPacket(sequence, first.id, begin.offset, packet_.place.last_chunk);
  } else {
    ++s_.stats.readaheads_failed;
  }
  const bool consumes = outcome != Chain::kUnfinished ||
                        (kMode == Mode::kErase && s_.rules.clearing_consumes_fragments);
  if (consumes) {
    for (uint32_t i = 0; i < chain_.size(); ++i)
      if (chain_[i] > 0) Consume<kMode>(s_.chunks[list[i]], chain_[i]);
  }
  return outcome;
}

template <bool kObserved>
void V2Engine<kObserved>::BeginRead() {
  if (++s_.pass == 0) s_.pass = 1;
  reading_ = true;
  begun_ = false;
  has_reader_ = false;
  run_end_ = 0;
}

template <bool kObserved>
void V2Engine<kObserved>::ReportStall(uint32_t slot, Stall stall) {
  if constexpr (kObserved) observer_->OnStalled(s_.sequences[slot].key, stall.chunk, stall.reason);
}

/// The pass leaves the sequence, which waits for something.
template <bool kObserved>
void V2Engine<kObserved>::LeaveAt(Stall stall, const Reader& reader) {
  s_.sequences[reader.slot].skipped_in_pass = s_.pass;
  s_.stalled.Note(reader.slot, stall, /*repeats=*/!reader.moved);
  ReportStall(reader.slot, stall);
}

/// Begins a pass after the stalled prefix, with what the pass would count and report there.
template <bool kObserved>
void V2Engine<kObserved>::BeginAfterStalled() {
  read_ref_ = s_.stalled.BeginPass(s_.chunks);
  s_.stats.readaheads_failed += s_.stalled.failed_readaheads();
  if constexpr (kObserved)
    for (const StalledPrefix::Entry& entry : s_.stalled.entries())
      ReportStall(entry.slot, s_.stalled.StallOf(entry.slot));
}

/// The pass is done with the chunk after the stalled prefix.
template <bool kObserved>
void V2Engine<kObserved>::AddToStalled(ChunkRef ref) {
  const StoredChunk& chunk = s_.chunks[ref];
  if (chunk.is_padding())
    s_.stalled.AddPadding();
  else
    s_.stalled.Add(chunk.sequence, s_.sequences[chunk.sequence].skipped_in_pass == s_.pass);
}

template <bool kObserved>
const Packet* V2Engine<kObserved>::NextPacket() {
  if (reader_.position < run_end_ && NextOfRun()) return &packet_;
  run_end_ = 0;
  return Advance();
}

/// The packet after a whole one, if it is a whole one of the same chunk, too, as most are: what is
/// the same for both stays in packet_. False: it takes a closer look.
template <bool kObserved>
bool V2Engine<kObserved>::NextOfRun() {
  StoredChunk& chunk = s_.chunks[run_ref_];
  Fragment fragment;
  if (store_.Read(chunk, reader_.position, fragment) != FragmentStatus::kFragment ||
      fragment.size() == 0 ||
      KindOf(fragment, chunk.payload_size, chunk.flags) != FragmentKind::kWhole)
    return false;
  reader_.position = fragment.end;
  Consume<Mode::kRead>(chunk, fragment.size_with_header());
  SetWhole(chunk, fragment);
  packet_.dropped = 0;
  if constexpr (kObserved) observer_->OnPacketReturned(packet_);
  return true;
}

/// The packet is this fragment of the chunk.
template <bool kObserved>
void V2Engine<kObserved>::SetWhole(const StoredChunk& chunk, const Fragment& fragment) {
  whole_slice_ = store_.Slice(chunk, fragment);
  packet_.size = fragment.size();
  packet_.place.first_offset = fragment.offset;
}

template <bool kObserved>
const Packet* V2Engine<kObserved>::Advance() {
  if (!reading_) return nullptr;
  if (!begun_) {
    begun_ = true;
    BeginAfterStalled();
  }
  while (true) {
    if (!has_reader_) {
      if (read_ref_ == s_.chunks.end()) {
        reading_ = false;
        return nullptr;
      }
      if (s_.chunks[read_ref_].is_padding()) {
        if (s_.stalled.EndsAt(read_ref_)) s_.stalled.AddPadding();
        ++read_ref_;
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
    if (s_.stalled.EndsAt(read_ref_)) AddToStalled(read_ref_);
    ++read_ref_;
  }
}

}  // namespace ringscope::v2

#endif  // RINGSCOPE_CORE_ENGINE_V2_READER_PART_H_
