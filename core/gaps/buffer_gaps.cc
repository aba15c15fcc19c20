// How what a replay reports becomes gaps.

#include "core/gaps/buffer_gaps.h"

#include <algorithm>

namespace ringscope::gaps {
namespace {

ChunkName NameOf(SequenceKey sequence, uint64_t chunk) {
  return {sequence, ChunkId{static_cast<uint32_t>(chunk)}};
}

GapPlace PlaceOf(const PacketAccount& account) {
  return {account.first_chunk, account.fragment, account.first_offset};
}

bool IsFull(Cause cause) { return cause == Cause::kSealed || cause == Cause::kFull; }

}  // namespace

void GapBuffer::OnEvent(const BufferEvent& event) {
  using Kind = BufferEvent::Kind;
  switch (event.kind) {
    case Kind::kCommitted: {
      history_.AddCommit(*event.at.record, event.chunk, event.outer_size);
      written_by_[event.chunk.sequence] += event.outer_size;
      Sequence& sequence = sequences_[event.chunk.sequence];
      if (sequence.recommits) {
        sequence.taken_again = event.chunk.chunk;
        sequence.readmitted = event.payload_avail < event.payload_size;
      }
      break;
    }
    case Kind::kErased:
      history_.AddErase();
      break;
    case Kind::kDiscarded:
      if (event.discard == DiscardReason::kSealed || event.discard == DiscardReason::kFull)
        history_.AddDiscard(*event.at.record, event.chunk, info_.SpaceOf(*under_way_, written_));
      break;
    default:
      break;
  }
}

void GapBuffer::OnChunk(const ChunkCommit& commit) {
  under_way_ = &commit;
  Sequence& sequence = sequences_[commit.sequence];
  const uint64_t id = sequence.ids.Add(commit.chunk);
  sequence.recommits = sequence.committed.Contains(id);
  sequence.committed.Insert(id);
}

void GapBuffer::OnReadBegun() {
  history_.AddRead(now_.record.value_or(0));
  for (const uint32_t index : waiting_) {
    OpenGap& open = gaps_[index];
    open.needed = std::max(open.needed, history_.bytes() - *open.waiting_start);
    open.waiting_start.reset();
  }
  waiting_.clear();
}

void GapBuffer::OnPacketFate(const PacketAccount& account) {
  Sequence& sequence = sequences_[account.sequence];
  const FateCount count{1, account.size};
  sequence.report.by_fate[account.fate] += count;
  if (account.own_fault) sequence.report.own_fault += count;
  if (account.fate == Fate::kRead) {
    sequence.track.AddKept(
        account, GapTrack::Kind::kRead,
        account.loss_bits == 0 ? GapTrack::kNoDetail : AddFlag(sequence, account));
    sequence.any_read = true;
  } else if (!IsLoss(account.fate)) {
    sequence.track.AddKept(account, GapTrack::Kind::kPending, GapTrack::kNoDetail);
  } else if (const uint32_t gap = GapOf(sequence, account); gap != GapTrack::kNoDetail) {
    Fill(gap, account);
  }
}

/// Notes the packet as flagged. @return its number
uint32_t GapBuffer::AddFlag(Sequence& sequence, const PacketAccount& account) {
  sequence.flagged = GapTrack::kNoDetail;
  if (unused_.flags == 0) {
    ++sequence.report.unlisted_flags;
    return GapTrack::kNoDetail;
  }
  --unused_.flags;
  OpenFlag flag;
  flag.packet.place = PlaceOf(account);
  flag.packet.loss_bits = account.loss_bits;
  flag.packet.pass = account.pass;
  flag.packet.read = account.decided;
  flag.packet.first_of_sequence = !sequence.any_read;
  flag.recommitted = sequence.taken_again == ChunkId{static_cast<uint32_t>(account.first_chunk)};
  flag.readmitted = flag.recommitted && sequence.readmitted;
  sequence.flagged = static_cast<uint32_t>(flags_.size());
  flags_.push_back(flag);
  return sequence.flagged;
}

/// The gap that the lost packet belongs to; kNoDetail: it can not be listed.
uint32_t GapBuffer::GapOf(Sequence& sequence, const PacketAccount& account) {
  GapTrack::Run& run = sequence.track.AddLost(account);
  if (run.detail != GapTrack::kNoDetail) return run.detail;
  if (unused_.gaps == 0) {
    ++sequence.report.unlisted_gaps;
    return GapTrack::kNoDetail;
  }
  --unused_.gaps;
  run.detail = static_cast<uint32_t>(gaps_.size());
  Gap& gap = gaps_.emplace_back().gap;
  gap.buffer = id_;
  gap.sequence = account.sequence;
  gap.first = gap.last = PlaceOf(account);
  return run.detail;
}

/// Counts a lost packet into its gap.
void GapBuffer::Fill(uint32_t index, const PacketAccount& account) {
  OpenGap& open = gaps_[index];
  Gap& gap = open.gap;
  const FateCount count{1, account.size};
  const GapPlace place = PlaceOf(account);
  if (place < gap.first) gap.first = place;
  if (gap.last < place) gap.last = place;
  if (account.fate == Fate::kInvalid) gap.lost_bits |= account.loss_bits;
  gap.last_chunk = std::max(gap.last_chunk, account.last_chunk);
  gap.lost += count;
  if (account.own_fault) gap.own_fault += count;
  AddCount(gap.causes, {account.fate, account.cause, account.own_fault,
                        account.fate == Fate::kCut ? account.loss_bits : 0, count});
  AddCount(gap.contents, {account.facts.content, count});
  gap.written.Add(account.written);
  gap.sealed.Add(account.decided);
  if (account.facts.has_interned_data || account.facts.clears_state) ++gap.state_packets;

  const ChunkName last = NameOf(account.sequence, account.last_chunk);
  if (account.cause == Cause::kEvicted) {
    FillEvicted(index, account);
  } else if (IsFull(account.cause)) {
    open.filled = open.counts_needed = true;
    const BufferHistory::Entry* entry = history_.Find(last);
    open.needed = std::max(open.needed, entry == nullptr ? history_.bytes() : entry->end());
  }
}

/// What pushed the packet out, and how long or how much longer it would have had to stay.
void GapBuffer::FillEvicted(uint32_t index, const PacketAccount& account) {
  OpenGap& open = gaps_[index];
  const ChunkName name = NameOf(account.sequence, account.first_chunk);
  if (account.written.time_ns && account.decided.time_ns) {
    const uint64_t written = *account.written.time_ns, lost = *account.decided.time_ns;
    if (lost > written)
      open.residence_ns = std::min(open.residence_ns.value_or(UINT64_MAX), lost - written);
    else
      open.read_in_vain = true;
  }
  const BufferHistory::Entry* chunk = history_.Find(name);
  if (chunk == nullptr) return;
  const uint64_t first = chunk->number + 1;
  const uint64_t end = history_.EndOfRecord(account.decided.record.value_or(0));
  if (open.window_first == open.window_end) {
    open.window_first = open.window_end = open.counted = first;
    // The first time about as much was written as the buffer holds; more than a few times that is
    // summed up in blocks.
    constexpr uint64_t kFewChunks = 4 * ShareBlocks::kBlock;
    open.exact_chunks = std::max(kFewChunks, 2 * (std::max(end, first) - first));
  } else if (first < open.window_first) {
    open.pushed.Add(history_.BytesBetween(first, open.window_first));
    open.window_first = first;
  }
  if (end > open.window_end) {
    open.window_end = end;
    if (end - open.window_first <= open.exact_chunks) {
      open.pushed.Add(history_.BytesBetween(open.counted, end));
      open.counted = end;
    }
  }

  open.counts_needed = true;
  const uint64_t whole = std::max(account.decided.record, account.written.record).value_or(0);
  if (const std::optional<uint64_t> bytes = history_.BytesAtReadFrom(whole)) {
    open.needed = std::max(open.needed, *bytes - std::min(*bytes, chunk->start));
    return;
  }
  if (!open.waiting_start) waiting_.push_back(index);
  open.waiting_start = std::min(open.waiting_start.value_or(UINT64_MAX), chunk->start);
}

/// Follows incremental state through the packets that were read, by trace processor's rules.
void GapBuffer::OnPacket(const PacketAccount& account, const PacketFacts& facts) {
  Sequence& sequence = sequences_[account.sequence];
  if (facts.dropped != 0) {
    ++sequence.report.producer_flags;
    sequence.report.producer_bits |= facts.dropped;
    if (account.loss_bits != 0) ++sequence.report.hidden_flags;
  }
  const bool is_flagged = account.loss_bits != 0 || facts.dropped != 0;
  // What follows a producer's own flag is not caused by a gap.
  if (facts.dropped != 0 && account.loss_bits == 0) sequence.flagged = GapTrack::kNoDetail;
  UnusablePackets* since =
      sequence.flagged == GapTrack::kNoDetail ? nullptr : &flags_[sequence.flagged].packet.unusable;
  if (facts.clears_state && sequence.in_unusable && since != nullptr) since->reset = true;
  if (facts.clears_state || is_flagged) sequence.in_unusable = false;
  sequence.state.Add(facts, is_flagged);
  if (!facts.needs_state || sequence.state.valid()) return;
  if (!sequence.in_unusable) ++sequence.report.unusable_spans;
  sequence.in_unusable = true;
  sequence.report.unusable.Add(account.size, account.written.time_ns);
  if (since != nullptr) since->Add(account.size, account.written.time_ns);
}

}  // namespace ringscope::gaps
