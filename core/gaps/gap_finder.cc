// How what a replay reports becomes gaps.

#include "core/gaps/gap_finder.h"

#include <algorithm>
#include <utility>

namespace ringscope::gaps {
namespace {

ChunkName NameOf(SequenceKey sequence, uint64_t chunk) { return {sequence, IdOf(chunk)}; }

GapPlace PlaceOf(const PacketAccount& account) {
  return {account.first_chunk, account.fragment, account.first_offset};
}

/// Adds a packet to what waits when the log ends.
void AddStalled(SequenceGaps& sequence, const PacketAccount& account) {
  OpenStall& stall = sequence.stall ? *sequence.stall : sequence.stall.emplace();
  stall.count += {1, account.size};
  if (stall.at || !account.waits_for) return;
  stall.cause = account.cause;
  stall.at = account.waits_for;
  stall.since = account.decided;
}

void AddBlame(Gap& gap, const PacketAccount& account) {
  const std::optional<ChunkName> chunk = account.waits_for ? account.waits_for : account.culprit;
  for (GapBlame& blame : gap.blamed) {
    if (blame.cause != account.cause || blame.chunk != chunk || blame.at != account.blamed)
      continue;
    blame.count += {1, account.size};
    return;
  }
  if (gap.blamed.size() < Gap::kMaxBlamed)
    gap.blamed.push_back({account.cause, chunk, account.blamed, {1, account.size}});
}

bool IsFull(Cause cause) { return cause == Cause::kSealed || cause == Cause::kFull; }

}  // namespace

void GapFinder::OnEvent(const BufferEvent& event) {
  using Kind = BufferEvent::Kind;
  switch (event.kind) {
    case Kind::kCommitted: {
      history_.AddCommit(*event.at.record, event.chunk, event.outer_size);
      written_by_[event.chunk.sequence] += event.outer_size;
      Sequence& sequence = sequences_[event.chunk.sequence];
      ++sequence.held;
      if (sequence.recommits) {
        sequence.taken_again = event.chunk.chunk;
        sequence.readmitted = event.payload_avail < event.payload_size;
      }
      break;
    }
    case Kind::kErased: {
      history_.AddErase();
      Sequence& sequence = sequences_[event.chunk.sequence];
      if (sequence.held > 0 && --sequence.held == 0) {
        sequence.emptied = ++emptied_;
        sequence.emptied_by_loss = event.erasure != Erasure::kConsumed;
      }
      break;
    }
    case Kind::kDiscarded:
      if (event.discard == DiscardReason::kSealed || event.discard == DiscardReason::kFull)
        history_.AddDiscard(*event.at.record, event.chunk, info_.SpaceOf(*under_way_, written_));
      break;
    default:
      break;
  }
}

void GapFinder::OnChunk(const ChunkCommit& commit, const std::optional<AbortFacts>& abort) {
  under_way_ = &commit;
  Sequence& sequence = sequences_[commit.sequence];
  if (abort) sequence.abort = abort;
  const uint64_t id = sequence.ids.Of(commit.chunk);
  NoteIds(sequence, id);
  sequence.ids.AddNumber(id);
  sequence.recommits = sequence.committed.Contains(id);
  sequence.committed.Insert(id);
}

void GapFinder::NoteIds(Sequence& sequence, uint64_t chunk) {
  constexpr size_t kMaxJumps = 4096;
  const bool is_first = !sequence.first_chunk.has_value();
  const bool is_newest = is_first || chunk > sequence.ids.newest();
  const bool jumps = !is_first && chunk > sequence.ids.newest() + 1;
  if (jumps && sequence.jumps.size() < kMaxJumps)
    sequence.jumps.push_back({.next = chunk, .before = sequence.newest_at, .at = now_});
  if (is_newest) sequence.newest_at = now_;
  sequence.first_chunk = std::min(sequence.first_chunk.value_or(chunk), chunk);
  if (!(jumps || sequence.emptied_by_loss) || !IsForgotten(sequence)) return;
  if (sequence.forgotten_at.size() < kMaxJumps) sequence.forgotten_at.push_back(chunk);
}

/// Whether so many other sequences had no chunk left since this one that the buffer forgot it.
bool GapFinder::IsForgotten(const Sequence& sequence) const {
  if (info_.flags_first_of_sequence || sequence.held > 0 || sequence.emptied == 0) return false;
  if (emptied_ - sequence.emptied < kForgets) return false;
  size_t later = 0;
  for (size_t i = sequences_.size(); i-- > 0 && later < kForgets;) {
    const Sequence& other = sequences_.At(i).value;
    later += other.held == 0 && other.emptied > sequence.emptied ? 1 : 0;
  }
  return later == kForgets;
}

void GapFinder::OnReadDone() {
  if (std::exchange(limited_, false)) {
    ++limited_reads_;
    return;
  }
  history_.AddRead(now_.record.value_or(0));
  for (const uint32_t index : waiting_) {
    OpenGap& open = gaps_[index];
    open.needed = std::max(open.needed, history_.bytes() - *open.waiting_start);
    open.waiting_start.reset();
  }
  waiting_.clear();
}

void GapFinder::OnPacketFate(const PacketAccount& account, uint32_t kind) {
  Sequence& sequence = sequences_[account.sequence];
  const FateCount count{1, account.size};
  sequence.report.by_fate[account.fate] += count;
  if (account.own_fault) sequence.report.own_fault += count;
  if (account.fate == Fate::kRead) {
    sequence.track.AddKept(
        account, GapTrack::Kind::kRead,
        account.loss_bits == 0 ? GapTrack::kNoDetail : AddFlag(sequence, account));
    sequence.any_read = true;
  } else if (account.fate == Fate::kFolded) {
    // Neither read nor missing: a gap may have such packets in it.
    sequence.folded.Insert(account.first_chunk);
  } else if (!IsLoss(account.fate)) {
    sequence.track.AddKept(account, GapTrack::Kind::kPending, GapTrack::kNoDetail);
    if (account.fate == Fate::kStalled) AddStalled(sequence.report, account);
  } else if (const uint32_t gap = GapOf(sequence, account); gap != GapTrack::kNoDetail) {
    Fill(gap, account, kind);
    if (account.cause == Cause::kAborted && !gaps_[gap].gap.abort)
      gaps_[gap].gap.abort = sequence.abort;
  }
}

/// Notes the packet as flagged. @return its number
uint32_t GapFinder::AddFlag(Sequence& sequence, const PacketAccount& account) {
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
  flag.recommitted = sequence.taken_again == IdOf(account.first_chunk);
  flag.readmitted = flag.recommitted && sequence.readmitted;
  sequence.flagged = static_cast<uint32_t>(flags_.size());
  flags_.push_back(flag);
  return sequence.flagged;
}

/// The gap that the lost packet belongs to; kNoDetail: it cannot be listed.
uint32_t GapFinder::GapOf(Sequence& sequence, const PacketAccount& account) {
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
void GapFinder::Fill(uint32_t index, const PacketAccount& account, uint32_t kind) {
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
  if (kind != 0) AddCount(gap.kinds, {account.facts.content, kind, count});
  gap.written.Add(account.written);
  gap.decided.Add(account.decided);
  if (account.facts.has_interned_data || account.facts.clears_state) ++gap.state_packets;

  const ChunkName last = NameOf(account.sequence, account.last_chunk);
  if (account.blamed.record || account.waits_for) AddBlame(gap, account);
  if (account.fate == Fate::kOverwritten) {
    FillEvicted(index, account);
  } else if (IsFull(account.cause)) {
    open.filled = open.counts_needed = true;
    const BufferHistory::Entry* entry = history_.Find(last);
    open.needed = std::max(open.needed, entry == nullptr ? history_.bytes() : entry->end());
  }
}

/// What pushed the packet out, and how long or how much longer it would have had to stay.
void GapFinder::FillEvicted(uint32_t index, const PacketAccount& account) {
  OpenGap& open = gaps_[index];
  if (account.culprit) open.gap.AddEvicted({account.culprit->sequence, 1});
  const ChunkName name = NameOf(account.sequence, account.first_chunk);
  const bool in_vain = account.cause != Cause::kEvicted;  // it waited for a patch
  if (account.written.time_ns && account.decided.time_ns) {
    const uint64_t written = *account.written.time_ns, lost = *account.decided.time_ns;
    if (lost > written && !in_vain)
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

  if (in_vain) return;
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
void GapFinder::OnPacket(const PacketAccount& account, const PacketFacts& facts) {
  Sequence& sequence = sequences_[account.sequence];
  if (facts.dropped != 0) {
    ++sequence.report.producer_flags;
    sequence.report.producer_bits |= facts.dropped;
    if (account.loss_bits != 0) ++sequence.report.hidden_flags;
    if (unused_.producer_flags > 0) {
      --unused_.producer_flags;
      sequence.by_producer.push_back({account.first_chunk, account.first_offset});
    }
  }
  const bool is_flagged = account.loss_bits != 0 || facts.dropped != 0;
  // What follows a producer's own flag is not caused by a gap.
  if (facts.dropped != 0 && account.loss_bits == 0) sequence.flagged = GapTrack::kNoDetail;
  UnusablePackets* since =
      sequence.flagged == GapTrack::kNoDetail ? nullptr : &flags_[sequence.flagged].packet.unusable;
  if (facts.clears_state && sequence.in_unusable && since != nullptr) since->reset = true;
  if (facts.clears_state || is_flagged) sequence.in_unusable = false;
  sequence.state.Add(facts.clears_state, is_flagged);
  if (!facts.needs_state || sequence.state.valid()) return;
  if (!sequence.in_unusable) ++sequence.report.unusable_spans;
  sequence.in_unusable = true;
  sequence.report.unusable.Add(account.size, account.written.time_ns);
  if (since != nullptr) since->Add(account.size, account.written.time_ns);
}

}  // namespace ringscope::gaps
