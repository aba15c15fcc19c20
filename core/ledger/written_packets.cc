#include "core/ledger/written_packets.h"

#include <xxhash.h>

namespace ringscope::ledger {
ChainId Chains::New() {
  if (!free_.empty()) {
    const ChainId id = free_.back();
    free_.pop_back();
    chains_[id] = Chain{};
    return id;
  }
  chains_.emplace_back();
  return static_cast<ChainId>(chains_.size() - 1);
}

ChainId Chains::Find(ChainId id) {
  path_.clear();
  for (; chains_[id].merged_into != kNoChain; id = chains_[id].merged_into) path_.push_back(id);
  passed_ += path_.size();
  // The signposts on the way point to the end from now on, so that none is passed often. Each is
  // held by those that point to it: from the far end, as the last to point may free it.
  for (size_t i = path_.size(); i-- > 1;) {
    const ChainId passed = path_[i];
    chains_[path_[i - 1]].merged_into = id;
    ++chains_[id].refs;
    Release(passed);
  }
  return id;
}

void Chains::AwaitNext(ChunkName chunk, ChainId id) {
  id = Find(id);
  awaiting_next_[chunk] = id;
  chains_[id].awaits_next = chunk;
}

void Chains::AwaitPrevious(ChunkName chunk, ChainId id) { awaiting_previous_[chunk] = Find(id); }

ChainId Chains::Take(Waiting& waiting, ChunkName chunk) {
  const auto found = waiting.find(chunk);
  if (found == waiting.end()) return kNoChain;
  const ChainId id = found->second;
  waiting.erase(found);
  return id;
}

void Chains::Free(ChainId id) {
  chains_[id] = Chain{};
  chains_[id].state = State::kGone;
  free_.push_back(id);
}

void Chains::Release(ChainId id) {
  // A chain that was merged stays as a signpost until its own records are gone.
  while (true) {
    Chain& chain = chains_[id];
    --chain.refs;
    const ChainId into = chain.merged_into;
    if (into == kNoChain || chain.refs > 0) return;
    Free(id);
    id = into;
  }
}

void Chains::Merge(ChainId earlier, ChainId later) {
  earlier = Find(earlier);
  later = Find(later);
  if (earlier == later) return;
  Chain& a = chains_[earlier];
  Chain& b = chains_[later];
  a.account.last_chunk = b.account.last_chunk;
  a.account.size += b.account.size;
  if (b.account.written.record > a.account.written.record) a.account.written = b.account.written;
  a.has_end = b.has_end;
  a.back_closed = b.back_closed;
  if (!b.back_closed) AwaitNext(b.awaits_next, earlier);
  a.abandoned_at_end |= b.abandoned_at_end;
  if (!a.violation) a.violation = b.violation;
  a.fragments += b.fragments;
  a.fragments_held += b.fragments_held;
  a.fragments_unpatched += b.fragments_unpatched;
  if (b.reported() && !a.reported()) a.state = b.state;
  // The first event after which it could not be delivered counts.
  const bool b_first =
      b.state == State::kLost &&
      (a.state == State::kLive ||
       (a.state == State::kLost && b.account.decided.record < a.account.decided.record));
  if (b_first) {
    a.state = State::kLost;
    static_cast<Decision&>(a.account) = b.account;
  }
  b.merged_into = earlier;
  b.state = State::kGone;
  if (b.refs > 0)
    ++a.refs;  // by the signpost
  else
    Free(later);
}

namespace {

/// Wrong patches of a chunk that are remembered.
constexpr size_t kMaxWrongPatches = 64;

uint64_t HashOf(Bytes bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

bool ContinuesPrevious(FragmentKind kind) {
  return kind == FragmentKind::kContinue || kind == FragmentKind::kEnd;
}
bool ContinuesInNext(FragmentKind kind) {
  return kind == FragmentKind::kContinue || kind == FragmentKind::kBegin;
}

FragmentKind KindAt(size_t index, bool on_next, uint8_t flags) {
  const bool from_previous = index == 0 && (flags & kFirstContinues) != 0;
  if (from_previous) return on_next ? FragmentKind::kContinue : FragmentKind::kEnd;
  return on_next ? FragmentKind::kBegin : FragmentKind::kWhole;
}

}  // namespace

/// Looks up what is known of the chunk of a commit that the buffer (or the service) has answered.
auto WrittenPackets::Begin(const WrittenCommit& written) -> Arrival {
  const ChunkCommit& commit = written.commit();
  Sequence& sequence = sequences_[commit.sequence];
  const ChunkName key{commit.sequence, commit.chunk};
  const auto [record, is_new] = records_.Add(key);
  if (is_new) {
    record.id = sequence.ids.Of(commit.chunk);
    // A chunk that was committed whole has left the ledger: this is something else under its id.
    if (sequence.completed.Contains(record.id)) record.violation = Cause::kResent;
  }
  const bool was_whole = is_new ? record.violation.has_value() : record.complete;
  const bool differs = !is_new && CompareWithRecord(written, record);
  sequence.ids.AddNumber(record.id);
  sequence.first = std::min(sequence.first, record.id);
  return {.written = written,
          .commit = commit,
          .key = key,
          .sequence = sequence,
          .record = record,
          .known = record.entries.size(),
          .is_new = is_new,
          .differs = differs,
          .is_reused = was_whole && (is_new || differs),
          .preceded = std::exchange(sequence.committed, now_)};
}

void WrittenPackets::End(const Arrival& arrival) {
  const WrittenChunk& chunk = arrival.written.chunk();
  ChunkRecord& record = arrival.record;
  if (arrival.known <= chunk.fragments.size()) AddEnd(arrival);
  if (arrival.is_new || chunk.bytes > record.bytes) {
    record.bytes = chunk.bytes;
    record.hash = HashOf(arrival.commit.payload.first(chunk.bytes));
  }
  record.complete |= arrival.commit.complete;
  record.unfinished_bytes = record.complete ? 0 : chunk.unfinished_bytes;
  LinkNeighbours(arrival);
  if (record.complete) arrival.sequence.completed.Insert(record.id);
}

/// A chunk that is re-committed may only have grown. @return true if it has other bytes than before
bool WrittenPackets::CompareWithRecord(const WrittenCommit& written, ChunkRecord& record) {
  const WrittenChunk& chunk = written.chunk();
  const size_t common = std::min(record.entries.size(), chunk.fragments.size());
  bool same = true;
  for (size_t i = 0; i < common; ++i) {
    const Entry& before = record.entries[i];
    const WrittenFragment& now = chunk.fragments[i];
    same &= before.offset == now.offset && before.size == now.size && before.kind == now.kind;
  }
  const bool is_shorter = chunk.bytes < record.bytes;
  const bool differs =
      is_shorter ? !same : HashOf(written.commit().payload.first(record.bytes)) != record.hash;
  if (!same || (!record.complete && !is_shorter && differs)) record.violation = Cause::kResent;
  return differs;
}

void WrittenPackets::LoseInPlace(const Arrival& arrival, size_t fragment, const Decision& loss) {
  const std::vector<WrittenFragment>& fragments = arrival.written.chunk().fragments;
  if (fragment >= std::min(arrival.known, fragments.size())) return;
  const WrittenFragment& lost = fragments[fragment];
  if (lost.kind != FragmentKind::kWhole || lost.size == 0) return;
  PacketAccount account = AccountOf(arrival.commit.sequence, arrival.record, fragment);
  account.first_offset = lost.offset;
  account.size = lost.size;
  account.written = now_;
  account.facts = FactsAt(arrival.commit.payload, lost.offset);
  Count(lost.size);
  losses_.AddLost(account, loss);
}

void WrittenPackets::AddFragments(const Arrival& arrival, uint32_t consumed) {
  const WrittenChunk& chunk = arrival.written.chunk();
  ChunkRecord& record = arrival.record;
  if (arrival.is_new || chunk.fragments.size() > arrival.known) record.written = now_;
  if (arrival.is_new) record.entries.reserve(chunk.fragments.size() + 1);
  for (size_t i = arrival.known; i < chunk.fragments.size(); ++i) {
    const WrittenFragment& fragment = chunk.fragments[i];
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
    if (ContinuesPrevious(entry.kind)) LinkFront(arrival, i);
    if (ContinuesInNext(entry.kind)) LinkBack(arrival, i);
  }
}

/// What follows the fragments: the marker of an aborted packet, or bytes that make no sense.
void WrittenPackets::AddEnd(const Arrival& arrival) {
  const WrittenChunk& chunk = arrival.written.chunk();
  ChunkRecord& record = arrival.record;
  if (chunk.end == ChunkEnd::kClean || record.entries.size() > chunk.fragments.size()) return;
  const size_t index = record.entries.size();
  Entry& entry = record.entries.emplace_back();
  entry.offset = chunk.bytes;
  entry.size = chunk.broken_bytes;
  entry.state = State::kGone;
  const bool aborted = chunk.end == ChunkEnd::kAborted;
  const Decision loss =
      aborted ? Decision{.cause = Cause::kAborted} : Decision{.cause = Cause::kBrokenSize};
  // It can be a fragment of a packet like any other.
  entry.kind = KindAt(index, (chunk.flags & kLastContinues) != 0, chunk.flags);
  if (ContinuesPrevious(entry.kind)) {
    LinkFront(arrival, index);
    losses_.LoseChain(record.head, loss);
  }
  if (ContinuesInNext(entry.kind)) {
    LinkBack(arrival, index);
    losses_.LoseChain(record.tail, loss);
  }
  if (entry.kind != FragmentKind::kWhole) return;
  if (!aborted && entry.size == 0) return;
  PacketAccount account = AccountOf(arrival.commit.sequence, record, index);
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
  account.waits_for = record.blocked_by;
  return account;
}

LogMoment WrittenPackets::BrokenAt(const ChunkRecord& record) {
  for (const WrongPatch& patch : record.wrong_patches)
    if (!patch.fragment) return patch.at;
  return {};
}

bool WrittenPackets::Begins(const Entry& entry, const ChunkRecord& record) {
  if (entry.kind == FragmentKind::kWhole || entry.kind == FragmentKind::kBegin) return true;
  if (record.head == kNoChain) return false;
  const PacketAccount& account = chains_[record.head].account;
  return account.first_chunk == record.id && account.first_offset == entry.offset;
}

ChainId WrittenPackets::StartChain(const Arrival& arrival, size_t index) {
  const ChainId id = chains_.New();
  Chain& chain = chains_[id];
  chain.account = AccountOf(arrival.commit.sequence, arrival.record, index);
  chain.account.size = 0;
  chain.account.in_fragments = true;
  chain.preceded = arrival.preceded;
  // In the middle of a packet nothing can be read.
  if (arrival.record.entries[index].kind == FragmentKind::kBegin)
    chain.account.facts = FactsAt(
        arrival.commit.payload, arrival.record.entries[index].offset,
        (arrival.commit.flags & kNeedsPatching) != 0 ? SizesAre::kMissing : SizesAre::kThere);
  Count(0);
  return id;
}

void WrittenPackets::AddToChain(ChainId id, const ChunkRecord& record, size_t index) {
  Chain& chain = chains_[id];
  if (!chain.reported()) {
    chain.account.last_chunk = record.id;
    chain.account.size += record.entries[index].size;
    count_.bytes += record.entries[index].size;
    chain.account.written = now_;
  }
  if (!chain.violation) chain.violation = record.violation;
  ++chain.fragments;
  chain.fragments_held += record.held ? 1 : 0;
  chain.fragments_unpatched += record.needs_patch ? 1 : 0;
  ++chain.refs;
  touched_.push_back(id);
}

/// Two chains are really one packet. What was reported of one counts for both.
void WrittenPackets::Join(ChainId earlier, ChainId later) {
  const Chain& a = chains_[earlier];
  const Chain& b = chains_[later];
  if (!a.reported() || !b.reported()) {
    --count_.packets;
    if (a.reported()) count_.bytes -= b.account.size;
    if (b.reported()) count_.bytes -= a.account.size;
  }
  chains_.Merge(earlier, later);
  touched_.push_back(earlier);
}

bool WrittenPackets::IsCommitted(const Sequence& sequence, ChunkName key, uint64_t id) const {
  if (sequence.completed.Contains(id)) return true;
  const ChunkRecord* record = records_.Find(key);
  return record != nullptr && record->complete;
}

/// The chain begins before this chunk: in the previous one, unless that is there already.
void WrittenPackets::OpenFront(const Arrival& arrival, ChainId id) {
  const ChunkName previous = arrival.key.Previous();
  if (IsCommitted(arrival.sequence, previous, arrival.record.id - 1))
    Close(id, &Chain::front_closed);
  else
    chains_.AwaitPrevious(previous, id);
}

/// The chain continues after this chunk: in the next one, unless that is there already.
void WrittenPackets::OpenBack(const Arrival& arrival, ChainId id) {
  const ChunkName next = arrival.key.Next();
  if (IsCommitted(arrival.sequence, next, arrival.record.id + 1))
    Close(id, &Chain::back_closed);
  else
    chains_.AwaitNext(next, id);
}

/// Nothing before the chain, or after it, continues it.
/// @param end Chain::front_closed or Chain::back_closed
void WrittenPackets::Close(ChainId id, bool Chain::*end) {
  chains_[id].*end = true;
  losses_.LoseChain(id, {.cause = Cause::kBrokenChain});
}

/// The chunk's first fragment continues a packet of the previous chunk.
void WrittenPackets::LinkFront(const Arrival& arrival, size_t index) {
  const ChunkName key = arrival.key;
  ChunkRecord& record = arrival.record;
  ChainId id = chains_.TakeAwaitingNext(key);
  const bool is_start = id == kNoChain;
  if (is_start) id = StartChain(arrival, index);
  record.head = id = chains_.Find(id);
  AddToChain(id, record, index);
  if (is_start) OpenFront(arrival, id);
  if (record.entries[index].kind == FragmentKind::kEnd) {
    chains_[id].has_end = chains_[id].back_closed = true;
  }
}

/// The chunk's last fragment continues in the next chunk.
void WrittenPackets::LinkBack(const Arrival& arrival, size_t index) {
  const ChunkName key = arrival.key;
  ChunkRecord& record = arrival.record;
  ChainId id = record.head;
  if (record.entries[index].kind == FragmentKind::kBegin) {
    id = StartChain(arrival, index);
    AddToChain(id, record, index);
    chains_[id].has_begin = chains_[id].front_closed = true;
  }
  record.tail = id = chains_.Find(id);
  const ChainId rest = chains_.TakeAwaitingPrevious(key);
  if (rest != kNoChain) {
    return Join(id, rest);
  }
  const ChunkRecord* next = records_.Find(key.Next());
  const bool next_starts_another = next != nullptr && !next->entries.empty();
  if (next_starts_another)
    Close(id, &Chain::back_closed);
  else
    OpenBack(arrival, id);
}

/// Neighbours that wait for this chunk in vain; a chunk without fragments is passed over.
void WrittenPackets::LinkNeighbours(const Arrival& arrival) {
  const ChunkName key = arrival.key;
  ChunkRecord& record = arrival.record;
  const bool is_empty = record.entries.empty();
  if (is_empty && !record.complete) return;
  const ChainId before = chains_.TakeAwaitingNext(key);
  const ChainId after =
      record.complete && record.tail == kNoChain ? chains_.TakeAwaitingPrevious(key) : kNoChain;
  if (is_empty && before != kNoChain && after != kNoChain) return Join(before, after);
  if (before != kNoChain && is_empty)
    OpenBack(arrival, before);
  else if (before != kNoChain)
    Close(before, &Chain::back_closed);
  if (after != kNoChain && is_empty)
    OpenFront(arrival, after);
  else if (after != kNoChain)
    Close(after, &Chain::front_closed);
}

/// The chains that have a fragment in the chunk, each once for each fragment.
std::array<ChainId, 2> WrittenPackets::ChainsOf(const ChunkRecord& record) {
  // One fragment that fills the chunk is both its first and its last.
  const bool one_fragment =
      !record.entries.empty() && record.entries.front().kind == FragmentKind::kContinue;
  return {record.head, one_fragment ? kNoChain : record.tail};
}

void WrittenPackets::ReadPatched(const ChunkRecord& record, Bytes payload) {
  if (record.tail == kNoChain || record.entries.empty()) return;
  PacketAccount& account = chains_[record.tail].account;
  const Entry& last = record.entries.back();
  if (account.first_chunk != record.id || account.first_offset != last.offset) return;
  account.facts = FactsAt(payload, last.offset);
}

/// The chunk enters the buffer or leaves it, or has got all its patches.
void WrittenPackets::SetHeld(ChunkRecord& record, bool held, bool needs_patch) {
  for (const ChainId id : ChainsOf(record)) {
    if (id == kNoChain) continue;
    Chain& chain = chains_[id];
    chain.fragments_held += (held ? 1 : 0) - (record.held ? 1 : 0);
    chain.fragments_unpatched += (needs_patch ? 1 : 0) - (record.needs_patch ? 1 : 0);
  }
  record.held = held;
  record.needs_patch = needs_patch;
}

std::array<ChainId, 2> WrittenPackets::Forget(ChunkName chunk) {
  const std::array<ChainId, 2> chains = ChainsOf(*records_.Find(chunk));
  records_.Erase(chunk);
  return chains;
}

/// Patches may overwrite the size of a fragment. Where the fragments do not fit any more, the
/// writer has broken the chunk. Only its last fragment is to be patched: the packet continues in
/// the next.
bool WrittenPackets::CheckPatches(ChunkRecord& record, Bytes payload, const ChunkPatches& patches) {
  const auto offset_of = [&](size_t index) {
    ++compared_;
    return record.entries[index].offset;
  };
  bool any = false;
  const auto note = [&](const WrongPatch& patch) {
    any = true;
    if (record.wrong_patches.size() < kMaxWrongPatches) record.wrong_patches.push_back(patch);
  };
  const auto check = [&](size_t index) {
    const Entry& entry = record.entries[index];
    const auto body = BodyAt(payload, entry.offset);
    if (body && body->size() == entry.size) return;
    record.violation = Cause::kBrokenSize;
    note({.fragment = {}, .at = now_});
  };
  for (const Patch& patch : patches.patches) {
    VisitPatchedSizes(patch, record.entries.size(), offset_of, check);
    const auto after = std::upper_bound(record.entries.begin(), record.entries.end(), patch.offset,
                                        [&](uint64_t offset, const Entry& entry) {
                                          ++compared_;
                                          return offset < entry.offset;
                                        });
    if (after == record.entries.begin() || after == record.entries.end()) continue;
    note({static_cast<size_t>(after - record.entries.begin()) - 1, now_});
  }
  return any;
}

const LogMoment* WrittenPackets::WrongPatchOf(const PacketAccount& account) const {
  const auto find = [&](uint64_t chunk, size_t fragment) -> const LogMoment* {
    const ChunkRecord* record = records_.Find({account.sequence, IdOf(chunk)});
    if (record == nullptr) return nullptr;
    for (const WrongPatch& patch : record->wrong_patches)
      if (patch.fragment == fragment) return &patch.at;
    return nullptr;
  };
  if (const LogMoment* at = find(account.first_chunk, account.fragment)) return at;
  // Of a packet in fragments, the last one is the first of its chunk.
  return account.last_chunk == account.first_chunk ? nullptr : find(account.last_chunk, 0);
}

}  // namespace ringscope::ledger
