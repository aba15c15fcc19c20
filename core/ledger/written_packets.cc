#include "core/ledger/written_packets.h"

#include <algorithm>

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

auto WrittenPackets::SequenceOf(SequenceKey key) -> Sequence& {
  uint32_t slot = slots_.Find(key);
  if (slot == KeyIndex::kNone) {
    slot = static_cast<uint32_t>(sequences_.size());
    slots_.Insert(key, slot);
    sequences_.emplace_back().key = key;
  }
  return sequences_[slot];
}

auto WrittenPackets::FindSequence(SequenceKey key) const -> const Sequence* {
  const uint32_t slot = slots_.Find(key);
  return slot == KeyIndex::kNone ? nullptr : &sequences_[slot];
}

/// Looks up what is known of the chunk of a commit that the buffer (or the service) has answered.
auto WrittenPackets::Begin(const ChunkCommit& commit) -> Arrival {
  ReadWrittenChunk(commit, chunk_);
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
  return {.commit = commit,
          .key = key,
          .sequence = sequence,
          .record = record,
          .known = record.entries.size(),
          .is_new = is_new};
}

void WrittenPackets::End(const Arrival& arrival) {
  ChunkRecord& record = arrival.record;
  if (arrival.known <= chunk_.fragments.size()) AddEnd(arrival);
  record.bytes = std::max(record.bytes, chunk_.bytes);
  record.complete |= arrival.commit.complete;
  record.unfinished_bytes = record.complete ? 0 : chunk_.unfinished_bytes;
  if (!record.complete) record.prefix_hash = HashOf(arrival.commit.payload.first(chunk_.bytes));
  LinkNeighbours(arrival);
  if (record.complete) arrival.sequence.completed.Insert(record.id);
}

/// A chunk that is re-committed may only have grown.
void WrittenPackets::CompareWithRecord(const ChunkCommit& commit, ChunkRecord& record) const {
  const size_t common = std::min(record.entries.size(), chunk_.fragments.size());
  bool same = true;
  for (size_t i = 0; i < common; ++i) {
    const Entry& before = record.entries[i];
    const WrittenFragment& now = chunk_.fragments[i];
    same &= before.offset == now.offset && before.size == now.size && before.kind == now.kind;
  }
  if (!record.complete && record.bytes <= chunk_.bytes)
    same &= HashOf(commit.payload.first(record.bytes)) == record.prefix_hash;
  if (!same) record.taint = Cause::kResent;
}

void WrittenPackets::AddFragments(const Arrival& arrival, uint32_t consumed) {
  ChunkRecord& record = arrival.record;
  const Bytes payload = arrival.commit.payload;
  if (arrival.is_new || chunk_.fragments.size() > arrival.known) record.written = now_;
  for (size_t i = arrival.known; i < chunk_.fragments.size(); ++i) {
    const WrittenFragment& fragment = chunk_.fragments[i];
    Entry& entry = record.entries.emplace_back();
    entry.offset = fragment.offset;
    entry.size = fragment.size;
    entry.kind = fragment.kind;
    const bool accounted = fragment.offset < consumed;
    if (accounted) entry.state = State::kGone;
    if (entry.kind == FragmentKind::kWhole) {
      if (entry.size == 0)
        entry.state = State::kGone;
      else if (!accounted)
        Count(entry.size);
      continue;
    }
    if (accounted) {
      entry.kind = FragmentKind::kWhole;
      continue;
    }
    if (IsPieceOfPrevious(entry.kind)) LinkFront(arrival, i, payload);
    if (IsPieceOfNext(entry.kind)) LinkBack(arrival, i, payload);
  }
}

/// What follows the fragments: the marker of an aborted packet, or bytes that make no sense.
void WrittenPackets::AddEnd(const Arrival& arrival) {
  ChunkRecord& record = arrival.record;
  if (chunk_.end == ChunkEnd::kClean || record.entries.size() > chunk_.fragments.size()) return;
  const size_t index = record.entries.size();
  Entry& entry = record.entries.emplace_back();
  entry.offset = chunk_.bytes;
  entry.size = chunk_.broken_bytes;
  entry.state = State::kGone;
  const bool aborted = chunk_.end == ChunkEnd::kAborted;
  const Loss loss = aborted ? Loss{.fate = Fate::kWriterDropped, .cause = Cause::kAborted}
                            : Loss{.fate = Fate::kCorrupted, .cause = Cause::kBrokenSize};
  // It can be a piece of a packet like any other.
  entry.kind = KindAt(index, (chunk_.flags & kLastContinues) != 0, chunk_.flags);
  if (IsPieceOfPrevious(entry.kind)) {
    LinkFront(arrival, index, {});
    losses_.LoseChain(record.head, loss);
  }
  if (IsPieceOfNext(entry.kind)) {
    LinkBack(arrival, index, {});
    losses_.LoseChain(record.tail, loss);
  }
  if (entry.kind != FragmentKind::kWhole) return;
  if (!aborted && entry.size == 0) return;
  PacketAccount account = AccountOf(arrival.sequence.key, record, index);
  Count(entry.size);
  losses_.AddLost(account, loss);
}

