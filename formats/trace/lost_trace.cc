#include "formats/trace/lost_trace.h"

#include "core/perfetto/data_loss.h"
#include "core/trace/trace_facts.h"

namespace ringscope {

LostTrace::LostTrace(ByteSink& sink, uint64_t limit)
    : LossTrace(sink, kLostPacketsMark),
      packets_([this](const LostPacket& lost) { Write(lost); }, /*all=*/true),
      limit_(limit) {}

void LostTrace::OnRecord(const Op& op, const LogMoment& moment) {
  now_ = moment;
  packets_.OnRecord(op, moment);
  LossTrace::OnRecord(op, moment);
}

void LostTrace::OnChunk(BufferId buffer, const ChunkCommit& commit,
                        std::optional<Refusal> refusal) {
  LossTrace::OnChunk(buffer, commit, refusal);
  packets_.OnChunk(buffer, commit, refusal);
}

void LostTrace::Write(const LostPacket& lost) {
  const PacketAccount& account = lost.account;
  if (lost.slices.empty()) return;  // see LostPackets::unwritable
  const FateCount count{1, account.size};
  if (trace_.bytes() >= limit_) {
    counts_.beyond_limit += count;
    return;
  }
  counts_.written += count;
  const Packet packet{.sequence = account.sequence,
                      .identity = lost.identity,
                      .dropped = lost.gap_before ? uint32_t{kLossPresent} : 0,
                      .slices = lost.slices,
                      .size = account.size,
                      .place = {}};
  const Status added = trace_.AddPacket({.buffer = account.buffer,
                                         .packet = &packet,
                                         .sequence_id = sequence_ids_.IdOf(account.sequence)});
  if (written_) written_ = added;
  AddLoss(TimeOf(account.written), account, account.last_chunk, count);
}

auto LostTrace::counts() const -> Counts {
  Counts counts = counts_;
  counts.unwritable = packets_.unwritable();
  return counts;
}

Status LostTrace::Finish() {
  const FateCount unwritable = packets_.unwritable().all();
  if (counts_.beyond_limit.packets > 0 || unwritable.packets > 0)
    events_.Instant(events_.AddTrack("lost packets"), TimeOf(now_),
                    "lost packets that are not in this trace",
                    {{"packets_beyond_limit", counts_.beyond_limit.packets},
                     {"bytes_beyond_limit", counts_.beyond_limit.bytes},
                     {"limit_bytes", limit_},
                     {"packets_not_whole", unwritable.packets}});
  RS_RETURN_IF_ERROR(written_);
  return FinishTrace();
}

}  // namespace ringscope
