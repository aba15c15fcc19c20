#include "core/gaps/counter_trace.h"

namespace ringscope {

void CounterTrace::OnRecord(const Op& op, const LogMoment& moment) {
  now_ = moment;
  if (std::holds_alternative<FlushTimedOut>(op.body))
    Add({.counter = LossCounter::kFlushesFailed, .reason = CountReason::kFlushTimedOut});
}

void CounterTrace::OnChunk(WrittenCommit& written) {
  const ChunkCommit& commit = written.commit();
  const WrittenChunk& chunk = written.chunk();
  under_way_ = {
      .sequence = commit.sequence,
      .chunk = commit.chunk,
      .fragments = FinishedPartOf(commit.fragments, commit.flags, commit.complete).fragments,
      .found = static_cast<uint32_t>(chunk.fragments.size())};
  if (chunk.end == ChunkEnd::kBroken && chunk.broken_bytes > 0)
    under_way_.reason = CountReason::kBrokenSize;
  else if (under_way_.found < under_way_.fragments)
    under_way_.reason = CountReason::kFewerFragments;
}

void CounterTrace::OnDone(BufferId id) {
  Compare(id, under_way_);
  under_way_ = {};
}

void CounterTrace::OnBufferEvent(const BufferEvent& event) {
  const auto because = [&](CountReason reason) {
    return CounterRise{
        .reason = reason, .sequence = event.chunk.sequence, .chunk = event.chunk.chunk};
  };
  if (const auto* discarded = event.As<BufferEvent::Discarded>()) {
    if (discarded->reason == DiscardReason::kTooLarge) under_way_.reason = CountReason::kTooLarge;
    if (discarded->reason == DiscardReason::kBadRecommit)
      under_way_.reason = CountReason::kBadRecommit;
  } else if (const auto* missed = event.As<BufferEvent::PatchMissed>()) {
    under_way_ = because(missed->reason == PatchMiss::kNoSuchChunk ? CountReason::kChunkGone
                                                                   : CountReason::kOutOfBounds);
  } else if (event.As<BufferEvent::Abandoned>() != nullptr) {
    // V1 counts broken fragments when it reads them, and reports each right after.
    Compare(event.buffer, because(CountReason::kBrokenSize));
  }
}

void CounterTrace::OnPacket(const SessionPacket& packet, const PacketFacts& facts) {
  const uint32_t bits = losses_.AddPacket(packet, facts);
  if (bits == 0) return;
  Add({.counter = LossCounter::kLossFlags,
       .reason = CountReason::kFlagged,
       .buffer = packet.buffer,
       .sequence = packet.packet->sequence,
       .chunk = packet.packet->place.first_chunk,
       .loss_bits = bits});
}

void CounterTrace::Compare(BufferId id, const CounterRise& cause) {
  const auto buffer = buffers_.find(id);
  if (buffer == buffers_.end()) return;
  const BufferStats& stats = buffer->second.buffer->engine->stats();
  BufferStats& seen = buffer->second.seen;
  for (const auto& [counter, name, in_buffer] : kEnumRows<LossCounter>) {
    if (in_buffer == nullptr) continue;
    const uint64_t now = stats.*in_buffer;
    uint64_t& before = seen.*in_buffer;
    if (now == before) continue;
    CounterRise rise = cause;
    rise.counter = counter;
    if (rise.counter == LossCounter::kWriterPacketLoss) rise.reason = CountReason::kAborted;
    rise.amount = now - before;
    rise.buffer = id;
    before = now;
    Add(rise);
  }
}

void CounterTrace::Add(CounterRise rise) {
  const auto counter = static_cast<size_t>(rise.counter);
  if (!rise.is_harmless()) counts_[counter] += rise.amount;
  if (listed_[counter] == limit_) return;
  ++listed_[counter];
  if (!rise.at.record) rise.at = now_;
  rises_.push_back(rise);
}

void CounterTrace::Finish() {
  losses_.VisitDropped([&](BufferId buffer, SequenceKey sequence) {
    Add({.counter = LossCounter::kSequencesDropped,
         .reason = CountReason::kStateMissing,
         .buffer = buffer,
         .sequence = sequence});
  });
}

}  // namespace ringscope
