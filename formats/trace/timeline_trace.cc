#include "formats/trace/timeline_trace.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/text.h"
#include "core/base/wire.h"
#include "core/log/summary.h"
#include "core/perfetto/data_loss.h"
#include "core/perfetto/packet_facts.h"
#include "core/session/replay_listener.h"

namespace ringscope {
namespace {

/// A moment of a log on the time axis of the trace, ns. A log without times takes a microsecond for
/// each record.
uint64_t TimeOf(const LogMoment& moment) {
  return moment.time_ns.value_or(moment.record.value_or(0) * 1000);
}

}  // namespace

TimelineTrace::TimelineTrace(ByteSink& sink) : trace_(sink), events_(trace_) { trace_.AddTool(); }

auto TimelineTrace::BufferTrack(BufferId buffer) -> Track {
  Track& track = buffer_tracks_[buffer];
  if (track == Track::kNone) track = events_.AddTrack(notes_.NameOf(buffer));
  return track;
}

auto TimelineTrace::SequenceTrack(BufferId buffer, SequenceKey sequence) -> Track {
  Track& track = sequence_tracks_[{buffer, sequence}];
  if (track == Track::kNone) track = events_.AddTrack(notes_.NameOf(sequence), BufferTrack(buffer));
  return track;
}

void TimelineTrace::OnRecord(const Op& op, const LogMoment& moment) {
  notes_.OnRecord(op, moment);
  if (const auto* snapshot = std::get_if<ClockSnapshotRecord>(&op.body))
    if (status_) status_ = trace_.AddClockSnapshot(wire::AsBytes(snapshot->snapshot));
  lives_.OnRecord(op, moment);
  // Times of a log may step back a little; those of the trace do not.
  ShowGauges();
  now_ = std::max(now_, TimeOf(moment));
  const auto* read = std::get_if<ReadPass>(&op.body);
  reason_ = read != nullptr ? read->reason : ReadReason::kUnknown;
  const auto event = LifeEventOf(op, moment.record.value_or(0));
  if (!event || event->Is<BufferSetUp>()) return;
  if (session_track_ == Track::kNone) session_track_ = events_.AddTrack("tracing session");
  Args args = {{"record", event->record}};
  if (event->change) args.push_back({"change", Name(*event->change)});
  if (!event->name.empty()) args.push_back({"name", Printable(event->name)});
  if (event->producer) args.push_back({"producer", uint64_t{Raw(*event->producer)}});
  events_.Instant(session_track_, now_, OpKindName(static_cast<size_t>(event->kind)), args);
}

void TimelineTrace::ShowGauges() {
  for (const BufferId id : changed_) {
    Buffer& buffer = buffers_[id];
    for (Gauge* gauge : {&buffer.fill, &buffer.unread}) {
      if (gauge->value != gauge->shown) events_.Counter(gauge->track, now_, gauge->value);
      gauge->shown = gauge->value;
    }
  }
  changed_.clear();
}

/// Takes the buffer's gauges; they are shown when the record is over.
void TimelineTrace::Sample(BufferId id) {
  Buffer& buffer = buffers_[id];
  if (buffer.buffer == nullptr) return;
  buffer.fill.value = lives_.HeldBytes(id);
  buffer.unread.value = buffer.buffer->engine->stats().unread_bytes();
  changed_.insert(id);
}

void TimelineTrace::OnBufferSetUp(SessionBuffer& setup) {
  notes_.OnBufferSetUp(setup);
  const std::string name = notes_.NameOf(setup.id);
  const Track track =
      events_.AddTrack(fmt::format("{}: {}, {}, {}", name, Printable(setup.info->name),
                                   HumanSize(setup.requested_size), Name(setup.policy)));
  buffer_tracks_[setup.id] = track;
  buffers_[setup.id] = {.buffer = &setup,
                        .reads_track = events_.AddTrack(name + " reads", track),
                        .fill = {events_.AddCounter(name + " fill", track)},
                        .unread = {events_.AddCounter(name + " unread", track)},
                        .read = {}};
}

void TimelineTrace::OnReadBegun(BufferId id) {
  Buffer& buffer = buffers_[id];
  buffer.read = {};
  ++counts_.passes;
  events_.Begin(buffer.reads_track, now_, "read pass",
                {{"reason", Name(reason_)}, {"record", lives_.now().record.value_or(0)}});
}

Status TimelineTrace::OnPacket(const SessionPacket& packet) {
  buffers_[packet.buffer].read += {1, packet.packet->size};
  RS_RETURN_IF_ERROR(status_);
  return events_.status();
}

void TimelineTrace::OnReadDone(BufferId id, uint64_t) {
  const Buffer& buffer = buffers_[id];
  events_.End(buffer.reads_track, now_,
              {{"packets", buffer.read.packets}, {"bytes", buffer.read.bytes}});
  Sample(id);
}

void TimelineTrace::OnBufferEvent(const BufferEvent& event) {
  lives_.OnBufferEvent(event);
  if (event.kind == BufferEvent::Kind::kWrap)
    events_.Instant(BufferTrack(event.buffer), now_, "wrap");
  if (event.kind == BufferEvent::Kind::kPatchMissed)
    events_.Instant(SequenceTrack(event.buffer, event.chunk.sequence), now_, "patch missed",
                    {{"chunk", uint64_t{Raw(event.chunk.chunk)}},
                     {"patches", uint64_t{event.patches}},
                     {"cause", Name(event.miss)},
                     {"record", event.at.record.value_or(0)}});
}

void TimelineTrace::OnChunk(BufferId buffer, const ChunkCommit& commit,
                            std::optional<Refusal> refusal) {
  notes_.OnChunk(buffer, commit, refusal);
  lives_.OnChunk(buffer, commit, refusal);
}

void TimelineTrace::OnChunkDone(BufferId buffer, const ChunkCommit& commit) {
  lives_.OnChunkDone(buffer, commit);
  Sample(buffer);
}

void TimelineTrace::OnPacketFate(const PacketAccount& account) {
  const bool is_lost = IsLoss(account.fate);
  if (!is_lost && account.fate != Fate::kFolded) return;
  if (is_lost) ++counts_.lost_packets;
  const auto [entry, is_new] = losses_.try_emplace({account.buffer, account.sequence});
  Loss& loss = entry->second;
  const PacketAccount& first = loss.first;
  const bool belongs = !is_new && first.fate == account.fate && first.cause == account.cause &&
                       first.own_fault == account.own_fault && first.culprit == account.culprit &&
                       first.loss_bits == account.loss_bits && first.decided == account.decided;
  if (!belongs) {
    if (!is_new) ShowLoss(loss);
    loss = {.first = account, .count = {}};
  }
  loss.last_chunk = std::max(loss.last_chunk, account.last_chunk);
  loss.count += {1, account.size};
}

void TimelineTrace::ShowLoss(const Loss& loss) {
  const PacketAccount& first = loss.first;
  Args args = {{"cause", Name(first.cause)},
               {"packets", loss.count.packets},
               {"bytes", loss.count.bytes},
               {"chunk", first.first_chunk},
               {"last_chunk", loss.last_chunk},
               {"first_content", ContentName(first.facts.content)},
               {"record", first.decided.record.value_or(0)}};
  if (first.own_fault) args.push_back({"buffer_bug", uint64_t{1}});
  if (first.culprit) args.push_back({"culprit", ToString(*first.culprit)});
  if (first.loss_bits != 0) args.push_back({"loss_bits", LossBitsToString(first.loss_bits)});
  events_.Instant(SequenceTrack(first.buffer, first.sequence), TimeOf(first.decided),
                  Name(first.fate), args);
}

Status TimelineTrace::Finish(std::string_view remark) {
  for (const auto& [id, buffer] : buffers_) events_.Instant(buffer.reads_track, now_, remark);
  ShowGauges();
  for (const auto& [id, loss] : losses_) ShowLoss(loss);
  RS_RETURN_IF_ERROR(status_);
  RS_RETURN_IF_ERROR(events_.status());
  return trace_.Finish();
}

}  // namespace ringscope
