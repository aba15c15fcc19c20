// When fates are told: once nothing can change them any more, and at the end of the log.

#include <algorithm>

#include "core/ledger/ledger_buffer.h"

namespace ringscope::ledger {
namespace {

/// How many chunks that left the buffer are remembered. What a service scrapes comes again with the
/// producer's next commits: no shared memory holds more chunks than this.
constexpr size_t kMaxEvicted = 8192;
/// How many lost packets of these chunks may wait to be told. They take about 200 bytes each.
constexpr size_t kMaxEvictedPackets = 65536;

}  // namespace

void BufferLedger::Settle() {
  for (const uint64_t key : touched_) SettleRecord(key);
  touched_.clear();
  packets_.TakeTouched([&](ChainId id) { SettleChain(id); });
}

void BufferLedger::SettleRecord(uint64_t key) {
  const auto found = packets_.records().find(key);
  if (found == packets_.records().end()) return;
  ChunkRecord& record = found->second;
  // What was lost in the buffer's own hands, or never came into it, does not come back.
  std::erase_if(record.doomed, [&](const PacketAccount& account) {
    if (account.fate == Fate::kOverwritten) return false;
    record.entries[account.fragment].state = State::kGone;
    Tell(account);
    return true;
  });
  if (!record.held) AddEvicted(key, record);
}

void BufferLedger::AddEvicted(uint64_t key, ChunkRecord& record) {
  if (record.evicted) return;
  record.evicted = true;
  evicted_.push_back(key);
  record.evicted_packets = record.doomed.size();
  evicted_packets_ += record.evicted_packets;
  record.evicted_bytes = record.bytes;
  evicted_bytes_ += record.evicted_bytes;
  while (TooManyEvicted()) {
    const uint64_t next = keeps_first_ ? evicted_.back() : evicted_.front();
    if (keeps_first_)
      evicted_.pop_back();
    else
      evicted_.pop_front();
    Forget(next);
  }
}

bool BufferLedger::TooManyEvicted() const {
  if (evicted_.size() <= 1) return false;
  // Where nobody says what is in the buffer, all that it has room for may be.
  if (silent_size_) return evicted_bytes_ > *silent_size_;
  return evicted_.size() > kMaxEvicted || evicted_packets_ > kMaxEvictedPackets;
}

/// The chunk does not come again: what was lost with it is told.
void BufferLedger::Forget(uint64_t key) {
  const auto found = packets_.records().find(key);
  if (found == packets_.records().end()) return;
  ChunkRecord& record = found->second;
  record.evicted = false;
  evicted_packets_ -= record.evicted_packets;
  evicted_bytes_ -= record.evicted_bytes;
  if (record.held) return;
  FinishRecord(key, record);
  const uint64_t chunk = record.id;
  for (const ChainId id : packets_.Forget(found)) {
    const ChainId packet = packets_.chains().Find(id);
    packets_.chains().Release(id);
    SettleChain(packet);
  }
  sink_.OnChunkForgotten(id_, NameOf(key).sequence, chunk);
}

/// Tells a lost chain once nothing can be added to it and its chunks are forgotten: until then the
/// engine may surprise us (V2 returns what it makes of an aborted packet's other pieces).
void BufferLedger::SettleChain(ChainId id) {
  id = packets_.chains().Find(id);
  Chain& chain = packets_.chains()[id];
  if (chain.pieces == 0 || chain.refs > 0 || !chain.closed()) return;
  if (chain.state == State::kLive && silent_size_) {
    chain.account.fate = Fate::kUnexplained;
    chain.state = State::kDoomed;
  }
  if (chain.state == State::kDoomed) TellChain(chain);
  if (chain.state != State::kLive) packets_.chains().Free(id);
}

void BufferLedger::TellChain(Chain& chain) {
  chain.state = State::kGone;
  if (chain.account.size == 0 && chain.account.fate != Fate::kWriterDropped)
    --packets_.count().packets;  // an empty packet is none
  else
    Tell(chain.account);
}

void BufferLedger::Finish() {
  Settle();
  std::vector<uint64_t> keys;  // by sequence, then in order
  keys.reserve(packets_.records().size());
  for (const auto& [key, record] : packets_.records()) keys.push_back(key);
  std::sort(keys.begin(), keys.end(), [&](uint64_t a, uint64_t b) {
    const uint64_t a_id = packets_.records().at(a).id, b_id = packets_.records().at(b).id;
    return a >> 32 != b >> 32 ? a >> 32 < b >> 32 : a_id < b_id;
  });
  for (const uint64_t key : keys) FinishRecord(key, packets_.records().at(key));
  packets_.chains().VisitOpen([&](ChainId id, Chain&) { FinishChain(id); });
  totals_.written = packets_.count();
}

/// What a packet that is still in the buffer waits for.
void BufferLedger::StallAccount(PacketAccount& account, bool given_up) const {
  account.fate = Fate::kStalled;
  account.decided = account.written;
  const auto stall = stalls_.find(account.sequence.Packed());
  if (given_up || stall == stalls_.end()) {
    account.cause = Cause::kBehindGivenUp;
    return;
  }
  account.cause = stall->second.cause;
  account.waits_for = stall->second.at;
  const auto record = packets_.records().find(stall->second.at.Packed());
  if (record != packets_.records().end()) account.decided = record->second.written;
}

void BufferLedger::FinishRecord(uint64_t key, ChunkRecord& record) {
  for (const PacketAccount& account : record.doomed) {
    record.entries[account.fragment].state = State::kGone;
    Tell(account);
  }
  record.doomed.clear();
  const SequenceKey sequence = NameOf(key).sequence;
  for (size_t i = 0; i < record.entries.size(); ++i) {
    Entry& entry = record.entries[i];
    if (entry.kind != FragmentKind::kWhole || entry.state != State::kLive) continue;
    entry.state = State::kGone;
    PacketAccount account = packets_.AccountOf(sequence, record, i);
    if (record.held)
      StallAccount(account, entry.given_up_at_end);
    else
      account.fate = Fate::kUnexplained;
    if (record.taint) {
      account.fate = Fate::kCorrupted;
      account.cause = *record.taint;
    }
    Tell(account);
  }
  if (record.complete || record.unfinished_bytes == 0) return;
  record.entries.push_back({.offset = record.bytes, .size = record.unfinished_bytes});
  PacketAccount account = packets_.AccountOf(sequence, record, record.entries.size() - 1);
  record.entries.back().state = State::kGone;
  account.fate = Fate::kIncomplete;
  account.cause = Cause::kUnfinished;
  account.decided = now_;
  packets_.count() += {1, account.size};
  Tell(account);
}

void BufferLedger::FinishChain(ChainId id) {
  Chain& chain = packets_.chains()[id];
  PacketAccount& account = chain.account;
  const WrittenPackets::Sequence& sequence = *packets_.FindSequence(account.sequence);
  // Chunks behind the one that it goes on in have come, but that one has not.
  const bool hole_behind =
      !chain.back_closed &&
      sequence.newest >
          account.last_chunk + static_cast<uint32_t>(chain.awaits_next - account.last_chunk);
  const bool never_committed = !chain.front_closed || hole_behind;
  const bool doomed = chain.state == State::kDoomed;
  if (chain.taint) {
    if (!doomed) account.decided = now_;
    account.fate = Fate::kCorrupted;
    account.cause = *chain.taint;
  } else if (never_committed &&
             (!doomed || account.fate == Fate::kOverwritten || account.fate == Fate::kCut)) {
    if (!doomed) account.decided = account.written;
    account.fate = Fate::kCut;
    account.cause = Cause::kNeverCommitted;
    account.culprit.reset();
  } else if (!doomed) {
    if (chain.pieces_held == chain.pieces) {
      StallAccount(account, chain.given_up_at_end);
    } else {
      account.fate = chain.back_closed ? Fate::kUnexplained : Fate::kIncomplete;
      account.cause = chain.back_closed ? Cause::kNone : Cause::kUnfinished;
      account.decided = now_;
    }
  }
  TellChain(chain);
}

}  // namespace ringscope::ledger
