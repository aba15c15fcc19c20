// What became of what was written: the engine's doings, turned into fates.

#include "core/ledger_buffer.h"

#include <algorithm>

#include "core/data_loss.h"

namespace ringscope::ledger {
namespace {

Cause CauseOf(DiscardReason reason) {
  switch (reason) {
    case DiscardReason::kSealed:
      return Cause::kSealed;
    case DiscardReason::kFull:
      return Cause::kFull;
    case DiscardReason::kTooLarge:
      return Cause::kTooLarge;
    case DiscardReason::kAlreadyConsumed:
      return Cause::kAlreadyConsumed;
    case DiscardReason::kBadRecommit:
      return Cause::kBadRecommit;
  }
  return Cause::kNone;
}

Cause CauseOf(Refusal why) {
  switch (why) {
    case Refusal::kNoSharedMemory:
      return Cause::kNoSharedMemory;
    case Refusal::kNoSuchPage:
      return Cause::kNoSuchPage;
    case Refusal::kNoSuchBuffer:
      return Cause::kNoSuchBuffer;
    case Refusal::kMayNotWrite:
      return Cause::kMayNotWrite;
  }
  return Cause::kNone;
}

Cause CauseOf(StallReason reason) {
  switch (reason) {
    case StallReason::kNeedsPatch:
      return Cause::kWaitsForPatch;
    case StallReason::kMissingChunk:
      return Cause::kWaitsForChunk;
    case StallReason::kIncomplete:
      return Cause::kWaitsForCompletion;
  }
  return Cause::kNone;
}

}  // namespace

void BufferLedger::BeginChunk() {
  committing_ = true;
  relocating_ = false;
  outcome_ = Outcome::kUnknown;
  consumed_ = 0;
  evicting_for_.reset();
}

void BufferLedger::Refused(const ChunkCommit& commit, Refusal why) {
  BeginChunk();
  outcome_ = Outcome::kRefused;
  refusal_ = {.fate = Fate::kDiscarded, .cause = CauseOf(why)};
  EndChunk(commit);
}

void BufferLedger::EndChunk(const ChunkCommit& commit) {
  Arrive(commit);
  committing_ = false;
  Settle();
}

void BufferLedger::OnCommitted(const ObservedChunk& chunk) {
  outcome_ = Outcome::kCommitted;
  consumed_ = chunk.payload_size - chunk.payload_avail;
  engine_needs_patch_ = (chunk.flags & kNeedsPatching) != 0;
}

void BufferLedger::OnRewritten(const ObservedChunk& chunk) {
  outcome_ = Outcome::kRewritten;
  engine_needs_patch_ = (chunk.flags & kNeedsPatching) != 0;
}

void BufferLedger::OnDiscarded(const ChunkCommit&, DiscardReason reason) {
  outcome_ = Outcome::kRefused;
  refusal_ = {.fate = Fate::kDiscarded, .cause = CauseOf(reason)};
}

void BufferLedger::OnErased(const ObservedChunk& chunk) {
  ChunkRecord* record = Find(chunk.sequence, chunk.chunk);
  if (record == nullptr || draining_) return;
  const uint64_t key = ChunkName{chunk.sequence, chunk.chunk}.Packed();
  if (relocating_) {
    relocating_ = false;  // it comes again at once, and all of it that counts was consumed
  } else if (committing_) {
    LoseFrom(key, *record, 0,
             {.fate = Fate::kOverwritten, .cause = Cause::kEvicted, .culprit = evicting_for_},
             chunk.payload);
  } else {
    LoseFrom(key, *record, 0, {.fate = Fate::kCut, .cause = Cause::kGivenUp}, chunk.payload);
  }
  SetPieces(*record, false, record->needs_patch);
  touched_.push_back(key);
}

void BufferLedger::OnPatched(const ObservedChunk& chunk, const ChunkPatches& patches) {
  ChunkRecord* record = Find(chunk.sequence, chunk.chunk);
  if (record == nullptr) return;
  CheckSizes(*record, chunk.payload, patches);
  SetPieces(*record, record->held, (chunk.flags & kNeedsPatching) != 0);
}

void BufferLedger::OnPatchMissed(const ObservedChunk* chunk, const ChunkPatches& patches,
                                 PatchMiss) {
  if (chunk == nullptr) return;
  if (ChunkRecord* record = Find(chunk->sequence, chunk->chunk))
    CheckSizes(*record, chunk->payload, patches);
}

void BufferLedger::OnPacketGivenUp(SequenceKey sequence, const PacketPlace& place, uint32_t cause) {
  ChunkRecord* record = Find(sequence, place.first_chunk);
  if (record == nullptr) return;
  const uint64_t key = ChunkName{sequence, place.first_chunk}.Packed();
  const bool corrupted = cause == kLossChunkCorrupted;
  Loss loss{.fate = Fate::kCut, .cause = Cause::kGivenUp, .loss_bits = cause};
  if (cause == kLossReassemblyGap) loss.cause = Cause::kReadGap;
  if (cause == kLossReassemblyBrokenChain) loss.cause = Cause::kBrokenChain;
  if (corrupted) loss = {.fate = Fate::kCorrupted, .cause = Cause::kBrokenSize, .loss_bits = cause};
  const size_t first = IndexAt(*record, place.first_offset);
  if (first == kNone) return;
  const size_t end = corrupted ? record->entries.size() : first + 1;
  for (size_t i = first; i < end; ++i) {
    Entry& entry = record->entries[i];
    if (draining_) {
      entry.given_up_at_end = true;
      if (entry.kind == FragmentKind::kWhole) continue;
      const bool back = entry.kind == FragmentKind::kBegin;
      const ChainId id = back ? record->tail : record->head;
      if (id != kNoChain) chains_[id].given_up_at_end = true;
    } else {
      Lose(key, *record, i, loss, {});
    }
  }
  touched_.push_back(key);
}

void BufferLedger::OnStalled(SequenceKey sequence, ChunkId chunk, StallReason reason) {
  if (!draining_) return;
  Sequence& state = SequenceOf(sequence);
  state.stalled_at = ChunkName{sequence, chunk};
  state.stall = CauseOf(reason);
}

ChunkRecord* BufferLedger::Find(SequenceKey sequence, ChunkId chunk) {
  const auto record = records_.find(ChunkName{sequence, chunk}.Packed());
  return record == records_.end() ? nullptr : &record->second;
}

/// Index of the fragment at this offset; kNone: there is none.
size_t BufferLedger::IndexAt(const ChunkRecord& record, uint32_t offset) const {
  const auto at =
      std::lower_bound(record.entries.begin(), record.entries.end(), offset,
                       [](const Entry& entry, uint32_t value) { return entry.offset < value; });
  if (at == record.entries.end() || at->offset != offset) return kNone;
  return static_cast<size_t>(at - record.entries.begin());
}

/// Whether a packet begins with this fragment, as far as it has come.
bool BufferLedger::Begins(const Entry& entry, const ChunkRecord& record) {
  if (entry.kind == FragmentKind::kWhole || entry.kind == FragmentKind::kBegin) return true;
  if (record.head == kNoChain) return false;
  const PacketAccount& account = chains_[record.head].account;
  return account.first_chunk == record.id && account.first_offset == entry.offset;
}

PacketAccount BufferLedger::AccountOf(SequenceKey sequence, const ChunkRecord& record,
                                      size_t index) const {
  PacketAccount account;
  account.buffer = id_;
  account.sequence = sequence;
  account.first_chunk = account.last_chunk = record.id;
  account.fragment = static_cast<uint32_t>(index);
  account.first_offset = record.entries[index].offset;
  account.size = record.entries[index].size;
  account.written = record.written;
  return account;
}

void BufferLedger::LoseFrom(uint64_t key, ChunkRecord& record, size_t first, const Loss& loss,
                            Bytes payload) {
  for (size_t i = first; i < record.entries.size(); ++i) Lose(key, record, i, loss, payload);
}

/// The packet at (or the one that the piece at) this place belongs to can not be delivered any
/// more.
/// @param payload of the chunk, to tell what the packet held; empty: not at hand
void BufferLedger::Lose(uint64_t key, ChunkRecord& record, size_t index, const Loss& loss,
                        Bytes payload) {
  Entry& entry = record.entries[index];
  if (entry.kind != FragmentKind::kWhole) {
    if (entry.kind != FragmentKind::kBegin && record.head != kNoChain) DoomChain(record.head, loss);
    if (entry.kind != FragmentKind::kEnd && record.tail != kNoChain) DoomChain(record.tail, loss);
    return;
  }
  if (entry.state != State::kLive) return;
  entry.state = State::kDoomed;
  PacketAccount account = AccountOf(NameOf(key).sequence, record, index);
  Seal(account, loss, record.taint);
  // A whole packet that a read gave up: it was all there.
  account.own_fault = account.fate == Fate::kCut && record.held;
  Fragment fragment;
  if (ReadFragment(payload.data(), static_cast<uint32_t>(payload.size()), entry.offset, fragment) ==
      FragmentStatus::kFragment)
    account.facts = ReadPacketFacts(payload.subspan(fragment.body, fragment.size()));
  record.doomed.push_back(account);
}

void BufferLedger::DoomChain(ChainId id, const Loss& loss) {
  id = chains_.Find(id);
  Chain& chain = chains_[id];
  touched_chains_.push_back(id);
  if (chain.state != State::kLive) return;
  chain.state = State::kDoomed;
  PacketAccount& account = chain.account;
  account.own_fault = loss.fate == Fate::kCut && loss.loss_bits != 0 && chain.deliverable();
  Seal(account, loss, chain.taint);
}

/// @param taint a rule that the writer broke: that is what the packet is lost to, then
void BufferLedger::Seal(PacketAccount& account, const Loss& loss,
                        const std::optional<Cause>& taint) const {
  account.fate = taint ? Fate::kCorrupted : loss.fate;
  account.cause = taint.value_or(loss.cause);
  account.culprit = taint ? std::nullopt : loss.culprit;
  account.loss_bits = loss.loss_bits;
  account.decided = now_;
}

/// The chunk is in the buffer (again), but for its first `consumed` bytes: what was lost with it is
/// not lost after all.
void BufferLedger::Revive(ChunkRecord& record, uint32_t consumed) {
  std::vector<PacketAccount> lost;
  for (PacketAccount& account : record.doomed) {
    Entry& entry = record.entries[account.fragment];
    if (entry.offset >= consumed && account.fate == Fate::kOverwritten)
      entry.state = State::kLive;
    else
      lost.push_back(account);
  }
  record.doomed.swap(lost);
  for (const Entry& entry : record.entries) {
    if (entry.kind == FragmentKind::kWhole || entry.offset < consumed) continue;
    for (const ChainId id : {record.head, record.tail}) {
      if (id == kNoChain) continue;
      Chain& chain = chains_[id];
      if (chain.state != State::kDoomed || chain.account.fate != Fate::kOverwritten ||
          chain.pieces_held != chain.pieces)
        continue;
      chain.state = State::kLive;
      chain.account.culprit.reset();
    }
  }
}

void BufferLedger::OnRead(const Packet& packet, bool valid) {
  ++totals_.returned;
  Return(packet, valid ? Fate::kRead : Fate::kInvalid, valid ? Cause::kNone : Cause::kRejected);
}

/// The engine returned a packet.
void BufferLedger::Return(const Packet& packet, Fate fate, Cause cause) {
  const auto complete = [&](PacketAccount& account) {
    account.size = packet.size;
    account.fate = fate;
    account.cause = cause;
    account.own_fault = false;
    account.culprit.reset();
    account.decided = now_;
    account.pass = pass_;
    account.loss_bits = packet.dropped;
    if (!packet.slices.empty()) account.facts = ReadPacketFacts(packet.slices.front());
  };
  ChunkRecord* record = Find(packet.sequence, packet.place.first_chunk);
  const size_t index = record == nullptr ? kNone : IndexAt(*record, packet.place.first_offset);
  const bool is_written = index != kNone && Begins(record->entries[index], *record);
  if (!is_written) {
    // Nobody wrote a packet that begins there: writers broke rules.
    PacketAccount extra;
    extra.buffer = id_;
    extra.sequence = packet.sequence;
    extra.first_chunk = record == nullptr ? Raw(packet.place.first_chunk) : record->id;
    extra.last_chunk =
        extra.first_chunk + Distance(packet.place.first_chunk, packet.place.last_chunk);
    extra.first_offset = packet.place.first_offset;
    extra.written = record == nullptr ? now_ : record->written;
    CountWritten(packet.size);
    complete(extra);
    return Tell(extra);
  }

  Entry& entry = record->entries[index];
  const bool whole = entry.kind == FragmentKind::kWhole;
  const ChainId id = whole                                ? kNoChain
                     : entry.kind == FragmentKind::kBegin ? record->tail
                                                          : record->head;
  Chain* chain = id == kNoChain ? nullptr : &chains_[id];
  State& state = chain != nullptr ? chain->state : entry.state;
  PacketAccount account =
      chain != nullptr ? chain->account : AccountOf(packet.sequence, *record, index);
  if (state == State::kRead) {
    if (draining_) return;
    complete(account);
    totals_.duplicates += {1, packet.size};
    return sink_.OnDuplicate(account);
  }
  if (state == State::kGone) {
    // Told as lost, or as nothing, and here it is.
    CountWritten(0);
    account.size = 0;
  } else if (state == State::kDoomed && chain == nullptr) {
    std::erase_if(record->doomed,
                  [&](const PacketAccount& doomed) { return doomed.fragment == index; });
  }
  state = State::kRead;
  if (chain != nullptr) {
    account.last_chunk =
        std::max(account.last_chunk,
                 account.first_chunk + Distance(packet.place.first_chunk, packet.place.last_chunk));
    touched_chains_.push_back(id);
  }
  totals_.written.bytes += packet.size - account.size;  // modulo 2^64: it may have shrunk
  complete(account);
  Tell(account);
}

void BufferLedger::Tell(const PacketAccount& account) {
  const FateCount count{1, account.size};
  totals_.by_fate[static_cast<size_t>(account.fate)] += count;
  if (account.own_fault) totals_.own_fault += count;
  sink_.OnPacketFate(account);
}

}  // namespace ringscope::ledger
