// Turns what the engine does into fates.

#include "core/ledger/buffer_ledger.h"

#include "core/perfetto/data_loss.h"

namespace ringscope::ledger {
namespace {

/// The engine does not report what became of it.
constexpr Decision kUnreported{.cause = Cause::kUnknown};

}  // namespace

void BufferLedger::BeginChunk(const WrittenCommit& written) {
  arriving_ = &written;
  outcome_ = Outcome::kUnknown;
  consumed_ = 0;
  not_replaced_.clear();
}

void BufferLedger::Refused(const WrittenCommit& written, Refusal why) {
  BeginChunk(written);
  outcome_ = Outcome::kRefused;
  refusal_ = {.cause = CauseOf(why)};
  EndChunk();
}

void BufferLedger::EndChunk() {
  const WrittenCommit& written = *arriving_;
  const ChunkCommit& commit = written.commit();
  const bool committed = outcome_ == Outcome::kCommitted;
  const WrittenPackets::Arrival arrival = packets_.Begin(written);
  if (committed || outcome_ == Outcome::kRewritten)
    packets_.SetHeld(arrival.record, true, engine_needs_patch_);
  if (committed) {
    Revive(arrival.record, consumed_);
    if (const auto blocking = patch_stalls_.FirstBefore(commit.sequence, arrival.record.id))
      arrival.record.blocked_by = {commit.sequence, IdOf(*blocking)};
  }
  packets_.AddFragments(arrival, committed ? consumed_ : 0);
  if (outcome_ == Outcome::kRefused) {
    // A writer's additions to a scraped chunk are lost with the chunk.
    const bool is_old =
        refusal_.cause == Cause::kAlreadyConsumed || refusal_.cause == Cause::kUnknown;
    if (is_old && arrival.record.evicted_for)
      refusal_ = {.cause = Cause::kEvicted, .culprit = arrival.record.evicted_for};
    else if (refusal_.cause == Cause::kAlreadyConsumed && arrival.is_reused)
      refusal_.cause = Cause::kIdsReused, arrival.record.violation.reset();
    if (arrival.differs)
      for (size_t i = 0; i < arrival.known; ++i) packets_.LoseInPlace(arrival, i, refusal_);
    if (!arrival.is_new && !arrival.differs && arrival.known >= written.chunk().fragments.size())
      sinks_.Call(&LedgerSink::OnRepeatedCommit, id_);
    Lose(commit.sequence, arrival.record, arrival.known, arrival.record.entries.size(), refusal_,
         commit.payload);
  }
  for (const size_t fragment : not_replaced_)
    packets_.LoseInPlace(arrival, fragment, {.cause = Cause::kNotReplaced});
  packets_.End(arrival);
  if (committed) patch_stalls_.Remove(commit.sequence, arrival.record.id);  // if it was evicted
  NotePatchState(arrival.key, arrival.record);
  touched_.push_back(arrival.key);
  Settle();
}

void BufferLedger::OnEvent(const BufferEvent& event) {
  const ChunkName chunk = event.chunk;
  if (const auto* committed = event.As<BufferEvent::Committed>()) {
    outcome_ = Outcome::kCommitted;
    consumed_ = committed->state.consumed();
    engine_needs_patch_ = committed->state.needs_patch();
  } else if (const auto* rewritten = event.As<BufferEvent::Rewritten>()) {
    outcome_ = Outcome::kRewritten;
    engine_needs_patch_ = rewritten->state.needs_patch();
    arriving_->VisitOthers(rewritten->state.payload,
                           [&](size_t fragment) { not_replaced_.push_back(fragment); });
  } else if (const auto* erased = event.As<BufferEvent::Erased>()) {
    OnErased(chunk, *erased);
  } else if (const auto* discarded = event.As<BufferEvent::Discarded>()) {
    OnDiscarded(chunk, discarded->reason);
  } else if (const auto* patched = event.As<BufferEvent::Patched>()) {
    OnPatched(chunk, *patched);
  } else if (const auto* missed = event.As<BufferEvent::PatchMissed>()) {
    ChunkRecord* record = missed->reason == PatchMiss::kNoSuchChunk ? nullptr : Find(chunk);
    if (record != nullptr)
      CheckPatches(chunk, *record, missed->state == nullptr ? Bytes() : missed->state->payload,
                   missed->sent);
  } else if (const auto* abandoned = event.As<BufferEvent::Abandoned>()) {
    OnAbandoned(chunk, *abandoned, /*draining=*/false);
  } else if (const auto* folded = event.As<BufferEvent::Folded>()) {
    OnFolded(chunk, *folded);
  }
}

void BufferLedger::OnDiscarded(ChunkName chunk, DiscardReason reason) {
  outcome_ = Outcome::kRefused;
  refusal_ = {.cause = CauseOf(reason), .fate = Fate::kDiscarded};
  if (reason != DiscardReason::kAlreadyConsumed) return;
  const WrittenPackets::Sequence& sequence = packets_.SequenceOf(chunk.sequence);
  if (sequence.gone) refusal_.culprit = {chunk.sequence, *sequence.gone};
  refusal_.blamed = sequence.gone_at;
}

void BufferLedger::OnErased(ChunkName key, const BufferEvent::Erased& erased) {
  ChunkRecord* record = Find(key);
  if (record == nullptr) return;
  const size_t all = record->entries.size();
  const auto lose = [&](size_t first, size_t end, const Decision& loss) {
    Lose(key.sequence, *record, first, end, loss, erased.state.payload);
  };
  switch (erased.why) {
    case Erasure::kMoved:  // all of it that counts was consumed
      break;
    case Erasure::kOverwritten:
    case Erasure::kCleared: {
      // A fragment that was consumed but not returned was abandoned by the reader.
      const uint32_t consumed = reports_.abandoned ? 0 : erased.state.consumed();
      record->evicted_for = erased.by;
      size_t first = 0;
      while (first < all && record->entries[first].offset < consumed) ++first;
      lose(0, first, kUnreported);
      lose(first, all, {.cause = Cause::kEvicted, .culprit = erased.by});
      break;
    }
    case Erasure::kTransferred:
      lose(0, all, {.cause = Cause::kTransferred});
      break;
    case Erasure::kDropped:
      lose(0, all, {.cause = Cause::kClearedForClone});
      break;
    case Erasure::kConsumed:
      lose(0, all, reports_.abandoned ? Decision{.cause = Cause::kAbandoned} : kUnreported);
      break;
  }
  packets_.SetHeld(*record, false, record->needs_patch);
  if (record->blocks && !erased.is_read()) {
    patch_stalls_.Evict(key.sequence, record->id);
    record->blocks = false;
  }
  NotePatchState(key, *record);
  WrittenPackets::Sequence& sequence = packets_.SequenceOf(key.sequence);
  sequence.gone = key.chunk;
  sequence.gone_at = now_;
  touched_.push_back(key);
}

void BufferLedger::OnPatched(ChunkName key, const BufferEvent::Patched& patched) {
  ChunkRecord* record = Find(key);
  if (record == nullptr) return;
  CheckPatches(key, *record, patched.state.payload, patched.sent);
  packets_.SetHeld(*record, record->held, patched.state.needs_patch());
  NotePatchState(key, *record);
  if (!record->needs_patch) packets_.ReadPatched(*record, patched.state.payload);
}

void BufferLedger::CheckPatches(ChunkName key, ChunkRecord& record, Bytes payload,
                                const ChunkPatches& sent) {
  if (packets_.CheckPatches(record, payload, sent))
    sinks_.Call(&LedgerSink::OnWrongPatch, id_, key);
}

/// A program took the packet, which is overwritten. Its chunk may have left already.
void BufferLedger::OnFolded(ChunkName chunk, const BufferEvent::Folded& folded) {
  const Packet& packet = folded.packet;
  ChunkRecord* record = Find(chunk);
  const size_t index = record == nullptr ? kNone : IndexAt(*record, packet.place.first_offset);
  if (index == kNone) return;
  const Entry& entry = record->entries[index];
  touched_.push_back(chunk);
  Lose(chunk.sequence, *record, index, index + 1, {.cause = Cause::kNone, .fate = Fate::kFolded},
       {});
  const PacketFacts facts =
      packets_.FactsOf(packet.slices.empty() ? Bytes() : packet.slices.front());
  const auto fold = [&](PacketAccount& lost) {
    lost.fate = Fate::kFolded;
    lost.cause = Cause::kNone;
    lost.culprit = folded.by;
    lost.blamed = {};
    lost.facts = facts;
  };
  if (entry.kind == FragmentKind::kWhole) {
    for (LostEntry& lost : record->lost) {
      if (lost.fragment != index) continue;
      fold(record->losses.emplace_back(PacketAccount(record->losses[lost.loss])));
      lost.loss = static_cast<uint32_t>(record->losses.size() - 1);
      lost.facts = facts;
    }
    return;
  }
  const ChainId id = record->ChainOf(entry);
  if (id == kNoChain) return;
  Chain& chain = packets_.chains()[id];
  if (chain.state == State::kLost) fold(chain.account);
}

/// Notes whether the chunk blocks its sequence now. V2 stops at a packet that continues in
/// the next chunk; V1 at the whole chunk.
void BufferLedger::NotePatchState(ChunkName key, ChunkRecord& record) {
  const bool blocks = record.held && record.needs_patch &&
                      (record.head != kNoChain || record.tail != kNoChain || stalls_whole_chunks_);
  if (blocks == record.blocks) return;
  record.blocks = blocks;
  if (blocks)
    patch_stalls_.Add(key.sequence, record.id, record.written);
  else
    patch_stalls_.Remove(key.sequence, record.id);
}

void BufferLedger::OnAbandoned(ChunkName key, const BufferEvent::Abandoned& abandoned,
                               bool draining) {
  ChunkRecord* record = Find(key);
  if (record == nullptr) return;
  const uint32_t bit = abandoned.cause;
  const bool corrupted = bit == kLossChunkCorrupted;
  const Cause cause = corrupted                           ? Cause::kBrokenSize
                      : bit == kLossReassemblyGap         ? Cause::kReadGap
                      : bit == kLossReassemblyBrokenChain ? Cause::kBrokenChain
                                                          : Cause::kAbandoned;
  const size_t first = IndexAt(*record, abandoned.place.first_offset);
  if (first == kNone) return;
  const size_t end = corrupted ? record->entries.size() : first + 1;
  if (draining)
    for (size_t i = first; i < end; ++i) AbandonAtEnd(*record, record->entries[i]);
  else
    Lose(key.sequence, *record, first, end, {.cause = cause, .loss_bits = bit}, {});
  touched_.push_back(key);
}

void BufferLedger::AbandonAtEnd(const ChunkRecord& record, Entry& entry) {
  entry.abandoned_at_end = true;
  if (const ChainId id = record.ChainOf(entry); id != kNoChain)
    packets_.chains()[id].abandoned_at_end = true;
}

void BufferLedger::OnDrainEvent(const BufferEvent& event) {
  if (const auto* abandoned = event.As<BufferEvent::Abandoned>())
    return OnAbandoned(event.chunk, *abandoned, /*draining=*/true);
  if (const auto* stalled = event.As<BufferEvent::Stalled>()) {
    stalls_[event.chunk.sequence] = {event.chunk, CauseOf(stalled->reason)};
  } else if (event.As<BufferEvent::Erased>() != nullptr && !reports_.abandoned) {
    // What is not returned of it by then is abandoned.
    if (ChunkRecord* record = Find(event.chunk))
      for (size_t i = 0; i < record->entries.size(); ++i) AbandonAtEnd(*record, record->entries[i]);
  }
}

ChunkRecord* BufferLedger::Find(ChunkName chunk) {
  if (last_found_ != nullptr && last_found_key_ == chunk) return last_found_;
  ChunkRecord* record = packets_.records().Find(chunk);
  if (record == nullptr) return nullptr;
  last_found_key_ = chunk;
  return last_found_ = record;
}

/// Index of the fragment at this offset; kNone: there is none.
size_t BufferLedger::IndexAt(const ChunkRecord& record, uint32_t offset) const {
  const auto at = std::ranges::lower_bound(record.entries, offset, {}, &Entry::offset);
  if (at == record.entries.end() || at->offset != offset) return kNone;
  return static_cast<size_t>(at - record.entries.begin());
}

/// The packets that these fragments belong to cannot be delivered any more.
/// @param payload of the chunk, for what the packets held; empty: not at hand
void BufferLedger::Lose(SequenceKey sequence, ChunkRecord& record, size_t first, size_t end,
                        const Decision& loss, Bytes payload) {
  const size_t known_losses = record.losses.size();
  for (size_t i = first; i < end; ++i) {
    Entry& entry = record.entries[i];
    if (entry.kind != FragmentKind::kWhole) {
      if (entry.kind != FragmentKind::kBegin && record.head != kNoChain)
        LoseChain(record.head, loss);
      if (entry.kind != FragmentKind::kEnd && record.tail != kNoChain) LoseChain(record.tail, loss);
      continue;
    }
    if (entry.state != State::kLive) continue;
    entry.state = State::kLost;
    if (record.losses.size() == known_losses) {
      PacketAccount& account = record.losses.emplace_back(packets_.AccountOf(sequence, record, i));
      Decide(account, loss, record.violation);
      if (record.violation) account.blamed = WrittenPackets::BrokenAt(record);
      // A whole packet that a read abandoned: it was all there.
      account.own_fault = account.fate == Fate::kCut && record.held;
    }
    if (record.lost.empty()) record.lost.reserve(end - i);
    record.lost.push_back({.fragment = static_cast<uint32_t>(i),
                           .loss = static_cast<uint32_t>(known_losses),
                           .facts = packets_.FactsAt(payload, record.entries[i].offset)});
  }
}

void BufferLedger::LoseChain(ChainId id, const Decision& loss) {
  id = packets_.chains().Find(id);
  Chain& chain = packets_.chains()[id];
  packets_.Touch(id);
  if (chain.state != State::kLive) return;
  chain.state = State::kLost;
  PacketAccount& account = chain.account;
  Decide(account, loss, chain.violation);
  account.own_fault = loss.fate == Fate::kCut && loss.loss_bits != 0 && chain.deliverable();
  if (account.cause == Cause::kBrokenChain && !chain.has_begin) account.cause = Cause::kNoBeginning;
  // What was not all there when a clone took the buffer over never will be, in either buffer.
  if (account.fate == Fate::kMoved && !chain.deliverable()) account.fate = Fate::kCut;
}

void BufferLedger::AddLost(PacketAccount& account, const Decision& loss) {
  Decide(account, loss, std::nullopt);
  Report(account);
}

/// @param violation of a rule, by the writer: that is what the packet is lost to, then
void BufferLedger::Decide(PacketAccount& account, const Decision& loss,
                          const std::optional<Cause>& violation) const {
  Decision& decision = account;
  decision = violation && loss.fate != Fate::kUnexplained
                 ? Decision{.cause = *violation, .loss_bits = loss.loss_bits}
                 : loss;
  decision.decided = now_;
}

/// The chunk is in the buffer (again), but for its first `consumed` bytes: what was lost with it is
/// not lost after all.
void BufferLedger::Revive(ChunkRecord& record, uint32_t consumed) {
  std::erase_if(record.lost, [&](const LostEntry& lost) {
    Entry& entry = record.entries[lost.fragment];
    const bool is_back = entry.offset >= consumed && LeftWithChunk(record.losses[lost.loss].fate);
    if (is_back) entry.state = State::kLive;
    return is_back;
  });
  if (record.lost.empty()) record.losses.clear();
  for (const Entry& entry : record.entries) {
    if (entry.kind == FragmentKind::kWhole || entry.offset < consumed) continue;
    for (const ChainId id : {record.head, record.tail}) {
      if (id == kNoChain) continue;
      Chain& chain = packets_.chains()[id];
      const bool was_there =
          LeftWithChunk(chain.account.fate) || chain.account.cause == Cause::kTransferred;
      if (chain.state != State::kLost || !was_there || chain.fragments_held != chain.fragments)
        continue;
      chain.state = State::kLive;
      chain.account.culprit.reset();
    }
  }
}

void BufferLedger::OnRead(const SessionPacket& packet, bool is_taken) {
  ++totals_.returned;
  const Cause cause = !packet.valid ? Cause::kRejected
                      : is_taken    ? Cause::kTakenBySession
                                    : Cause::kNone;
  Return(*packet.packet, {.cause = cause}, is_taken || !packet.valid ? nullptr : &packet);
}

/// The engine returned a packet.
/// @param read a valid packet of a read pass; else nullptr
void BufferLedger::Return(const Packet& packet, const Decision& decision,
                          const SessionPacket* read) {
  ++position_;
  const auto hand_over = [&](const PacketAccount& account) {
    if (read != nullptr) sinks_.Call(&LedgerSink::OnReturned, account, *read);
  };
  const auto complete = [&](PacketAccount& account) {
    static_cast<Decision&>(account) = decision;
    account.decided = now_;
    account.loss_bits = packet.dropped;
    account.size = packet.size;
    account.waits_for.reset();
    account.pass = pass_;
    account.position = position_;
    if (!packet.slices.empty()) account.facts = packets_.FactsOf(packet.slices.front());
    const LogMoment* const patch =
        account.fate == Fate::kInvalid ? packets_.WrongPatchOf(account) : nullptr;
    if (patch == nullptr) return;
    account.cause = Cause::kWrongPatch;
    account.blamed = *patch;
  };
  ChunkRecord* record = Find({packet.sequence, packet.place.first_chunk});
  const size_t index = record == nullptr ? kNone : IndexAt(*record, packet.place.first_offset);
  const bool is_written = index != kNone && packets_.Begins(record->entries[index], *record);
  if (!is_written) {
    // No writer wrote a packet that begins there: writers broke rules.
    PacketAccount extra;
    extra.buffer = id_;
    extra.sequence = packet.sequence;
    extra.first_chunk = record == nullptr ? Raw(packet.place.first_chunk) : record->id;
    extra.last_chunk =
        extra.first_chunk + Distance(packet.place.first_chunk, packet.place.last_chunk);
    extra.first_offset = packet.place.first_offset;
    extra.written = record == nullptr ? now_ : record->written;
    packets_.count() += {1, packet.size};
    complete(extra);
    Report(extra);
    return hand_over(extra);
  }

  Entry& entry = record->entries[index];
  const ChainId id = record->ChainOf(entry);
  Chain* chain = id == kNoChain ? nullptr : &packets_.chains()[id];
  State& state = chain != nullptr ? chain->state : entry.state;
  PacketAccount account =
      chain != nullptr ? chain->account : packets_.AccountOf(packet.sequence, *record, index);
  if (state == State::kRead) {
    if (decision.fate == Fate::kReadable) return;
    complete(account);
    totals_.duplicates += {1, packet.size};
    return hand_over(account);
  }
  if (state == State::kGone) {
    // Reported as lost, or not at all, and here it is.
    ++packets_.count().packets;
    account.size = 0;
  } else if (state == State::kLost && chain == nullptr) {
    std::erase_if(record->lost, [&](const LostEntry& lost) { return lost.fragment == index; });
  }
  state = State::kRead;
  if (chain != nullptr) {
    account.last_chunk =
        std::max(account.last_chunk,
                 account.first_chunk + Distance(packet.place.first_chunk, packet.place.last_chunk));
    packets_.Touch(id);
  }
  packets_.count().bytes += packet.size - account.size;  // modulo 2^64: it may have shrunk
  complete(account);
  Report(account);
  hand_over(account);
}

}  // namespace ringscope::ledger