PacketAccount WrittenPackets::AccountOf(SequenceKey sequence, const ChunkRecord& record,
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

bool WrittenPackets::Begins(const Entry& entry, const ChunkRecord& record) {
  if (entry.kind == FragmentKind::kWhole || entry.kind == FragmentKind::kBegin) return true;
  if (record.head == kNoChain) return false;
  const PacketAccount& account = chains_[record.head].account;
  return account.first_chunk == record.id && account.first_offset == entry.offset;
}

ChainId WrittenPackets::StartChain(const Arrival& arrival, size_t index, Bytes payload) {
  const ChainId id = chains_.New();
  Chain& chain = chains_[id];
  chain.account = AccountOf(arrival.sequence.key, arrival.record, index);
  chain.account.size = 0;
  chain.account.facts = ReadPacketFacts(ContentOf(payload, arrival.record.entries[index]));
  Count(0);
  return id;
}

void WrittenPackets::AddPiece(ChainId id, const ChunkRecord& record, size_t index) {
  Chain& chain = chains_[id];
  if (!chain.told()) {
    chain.account.last_chunk = record.id;
    chain.account.size += record.entries[index].size;
    count_.bytes += record.entries[index].size;
    chain.account.written = now_;
  }
  if (!chain.taint) chain.taint = record.taint;
  ++chain.pieces;
  chain.pieces_held += record.held ? 1 : 0;
  chain.pieces_unpatched += record.needs_patch ? 1 : 0;
  ++chain.refs;
  touched_.push_back(id);
}

/// Two chains turn out to be one packet. What was told of one stands for both.
void WrittenPackets::Join(ChainId earlier, ChainId later) {
  const Chain& a = chains_[earlier];
  const Chain& b = chains_[later];
  if (!a.told() || !b.told()) {
    --count_.packets;
    if (a.told()) count_.bytes -= b.account.size;
    if (b.told()) count_.bytes -= a.account.size;
  }
  chains_.Merge(earlier, later);
  touched_.push_back(earlier);
}

bool WrittenPackets::IsCommitted(const Sequence& sequence, uint64_t key, uint64_t id) const {
  if (sequence.completed.Contains(id)) return true;
  const auto record = records_.find(key);
  return record != records_.end() && record->second.complete;
}

/// Nothing before the chain continues it.
void WrittenPackets::CloseFront(ChainId id) {
  chains_[id].front_closed = true;
  losses_.LoseChain(id, {.fate = Fate::kCut, .cause = Cause::kBrokenChain});
}

/// Nothing behind the chain continues it.
void WrittenPackets::CloseBack(ChainId id) {
  chains_[id].back_closed = true;
  losses_.LoseChain(id, {.fate = Fate::kCut, .cause = Cause::kBrokenChain});
}

/// The chunk's first fragment goes on with a packet of the previous chunk.
void WrittenPackets::LinkFront(const Arrival& arrival, size_t index, Bytes payload) {
  const auto& [commit, key, sequence, record, known, is_new] = arrival;
  ChainId id = chains_.TakeAwaitingNext(key);
  const bool is_start = id == kNoChain;
  if (is_start) id = StartChain(arrival, index, payload);
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
void WrittenPackets::LinkBack(const Arrival& arrival, size_t index, Bytes payload) {
  const auto& [commit, key, sequence, record, known, is_new] = arrival;
  ChainId id = record.head;
  if (record.entries[index].kind == FragmentKind::kBegin) {
    id = StartChain(arrival, index, payload);
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
void WrittenPackets::LinkNeighbours(const Arrival& arrival) {
  const auto& [commit, key, sequence, record, known, is_new] = arrival;
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
void WrittenPackets::SetPieces(ChunkRecord& record, bool held, bool needs_patch) {
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

auto WrittenPackets::Forget(Records::iterator found) -> std::vector<ChainId> {
  const ChunkRecord& record = found->second;
  std::vector<ChainId> held;
  if (record.head != kNoChain) held.push_back(record.head);
  // One fragment that fills the chunk is one piece, at both ends.
  const bool same_piece =
      !record.entries.empty() && record.entries.front().kind == FragmentKind::kContinue;
  if (record.tail != kNoChain && !same_piece) held.push_back(record.tail);
  records_.erase(found);
  return held;
}

/// Patches may overwrite the size of a fragment, so that the chunk falls into other fragments.
/// Sizes that only change are taken over; where the fragments do not fit any more, the writer has
/// broken the chunk.
void WrittenPackets::CheckSizes(ChunkRecord& record, Bytes payload, const ChunkPatches& patches) {
  const auto size = static_cast<uint32_t>(payload.size());
  const auto offset_of = [&](size_t index) { return record.entries[index].offset; };
  const auto check = [&](size_t index) {
    const Entry& entry = record.entries[index];
    Fragment fragment;
    const FragmentStatus status = ReadFragment(payload.data(), size, entry.offset, fragment);
    if (status != FragmentStatus::kFragment || fragment.size() != entry.size)
      record.taint = Cause::kBrokenSize;
  };
  for (const Patch& patch : patches.patches)
    VisitPatchedSizes(patch, record.entries.size(), offset_of, check);
}

}  // namespace ringscope::ledger
