#include "formats/trace/buffer_tracks.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/text.h"
#include "core/log/summary.h"

namespace ringscope {

void BufferTracks::OnRecord(const Op& op, const LogMoment& moment) {
  lives_.OnRecord(op, moment);
  // Times of a log may step back a little; those of the tracks do not.
  now_ = std::max(now_, TraceTimeOf(moment));
  const auto* read = std::get_if<ReadPass>(&op.body);
  reason_ = read != nullptr ? read->reason : ReadReason::kUnknown;
  const auto event = LifeEventOf(op, moment.record.value_or(0));
  if (!event || event->Is<BufferSetUp>()) return;
  if (session_ == nullptr) session_ = &root_.Add("tracing session");
  std::vector<EventArg> args = {{"record", event->record}};
  if (event->change) args.push_back({"change", Name(*event->change)});
  if (!event->name.empty()) args.push_back({"name", Printable(event->name)});
  if (event->producer) args.push_back({"producer", uint64_t{Raw(*event->producer)}});
  session_->AddInstant(now_, OpKindName(static_cast<size_t>(event->kind)), std::move(args));
}

void BufferTracks::OnBufferSetUp(SessionBuffer& setup) {
  using Unit = EventTrack::Unit;
  const std::string name = notes_.NameOf(setup.id);
  EventTrack& track = root_.Add(fmt::format("{}: {}, {}, {}", name, Printable(setup.info->name),
                                            HumanSize(setup.requested_size), Name(setup.policy)));
  buffers_[setup.id] = {.buffer = &setup,
                        .track = &track,
                        .reads = &track.Add(name + " reads"),
                        .fill = &track.AddCounter(name + " fill", Unit::kBytes),
                        .unread = &track.AddCounter(name + " unread", Unit::kBytes),
                        .reach = &track.AddCounter(name + " reach", Unit::kTime),
                        .read = {},
                        .held_ns = {}};
}

void BufferTracks::OnChunkEntered(const ChunkLife& life) {
  if (life.entered()) buffers_[life.buffer].held_ns[life.number] = now_;
}

void BufferTracks::OnChunkLeft(const ChunkLife& life) {
  buffers_[life.buffer].held_ns.erase(life.number);
}

void BufferTracks::Sample(BufferId id) {
  Buffer& buffer = buffers_[id];
  if (buffer.buffer == nullptr) return;
  buffer.fill->AddSample(now_, lives_.HeldBytes(id));
  buffer.unread->AddSample(now_, buffer.buffer->engine->stats().unread_bytes());
  const int64_t oldest = buffer.held_ns.empty() ? now_ : buffer.held_ns.begin()->second;
  buffer.reach->AddSample(now_, static_cast<uint64_t>(now_ - oldest));
}

void BufferTracks::OnChunkDone(BufferId buffer, const ChunkCommit& commit) {
  lives_.OnChunkDone(buffer, commit);
  Sample(buffer);
}

void BufferTracks::OnReadBegun(BufferId id) {
  buffers_[id].read = {};
  buffers_[id].read_ns = now_;
  ++passes_;
}

Status BufferTracks::OnPacket(const SessionPacket& packet) {
  buffers_[packet.buffer].read += {1, packet.packet->size};
  return {};
}

void BufferTracks::OnReadDone(BufferId id, uint64_t) {
  const Buffer& buffer = buffers_[id];
  if (buffer.reads == nullptr) return;
  buffer.reads->AddSlice({.from_ns = buffer.read_ns,
                          .to_ns = now_,
                          .name = "read pass",
                          .args = {{"reason", Name(reason_)},
                                   {"record", lives_.now().record.value_or(0)},
                                   {"packets", buffer.read.packets},
                                   {"bytes", buffer.read.bytes}}});
  Sample(id);
}

void BufferTracks::OnBufferEvent(const BufferEvent& event) {
  lives_.OnBufferEvent(event);
  EventTrack* const track = buffers_[event.buffer].track;
  if (track == nullptr) return;
  if (event.As<BufferEvent::Wrapped>() != nullptr) track->AddInstant(now_, "wrap");
  if (const auto* missed = event.As<BufferEvent::PatchMissed>())
    track->AddInstant(now_, "patch missed: " + notes_.NameOf(event.chunk.sequence),
                      {{"chunk", uint64_t{Raw(event.chunk.chunk)}},
                       {"patches", missed->sent.patches.size()},
                       {"cause", Name(missed->reason)},
                       {"record", event.at.record.value_or(0)}});
}

void BufferTracks::Finish(const std::string& remark) {
  for (const auto& [id, buffer] : buffers_)
    if (buffer.reads != nullptr) buffer.reads->AddInstant(now_, remark);
}

}  // namespace ringscope
