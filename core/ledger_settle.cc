// When fates are told: once nothing can change them any more, and at the end of the log.

#include <algorithm>

#include "core/ledger_buffer.h"

namespace ringscope::ledger {
namespace {

/// How many chunks that left the buffer are remembered. What a service scrapes comes again with the
/// producer's next commits: no shared memory holds more chunks than this.
constexpr size_t kMaxParting = 8192;
/// How many lost packets of these chunks may wait to be told. They take about 200 bytes each.
constexpr size_t kMaxPartingPackets = 65536;

}  // namespace

void BufferLedger::Settle() {
  for (const uint64_t key : touched_) SettleRecord(key);
  touched_.clear();
  for (const ChainId id : touched_chains_) SettleChain(id);
  touched_chains_.clear();
}

void BufferLedger::SettleRecord(uint64_t key) {
  const auto found = records_.find(key);
  if (found == records_.end()) return;
  ChunkRecord& record = found->second;
  // What was lost in the buffer's own hands, or never came into it, does not come back.
  std::erase_if(record.doomed, [&](const PacketAccount& account) {
    if (account.fate == Fate::kOverwritten) return false;
    record.entries[account.fragment].state = State::kGone;
    Tell(account);
    return true;
  });
  if (!record.held) Part(key, record);
}

void BufferLedger::Part(uint64_t key, ChunkRecord& record) {
  if (record.parting) return;
  record.parting = true;
  parting_.push_back(key);
  record.parting_packets = record.doomed.size();
  parting_packets_ += record.parting_packets;
  record.parting_bytes = record.bytes;
  parting_bytes_ += record.parting_bytes;
  while (TooManyParting()) {
    const uint64_t next = keeps_first_ ? parting_.back() : parting_.front();
    if (keeps_first_)
      parting_.pop_back();
    else
      parting_.pop_front();
    Forget(next);
  }
}

bool BufferLedger::TooManyParting() const {
  if (parting_.size() <= 1) return false;
  // Where nobody says what is in the buffer, all that it has room for may be.
  if (silent_size_) return parting_bytes_ > *silent_size_;
  return parting_.size() > kMaxParting || parting_packets_ > kMaxPartingPackets;
}

/// The chunk does not come again: what was lost with it is told.
void BufferLedger::Forget(uint64_t key) {
  const auto found = records_.find(key);
  if (found == records_.end()) return;
  ChunkRecord& record = found->second;
  record.parting = false;
  parting_packets_ -= record.parting_packets;
  parting_bytes_ -= record.parting_bytes;
  if (record.held) return;
  FinishRecord(key, record);
  const ChainId head = record.head;
  const bool same_piece =
      !record.entries.empty() && record.entries.front().kind == FragmentKind::kContinue;
  const ChainId tail = same_piece ? kNoChain : record.tail;
  const uint64_t chunk = record.id;
  records_.erase(found);
  for (const ChainId id : {head, tail}) {
    if (id == kNoChain) continue;
    const ChainId packet = chains_.Find(id);
    chains_.Release(id);
    SettleChain(packet);
  }
  sink_.OnChunkForgotten(id_, NameOf(key).sequence, chunk);
}

/// Tells a lost chain once nothing can be added to it and its chunks are forgotten: until then the
/// engine may surprise us (V2 returns what it makes of an aborted packet's other pieces).
void BufferLedger::SettleChain(ChainId id) {
  id = chains_.Find(id);
  Chain& chain = chains_[id];
  if (chain.pieces == 0 || chain.refs > 0 || !chain.closed()) return;
  if (chain.state == State::kLive && silent_size_) {
    chain.account.fate = Fate::kUnexplained;
    chain.state = State::kDoomed;
  }
  if (chain.state == State::kDoomed) TellChain(chain);
  if (chain.state != State::kLive) chains_.Free(id);
}

void BufferLedger::TellChain(Chain& chain) {
  chain.state = State::kGone;
  if (chain.account.size == 0 && chain.account.fate != Fate::kWriterDropped)
    --totals_.written.packets;  // an empty packet is none
  else
    Tell(chain.account);
}

void BufferLedger::Finish(Engine* engine) {
  Settle();
  draining_ = true;
  if (engine != nullptr) {
    engine->BeginRead();
    while (const Packet* packet = engine->NextPacket())
      Return(*packet, Fate::kReadable, Cause::kNone);
  }

  std::vector<uint64_t> keys;  // by sequence, then in order
  keys.reserve(records_.size());
  for (const auto& [key, record] : records_) keys.push_back(key);
  std::sort(keys.begin(), keys.end(), [&](uint64_t a, uint64_t b) {
    const uint64_t a_id = records_.at(a).id, b_id = records_.at(b).id;
    return a >> 32 != b >> 32 ? a >> 32 < b >> 32 : a_id < b_id;
  });
  for (const uint64_t key : keys) FinishRecord(key, records_.at(key));
  chains_.VisitOpen([&](ChainId id, Chain&) { FinishChain(id); });
}

void BufferLedger::Reset() {
  totals_ = {};
  slots_ = {};
  sequences_ = {};
  records_.clear();
  parting_.clear();
  parting_packets_ = 0;
  parting_bytes_ = 0;
  silent_size_.reset();
  keeps_first_ = false;
  chains_ = {};
  touched_.clear();
  touched_chains_.clear();
  pass_ = 0;
  draining_ = false;
}

/// What a packet that is still in the buffer waits for.
void BufferLedger::StallAccount(PacketAccount& account, bool given_up) const {
  account.fate = Fate::kStalled;
  account.decided = account.written;
  const Sequence& sequence = sequences_[slots_.Find(account.sequence)];
  if (given_up || !sequence.stalled_at) {
    account.cause = Cause::kBehindGivenUp;
    return;
  }
  account.cause = sequence.stall;
  account.waits_for = sequence.stalled_at;
  const auto record =
      records_.find(ChunkName{account.sequence, sequence.stalled_at->chunk}.Packed());
  if (record != records_.end()) account.decided = record->second.written;
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
    PacketAccount account = AccountOf(sequence, record, i);
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
  PacketAccount account = AccountOf(sequence, record, record.entries.size() - 1);
  record.entries.back().state = State::kGone;
  account.fate = Fate::kIncomplete;
  account.cause = Cause::kUnfinished;
  account.decided = now_;
  CountWritten(account.size);
  Tell(account);
}

void BufferLedger::FinishChain(ChainId id) {
  Chain& chain = chains_[id];
  PacketAccount& account = chain.account;
  const Sequence& sequence = sequences_[slots_.Find(account.sequence)];
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
