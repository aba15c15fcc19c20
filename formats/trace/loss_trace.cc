#include "formats/trace/loss_trace.h"

#include <fmt/format.h>

#include "core/base/wire.h"
#include "core/perfetto/data_loss.h"
#include "core/perfetto/packet_facts.h"
#include "core/session/buffer_event.h"

namespace ringscope {

LossTrace::LossTrace(ByteSink& sink, std::string_view mark) : trace_(sink), events_(trace_) {
  trace_.AddTool(mark);
}

void LossTrace::OnRecord(const Op& op, const LogMoment& moment) {
  notes_.OnRecord(op, moment);
  if (const auto* snapshot = std::get_if<ClockSnapshotRecord>(&op.body))
    if (status_) status_ = trace_.AddClockSnapshot(wire::AsBytes(snapshot->snapshot));
}

void LossTrace::OnChunk(BufferId buffer, const ChunkCommit& commit,
                        std::optional<Refusal> refusal) {
  notes_.OnChunk(buffer, commit, refusal);
}

Status LossTrace::OnPacket(const SessionPacket&) {
  RS_RETURN_IF_ERROR(status_);
  return events_.status();
}

auto LossTrace::BufferTrack(BufferId buffer) -> Track {
  Track& track = buffer_tracks_[buffer];
  if (track == Track::kNone) track = events_.AddTrack(fmt::format("buffer {}", Raw(buffer)));
  return track;
}

auto LossTrace::SequenceTrack(BufferId buffer, SequenceKey sequence) -> Track {
  Track& track = sequence_tracks_[{buffer, sequence}];
  if (track == Track::kNone) track = events_.AddTrack(notes_.NameOf(sequence), BufferTrack(buffer));
  return track;
}

void LossTrace::AddLoss(uint64_t time_ns, const PacketAccount& first, uint64_t last_chunk,
                        const FateCount& count) {
  Args args = {{"cause", Name(first.cause)},
               {"packets", count.packets},
               {"bytes", count.bytes},
               {"chunk", first.first_chunk},
               {"last_chunk", last_chunk},
               {"first_content", ContentName(first.facts.content)},
               {"record", first.decided.record.value_or(0)}};
  if (first.own_fault) args.push_back({"buffer_bug", uint64_t{1}});
  if (first.culprit) args.push_back({"culprit", ToString(*first.culprit)});
  if (first.loss_bits != 0) args.push_back({"loss_bits", LossBitsToString(first.loss_bits)});
  events_.Instant(SequenceTrack(first.buffer, first.sequence), time_ns, Name(first.fate), args);
}

Status LossTrace::FinishTrace() {
  RS_RETURN_IF_ERROR(status_);
  RS_RETURN_IF_ERROR(events_.status());
  return trace_.Finish();
}

}  // namespace ringscope
