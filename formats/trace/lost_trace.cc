#include "formats/trace/lost_trace.h"

#include <fmt/format.h>

#include <vector>

#include "core/base/text.h"
#include "core/perfetto/data_loss.h"
#include "core/session/buffer_event.h"
#include "core/trace/trace_facts.h"

namespace ringscope {

LostTrace::LostTrace(ByteSink& sink, uint64_t limit, PacketKinds* kinds)
    : trace_(sink),
      events_(trace_),
      packets_([this](const LostPacket& lost) { Write(lost); }, /*all=*/true),
      kinds_(kinds),
      limit_(limit) {
  trace_.AddTool(kLostPacketsMark);
}

void LostTrace::OnRecord(const Op& op, const LogMoment& moment) {
  now_ = moment;
  packets_.OnRecord(op, moment);
  notes_.OnRecord(op, moment);
  if (const auto* snapshot = std::get_if<ClockSnapshotRecord>(&op.body)) {
    if (status_) status_ = trace_.AddClockSnapshot(wire::AsBytes(snapshot->snapshot));
  }
}

void LostTrace::OnChunkWritten(BufferId buffer, WrittenCommit& written) {
  if (!kinds_.wanted()) return;
  const ChunkName chunk{written.commit().sequence, written.commit().chunk};
  packets_once_.AddChunk(
      buffer, written, std::nullopt,
      [&](size_t fragment, const PacketFacts& facts, Bytes content, Bytes packet) {
        kinds_.Add(buffer, chunk, fragment, facts, content, packet);
      });
}

void LostTrace::OnChunk(BufferId buffer, const ChunkCommit& commit,
                        std::optional<Refusal> refusal) {
  notes_.OnChunk(buffer, commit, refusal);
  packets_.OnChunk(buffer, commit, refusal);
}

Status LostTrace::OnPacket(const SessionPacket&) { return status_; }

void LostTrace::OnPacketFate(const PacketAccount& account) {
  packets_.AddFate(account, IsLoss(account.fate) ? kinds_.Of(account) : 0);
}

void LostTrace::OnChunkForgotten(BufferId buffer, SequenceKey sequence, uint64_t chunk) {
  packets_.OnChunkForgotten(buffer, sequence, chunk);
  kinds_.Forget(buffer, sequence, chunk);
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
  const Status written = trace_.AddPacket({.buffer = account.buffer,
                                           .packet = &packet,
                                           .sequence_id = sequence_ids_.IdOf(account.sequence)});
  if (status_) status_ = written;
  WriteFate(account, lost.kind);
}

void LostTrace::WriteFate(const PacketAccount& account, uint32_t kind) {
  const Track track = TrackOf(account);
  const std::string sequence = ToString(account.sequence);
  const std::string content = kinds_.ContentText(account.facts.content, kind);
  const std::string culprit = account.culprit ? ToString(*account.culprit) : std::string();
  const std::string bits = LossBitsToString(account.loss_bits);
  std::vector<Arg> args = {
      {"fate", std::string_view(Name(account.fate))},
      {"cause", std::string_view(Name(account.cause))},
      {"buffer", uint64_t{Raw(account.buffer)}},
      {"sequence", std::string_view(sequence)},
      {"trusted_packet_sequence_id", uint64_t{sequence_ids_.IdOf(account.sequence)}},
      {"chunk", account.first_chunk},
      {"last_chunk", account.last_chunk},
      {"fragment", uint64_t{account.fragment}},
      {"size", account.size},
      {"content", std::string_view(content)},
      {"own_fault", account.own_fault},
      {"commit_record", account.written.record.value_or(0)},
      {"lost_record", account.decided.record.value_or(0)}};
  if (account.culprit) args.push_back({"culprit", Unique{culprit}});
  if (account.loss_bits != 0) args.push_back({"loss_bits", std::string_view(bits)});
  if (account.decided.time_ns) args.push_back({"lost_ns", *account.decided.time_ns});
  if (account.facts.timestamp) args.push_back({"packet_timestamp", *account.facts.timestamp});
  events_.Instant(track, TraceTime(account.written), Name(account.fate), args);
}

auto LostTrace::RootTrack() -> Track {
  if (root_ == Track::kNone) root_ = events_.AddTrack("lost packets");
  return root_;
}

auto LostTrace::TrackOf(const PacketAccount& account) -> Track {
  const Track root = RootTrack();
  Track& track = tracks_[{account.buffer, account.sequence}];
  if (track == Track::kNone)
    track = events_.AddTrack(
        fmt::format("{} in buffer {}", notes_.NameOf(account.sequence), Raw(account.buffer)), root);
  return track;
}

auto LostTrace::counts() const -> Counts {
  Counts counts = counts_;
  counts.unwritable = packets_.unwritable();
  return counts;
}

Status LostTrace::Finish() {
  const FateCount unwritable = packets_.unwritable().all();
  if (counts_.beyond_limit.packets > 0 || unwritable.packets > 0) {
    const Arg args[] = {{"packets_beyond_limit", counts_.beyond_limit.packets},
                        {"bytes_beyond_limit", counts_.beyond_limit.bytes},
                        {"limit_bytes", limit_},
                        {"packets_not_whole", unwritable.packets}};
    events_.Instant(RootTrack(), TraceTime(now_), "lost packets that are not in this trace", args);
  }
  RS_RETURN_IF_ERROR(status_);
  RS_RETURN_IF_ERROR(events_.status());
  return trace_.Finish();
}

}  // namespace ringscope
