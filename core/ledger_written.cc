// What was written: how commits become packets, as if the buffer were endless.

#include <algorithm>

#include "core/ledger_buffer.h"

namespace ringscope::ledger {
namespace {

/// Tells bytes from other bytes; no more.
uint64_t HashOf(Bytes bytes) {
  uint64_t hash = 0x9E3779B97F4A7C15ull ^ bytes.size();
  for (const uint8_t byte : bytes) hash = (hash ^ byte) * 0x100000001B3ull;
  return hash;
}

bool IsPieceOfPrevious(FragmentKind kind) {
  return kind == FragmentKind::kContinue || kind == FragmentKind::kEnd;
}
bool IsPieceOfNext(FragmentKind kind) {
  return kind == FragmentKind::kContinue || kind == FragmentKind::kBegin;
}

FragmentKind KindAt(size_t index, bool on_next, uint8_t flags) {
  const bool from_previous = index == 0 && (flags & kFirstContinues) != 0;
  if (from_previous) return on_next ? FragmentKind::kContinue : FragmentKind::kEnd;
  return on_next ? FragmentKind::kBegin : FragmentKind::kWhole;
}

Bytes ContentOf(Bytes payload, const Entry& entry) {
  Fragment fragment;
  const auto size = static_cast<uint32_t>(payload.size());
  if (ReadFragment(payload.data(), size, entry.offset, fragment) != FragmentStatus::kFragment)
    return {};
  return payload.subspan(fragment.body, fragment.size());
}

}  // namespace

auto BufferLedger::SequenceOf(SequenceKey key) -> Sequence& {
  uint32_t slot = slots_.Find(key);
  if (slot == KeyIndex::kNone) {
    slot = static_cast<uint32_t>(sequences_.size());
    slots_.Insert(key, slot);
    sequences_.emplace_back().key = key;
  }
  return sequences_[slot];
}

/// Merges a commit that the buffer (or the service) has answered into what is known of its chunk.
void BufferLedger::Arrive(const ChunkCommit& commit) {
  ReadWrittenChunk(commit, written_);
  Sequence& sequence = SequenceOf(commit.sequence);
  const uint64_t key = ChunkName{commit.sequence, commit.chunk}.Packed();
  const auto [entry, is_new] = records_.try_emplace(key);
  ChunkRecord& record = entry->second;
  if (is_new) {
    record.id = sequence.known ? Unwrap(sequence.newest, commit.chunk) : Raw(commit.chunk);
    // A chunk that was committed whole has left the ledger: this is something else under its id.
    if (sequence.completed.Contains(record.id)) record.taint = Cause::kResent;
  } else {
    CompareWithRecord(commit, record);
  }
  sequence.newest = sequence.known ? std::max(sequence.newest, record.id) : record.id;
  sequence.known = true;

  if (outcome_ == Outcome::kCommitted || outcome_ == Outcome::kRewritten)
    SetPieces(record, true, engine_needs_patch_);
  if (outcome_ == Outcome::kCommitted) Revive(record, consumed_);
  const size_t known = record.entries.size();
  if (is_new || written_.fragments.size() > known) record.written = now_;
  AddFragments(key, sequence, record, commit.payload);
  if (outcome_ == Outcome::kRefused) LoseFrom(key, record, known, refusal_, commit.payload);
  if (known <= written_.fragments.size()) AddEnd(key, sequence, record);

  record.bytes = std::max(record.bytes, written_.bytes);
  record.complete |= commit.complete;
  record.unfinished_bytes = record.complete ? 0 : written_.unfinished_bytes;
  if (!record.complete) record.prefix_hash = HashOf(commit.payload.first(written_.bytes));
  LinkNeighbours(key, sequence, record);
  if (record.complete) sequence.completed.Insert(record.id);
  touched_.push_back(key);
}

/// A chunk that comes again may only have grown.
void BufferLedger::CompareWithRecord(const ChunkCommit& commit, ChunkRecord& record) const {
  const size_t common = std::min(record.entries.size(), written_.fragments.size());
  bool same = true;
  for (size_t i = 0; i < common; ++i) {
    const Entry& before = record.entries[i];
    const WrittenFragment& now = written_.fragments[i];
    same &= before.offset == now.offset && before.size == now.size && before.kind == now.kind;
  }
  if (!record.complete && record.bytes <= written_.bytes)
    same &= HashOf(commit.payload.first(record.bytes)) == record.prefix_hash;
  if (!same) record.taint = Cause::kResent;
}

/// Adds the fragments that are not known yet.
void BufferLedger::AddFragments(uint64_t key, const Sequence& sequence, ChunkRecord& record,
                                Bytes payload) {
  for (size_t i = record.entries.size(); i < written_.fragments.size(); ++i) {
    const WrittenFragment& fragment = written_.fragments[i];
    Entry& entry = record.entries.emplace_back();
    entry.offset = fragment.offset;
    entry.size = fragment.size;
    entry.kind = fragment.kind;
    const bool accounted = outcome_ == Outcome::kCommitted && fragment.offset < consumed_;
    if (accounted) entry.state = State::kGone;
    if (entry.kind == FragmentKind::kWhole) {
      if (entry.size == 0)
        entry.state = State::kGone;
      else if (!accounted)
        CountWritten(entry.size);
      continue;
    }
    if (accounted) {
      entry.kind = FragmentKind::kWhole;
      continue;
    }
    if (IsPieceOfPrevious(entry.kind)) LinkFront(key, sequence, record, i, payload);
    if (IsPieceOfNext(entry.kind)) LinkBack(key, sequence, record, i, payload);
  }
}

/// What stands behind the fragments: the marker of an aborted packet, or bytes that make no sense.
void BufferLedger::AddEnd(uint64_t key, const Sequence& sequence, ChunkRecord& record) {
  if (written_.end == ChunkEnd::kClean || record.entries.size() > written_.fragments.size()) return;
  const size_t index = record.entries.size();
  Entry& entry = record.entries.emplace_back();
  entry.offset = written_.bytes;
  entry.size = written_.broken_bytes;
  entry.state = State::kGone;
  const bool aborted = written_.end == ChunkEnd::kAborted;
  const Loss loss = aborted ? Loss{.fate = Fate::kWriterDropped, .cause = Cause::kAborted}
                            : Loss{.fate = Fate::kCorrupted, .cause = Cause::kBrokenSize};
  // It can be a piece of a packet like any other.
  entry.kind = KindAt(index, (written_.flags & kLastContinues) != 0, written_.flags);
  if (IsPieceOfPrevious(entry.kind)) {
    LinkFront(key, sequence, record, index, {});
    DoomChain(record.head, loss);
  }
  if (IsPieceOfNext(entry.kind)) {
    LinkBack(key, sequence, record, index, {});
    DoomChain(record.tail, loss);
  }
  if (entry.kind != FragmentKind::kWhole) return;
  if (!aborted && entry.size == 0) return;
  PacketAccount account = AccountOf(sequence.key, record, index);
  account.fate = loss.fate;
  account.cause = loss.cause;
  account.decided = now_;
  CountWritten(entry.size);
  Tell(account);
}

ChainId BufferLedger::StartChain(const Sequence& sequence, const ChunkRecord& record, size_t index,
                                 Bytes payload) {
  const ChainId id = chains_.New();
  Chain& chain = chains_[id];
  chain.account = AccountOf(sequence.key, record, index);
  chain.account.size = 0;
  chain.account.facts = ReadPacketFacts(ContentOf(payload, record.entries[index]));
  CountWritten(0);
  return id;
}

void BufferLedger::AddPiece(ChainId id, const ChunkRecord& record, size_t index) {
  Chain& chain = chains_[id];
  if (!chain.told()) {
    chain.account.last_chunk = record.id;
    chain.account.size += record.entries[index].size;
    totals_.written.bytes += record.entries[index].size;
    chain.account.written = now_;
  }
  if (!chain.taint) chain.taint = record.taint;
  ++chain.pieces;
  chain.pieces_held += record.held ? 1 : 0;
  chain.pieces_unpatched += record.needs_patch ? 1 : 0;
  ++chain.refs;
  touched_chains_.push_back(id);
}

/// Two chains turn out to be one packet. What was told of one stands for both.
void BufferLedger::Join(ChainId earlier, ChainId later) {
  const Chain& a = chains_[earlier];
  const Chain& b = chains_[later];
  if (!a.told() || !b.told()) {
    --totals_.written.packets;
    if (a.told()) totals_.written.bytes -= b.account.size;
    if (b.told()) totals_.written.bytes -= a.account.size;
  }
  chains_.Merge(earlier, later);
  touched_chains_.push_back(earlier);
}

bool BufferLedger::IsCommitted(const Sequence& sequence, uint64_t key, uint64_t id) const {
  if (sequence.completed.Contains(id)) return true;
  const auto record = records_.find(key);
  return record != records_.end() && record->second.complete;
}

/// Nothing before the chain continues it.
void BufferLedger::CloseFront(ChainId id) {
  chains_[id].front_closed = true;
  DoomChain(id, {.fate = Fate::kCut, .cause = Cause::kBrokenChain});
}

/// Nothing behind the chain continues it.
void BufferLedger::CloseBack(ChainId id) {
  chains_[id].back_closed = true;
  DoomChain(id, {.fate = Fate::kCut, .cause = Cause::kBrokenChain});
}

/// The chunk's first fragment goes on with a packet of the previous chunk.
void BufferLedger::LinkFront(uint64_t key, const Sequence& sequence, ChunkRecord& record,
                             size_t index, Bytes payload) {
  ChainId id = chains_.TakeAwaitingNext(key);
  const bool is_start = id == kNoChain;
  if (is_start) id = StartChain(sequence, record, index, payload);
  record.head = id = chains_.Find(id);
  AddPiece(id, record, index);
  if (is_start) {
    if (IsCommitted(sequence, PreviousKey(key), record.id - 1))
      CloseFront(id);
    else
      chains_.AwaitPrevious(PreviousKey(key), id);
  }
  if (record.entries[index].kind == FragmentKind::kEnd) {
    chains_[id].has_end = chains_[id].back_closed = true;
  }
}

/// The chunk's last fragment goes on in the next chunk.
void BufferLedger::LinkBack(uint64_t key, const Sequence& sequence, ChunkRecord& record,
                            size_t index, Bytes payload) {
  ChainId id = record.head;
  if (record.entries[index].kind == FragmentKind::kBegin) {
    id = StartChain(sequence, record, index, payload);
    AddPiece(id, record, index);
    chains_[id].has_begin = chains_[id].front_closed = true;
  }
  record.tail = id = chains_.Find(id);
  const ChainId rest = chains_.TakeAwaitingPrevious(key);
  if (rest != kNoChain) {
    return Join(id, rest);
  }
  const auto next = records_.find(NextKey(key));
  const bool next_begins_anew = next != records_.end() && !next->second.entries.empty();
  if (next_begins_anew || IsCommitted(sequence, NextKey(key), record.id + 1))
    CloseBack(id);
  else
    chains_.AwaitNext(NextKey(key), id);
}

/// Neighbours that wait for this chunk in vain; a chunk without fragments is passed over.
void BufferLedger::LinkNeighbours(uint64_t key, const Sequence& sequence,
                                  const ChunkRecord& record) {
  if (!record.entries.empty()) {
    const ChainId before = chains_.TakeAwaitingNext(key);
    if (before != kNoChain) CloseBack(before);
    const ChainId behind =
        record.complete && record.tail == kNoChain ? chains_.TakeAwaitingPrevious(key) : kNoChain;
    if (behind != kNoChain) CloseFront(behind);
    return;
  }
  if (!record.complete) return;
  const ChainId before = chains_.TakeAwaitingNext(key);
  const ChainId behind = chains_.TakeAwaitingPrevious(key);
  if (before != kNoChain && behind != kNoChain) {
    Join(before, behind);
  } else if (before != kNoChain) {
    if (IsCommitted(sequence, NextKey(key), record.id + 1))
      CloseBack(before);
    else
      chains_.AwaitNext(NextKey(key), before);
  } else if (behind != kNoChain) {
    if (IsCommitted(sequence, PreviousKey(key), record.id - 1))
      CloseFront(behind);
    else
      chains_.AwaitPrevious(PreviousKey(key), behind);
  }
}

/// The chunk comes into the buffer or leaves it, or has got all its patches.
void BufferLedger::SetPieces(ChunkRecord& record, bool held, bool needs_patch) {
  const auto update = [&](ChainId id) {
    Chain& chain = chains_[id];
    chain.pieces_held += (held ? 1 : 0) - (record.held ? 1 : 0);
    chain.pieces_unpatched += (needs_patch ? 1 : 0) - (record.needs_patch ? 1 : 0);
  };
  if (record.head != kNoChain) update(record.head);
  // One fragment that fills the chunk is one piece, at both ends.
  const bool same_piece =
      !record.entries.empty() && record.entries.front().kind == FragmentKind::kContinue;
  if (record.tail != kNoChain && !same_piece) update(record.tail);
  record.held = held;
  record.needs_patch = needs_patch;
}

/// Patches may overwrite the size of a fragment, so that the chunk falls into other fragments.
/// Sizes that only change are taken over; where the fragments do not fit any more, the writer has
/// broken the chunk.
void BufferLedger::CheckSizes(ChunkRecord& record, Bytes payload, const ChunkPatches& patches) {
  const auto size = static_cast<uint32_t>(payload.size());
  for (const Entry& entry : record.entries) {
    const bool hit =
        std::any_of(patches.patches.begin(), patches.patches.end(), [&](const Patch& patch) {
          constexpr uint64_t kMaxVarint = 10;
          return patch.offset < entry.offset + kMaxVarint &&
                 entry.offset < patch.offset + kPatchSize;
        });
    if (!hit) continue;
    Fragment fragment;
    const FragmentStatus status = ReadFragment(payload.data(), size, entry.offset, fragment);
    if (status != FragmentStatus::kFragment || fragment.size() != entry.size)
      record.taint = Cause::kBrokenSize;
  }
}

}  // namespace ringscope::ledger
