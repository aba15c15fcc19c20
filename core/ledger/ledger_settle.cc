// Reports fates once nothing can change them any more, and at the end of the log.

#include "core/ledger/buffer_ledger.h"

namespace ringscope::ledger {
namespace {

/// Chunks that left the buffer and are remembered. What a service scrapes is re-committed with
/// the producer's next commits: no shared memory holds more chunks than this.
constexpr size_t kMaxEvicted = 8192;
/// Lost packets of these chunks that may wait to be reported. They take about 60 bytes each.
constexpr size_t kMaxEvictedPackets = 65536;

}  // namespace

void BufferLedger::Report(PacketAccount& account) {
  if (account.fate == Fate::kOverwritten)
    BlameStall(account);
  else if (account.fate != Fate::kStalled)
    account.waits_for.reset();
  const FateCount count{1, account.size};
  totals_.by_fate[account.fate] += count;
  if (account.own_fault) totals_.own_fault += count;
  sinks_.Call(&LedgerSink::OnPacketFate, account);
}

/// Blames the missing patch where the evicted packet could not have been read anyway, as its
/// sequence waited for that patch: no larger buffer would have helped then.
void BufferLedger::BlameStall(PacketAccount& account) const {
  const std::optional<ChunkName> behind = account.waits_for;
  account.waits_for.reset();
  const auto blame = [&](const PatchStalls::Blocking& chunk, Cause cause) {
    account.cause = cause;
    account.waits_for = {account.sequence, IdOf(chunk.id)};
    account.blamed = chunk.since;
  };
  const PatchStalls::Blocking* own =
      patch_stalls_.FirstIn(account.sequence, account.first_chunk, account.last_chunk);
  if (own != nullptr && (stalls_whole_chunks_ || account.in_fragments)) {
    blame(*own, Cause::kAwaitedPatch);
  } else if (behind) {
    const uint64_t id = packets_.FindSequence(account.sequence)->ids.Of(behind->chunk);
    if (const auto* chunk = patch_stalls_.FirstIn(account.sequence, id, id))
      blame(*chunk, Cause::kBehindStall);
  }
}

void BufferLedger::Settle() {
  for (const ChunkName key : touched_) SettleRecord(key);
  touched_.clear();
  packets_.TakeTouched([&](ChainId id) { SettleChain(id); });
}

void BufferLedger::SettleRecord(ChunkName key) {
  ChunkRecord* const found = packets_.records().Find(key);
  if (found == nullptr) return;
  ChunkRecord& record = *found;
  // What was lost inside the buffer, or never came into it, cannot be returned any more.
  std::erase_if(record.lost, [&](const LostEntry& lost) {
    if (LeftWithChunk(record.losses[lost.loss].fate)) return false;
    ReportLost(record, lost);
    return true;
  });
  if (record.lost.empty()) record.losses.clear();
  if (!record.held) AddEvicted(key, record);
}

/// Reports a lost packet of the chunk.
void BufferLedger::ReportLost(ChunkRecord& record, const LostEntry& lost) {
  Entry& entry = record.entries[lost.fragment];
  entry.state = State::kGone;
  PacketAccount account = record.losses[lost.loss];
  account.fragment = lost.fragment;
  account.first_offset = entry.offset;
  account.size = entry.size;
  account.facts = lost.facts;
  Report(account);
}

void BufferLedger::AddEvicted(ChunkName key, ChunkRecord& record) {
  if (record.evicted) return;
  record.evicted = true;
  evicted_.push_back(key);
  record.evicted_packets = record.lost.size();
  evicted_packets_ += record.evicted_packets;
  record.evicted_bytes = record.bytes;
  evicted_bytes_ += record.evicted_bytes;
  while (TooManyEvicted()) {
    const ChunkName next = keeps_first_ ? evicted_.back() : evicted_.front();
    if (keeps_first_)
      evicted_.pop_back();
    else
      evicted_.pop_front();
    Forget(next);
  }
}

bool BufferLedger::TooManyEvicted() const {
  if (evicted_.size() <= 1) return false;
  // If it is not known what is in the buffer, as much as fits into it may be.
  if (silent_size_) return evicted_bytes_ > *silent_size_;
  return evicted_.size() > kMaxEvicted || evicted_packets_ > kMaxEvictedPackets;
}

/// The chunk will not be re-committed: what was lost with it is reported.
void BufferLedger::Forget(ChunkName key) {
  ChunkRecord* const found = packets_.records().Find(key);
  if (found == nullptr) return;
  ChunkRecord& record = *found;
  record.evicted = false;
  evicted_packets_ -= record.evicted_packets;
  evicted_bytes_ -= record.evicted_bytes;
  if (record.held) return;
  FinishRecord(key, record);
  const uint64_t chunk = record.id;
  last_found_ = nullptr;
  for (const ChainId id : packets_.Forget(key)) {
    if (id == kNoChain) continue;
    const ChainId packet = packets_.chains().Find(id);
    packets_.chains().Release(id);
    SettleChain(packet);
  }
  sinks_.Call(&LedgerSink::OnChunkForgotten, id_, key.sequence, chunk);
}

/// Reports a lost chain once nothing can be added to it and its chunks are forgotten: until then
/// the engine may return it (V2 returns what it makes of an aborted packet's other fragments).
void BufferLedger::SettleChain(ChainId id) {
  id = packets_.chains().Find(id);
  Chain& chain = packets_.chains()[id];
  if (chain.fragments == 0 || chain.refs > 0 || !chain.closed()) return;
  if (chain.state == State::kLive && silent_size_) {
    chain.account.fate = Fate::kUnexplained;
    chain.account.cause = Cause::kUnknown;
    chain.state = State::kLost;
  }
  if (chain.state == State::kLost) ReportChain(chain);
  if (chain.state != State::kLive) packets_.chains().Free(id);
}

void BufferLedger::ReportChain(Chain& chain) {
  chain.state = State::kGone;
  if (chain.account.size == 0 && chain.account.fate != Fate::kWriterDropped)
    --packets_.count().packets;  // an empty packet is none
  else
    Report(chain.account);
}

void BufferLedger::Finish() {
  Settle();
  std::vector<std::pair<ChunkName, ChunkRecord*>> left;  // by sequence, then in order
  left.reserve(packets_.records().size());
  packets_.records().ForEach(
      [&](ChunkName chunk, ChunkRecord& record) { left.emplace_back(chunk, &record); });
  std::ranges::sort(left, {},
                    [](const auto& one) { return std::pair(one.first.sequence, one.second->id); });
  for (const auto& [chunk, record] : left) FinishRecord(chunk, *record);
  packets_.chains().VisitOpen([&](ChainId id, Chain&) { FinishChain(id); });
  totals_.written = packets_.count() - totals_.by_fate.Of(FateGroup::kDropped);
}

/// Sets what a packet that is still in the buffer waits for.
void BufferLedger::StallAccount(PacketAccount& account, bool abandoned) const {
  account.fate = Fate::kStalled;
  account.decided = account.written;
  account.waits_for.reset();
  const Stall* stall = stalls_.Find(account.sequence);
  if (abandoned || stall == nullptr) {
    account.cause = abandoned || reports_.stalls ? Cause::kAfterAbandoned : Cause::kUnknown;
    return;
  }
  account.cause = stall->cause;
  account.waits_for = stall->at;
  const ChunkRecord* record = packets_.records().Find(stall->at);
  if (record != nullptr) account.decided = record->written;
}

void BufferLedger::FinishRecord(ChunkName key, ChunkRecord& record) {
  const SequenceKey sequence = key.sequence;
  for (const LostEntry& lost : record.lost) ReportLost(record, lost);
  record.lost.clear();
  record.losses.clear();
  for (size_t i = 0; i < record.entries.size(); ++i) {
    Entry& entry = record.entries[i];
    if (entry.kind != FragmentKind::kWhole || entry.state != State::kLive) continue;
    entry.state = State::kGone;
    PacketAccount account = packets_.AccountOf(sequence, record, i);
    if (record.held) {
      StallAccount(account, entry.abandoned_at_end);
    } else {
      account.fate = Fate::kUnexplained;
      account.cause = Cause::kUnknown;
    }
    if (record.violation && !silent_size_) {
      account.fate = Fate::kCorrupted;
      account.cause = *record.violation;
    }
    Report(account);
  }
  if (record.complete || record.unfinished_bytes == 0) return;
  record.entries.push_back({.offset = record.bytes, .size = record.unfinished_bytes});
  PacketAccount account = packets_.AccountOf(sequence, record, record.entries.size() - 1);
  record.entries.back().state = State::kGone;
  account.fate = Fate::kIncomplete;
  account.cause = Cause::kScraped;
  account.decided = now_;
  packets_.count() += {1, account.size};
  Report(account);
}

/// Why the chunk before the chain, or the one after it, is not in the log.
/// @param is_start its sequence begins with the chain
Cause BufferLedger::CauseOfHole(const Chain& chain, bool is_start) const {
  const PacketAccount& account = chain.account;
  if (is_start && account.first_chunk == 0) return Cause::kNoBeginning;
  const LogMoment& first = chain.front_closed ? account.written : chain.preceded;
  const LogMoment& last = chain.front_closed ? now_ : account.written;
  if (reported_.MayExplain(first, last, account.sequence)) return Cause::kNotInLog;
  return is_start ? Cause::kBeforeLog : Cause::kNeverCommitted;
}

void BufferLedger::FinishChain(ChainId id) {
  Chain& chain = packets_.chains()[id];
  PacketAccount& account = chain.account;
  const WrittenPackets::Sequence& sequence = *packets_.FindSequence(account.sequence);
  // Chunks after the one that it continues in were committed, but that one was not.
  const bool hole_after =
      !chain.back_closed &&
      sequence.ids.newest() >
          account.last_chunk + Distance(IdOf(account.last_chunk), chain.awaits_next.chunk);
  const bool never_committed = !chain.front_closed || hole_after;
  const bool is_start = !chain.front_closed && account.first_chunk == sequence.first;
  const bool lost = chain.state == State::kLost;
  const bool unexplained = silent_size_ || (lost && account.fate == Fate::kUnexplained);
  if (chain.violation && !unexplained) {
    if (!lost) account.decided = now_;
    account.fate = Fate::kCorrupted;
    account.cause = *chain.violation;
  } else if (never_committed &&
             (!lost || LeftWithChunk(account.fate) || account.fate == Fate::kCut ||
              account.fate == Fate::kUnexplained)) {
    if (!lost) account.decided = account.written;
    account.fate = Fate::kCut;
    account.cause = CauseOfHole(chain, is_start);
    account.culprit.reset();
  } else if (!lost) {
    if (chain.fragments_held == chain.fragments) {
      StallAccount(account, chain.abandoned_at_end);
    } else {
      account.fate = chain.back_closed ? Fate::kUnexplained : Fate::kIncomplete;
      const ChunkRecord* last =
          packets_.records().Find({account.sequence, IdOf(account.last_chunk)});
      account.cause = chain.back_closed                    ? Cause::kUnknown
                      : last != nullptr && !last->complete ? Cause::kScraped
                                                           : Cause::kUnfinished;
      account.decided = now_;
    }
  }
  ReportChain(chain);
}

}  // namespace ringscope::ledger
