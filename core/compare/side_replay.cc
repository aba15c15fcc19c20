#include "core/compare/side_replay.h"

#include <xxhash.h>

#include <algorithm>
#include <utility>

#include "core/base/wire.h"
#include "core/perfetto/packet_facts.h"
#include "core/session/session_errors.h"

namespace ringscope {
namespace {

/// The buffer in which the record changes what it has counted, without a commit, patch or read.
std::optional<BufferId> ClonedBuffer(const Op& op) {
  if (const auto* cloned = std::get_if<BufferCloned>(&op.body)) return cloned->buffer;
  if (const auto* cleared = std::get_if<BufferCleared>(&op.body)) return cleared->buffer;
  return std::nullopt;
}

}  // namespace

void SideReplay::Run(DiffSection& section) {
  tape_ = &section.tapes[side_];
  for (size_t i = 0; i < section.records.size() && !failed_; ++i) {
    const DiffSection::Record& record = section.records[i];
    EndRecord(replay_.Apply(record.op, record.number), ClonedBuffer(record.op));
  }
  if (section.at_end && !failed_) EndRecord(replay_.Finish(), std::nullopt);
  tape_ = nullptr;
}

void SideReplay::EndRecord(Status status, std::optional<BufferId> cloned) {
  if (!status) {
    failed_ = true;
    tape_->error = std::move(status).error();
  } else {
    const auto& buffers = replay_.session().buffers();
    const auto count = [&](BufferId id, bool touched) {
      if (const auto buffer = buffers.find(id); buffer != buffers.end())
        Count(buffer->second, touched);
    };
    for (const BufferId id : touched_) count(id, true);
    if (cloned && std::find(touched_.begin(), touched_.end(), *cloned) == touched_.end())
      count(*cloned, false);
  }
  touched_.clear();
  tape_->AddStep(Kind::kRecordEnd, 0);
}

void SideReplay::Count(const SessionBuffer& buffer, bool touched) {
  tape_->AddStep(Kind::kCounted, tape_->counted.size());
  CountedBuffer& counted = tape_->counted.emplace_back();
  counted.buffer = buffer.id;
  counted.touched = touched;
  counted.requested_size = buffer.requested_size;
  counted.stats = buffer.engine->stats();
  if (buffer.cloned) counted.seen = buffer.stats();
  if (Status status = CheckEngine(buffer.id, *buffer.engine); !status)
    tape_->Add(Kind::kFailed, tape_->failed, {buffer.id, std::move(status).error()});
}

void SideReplay::Touch(BufferId buffer) {
  if (std::find(touched_.begin(), touched_.end(), buffer) == touched_.end())
    touched_.push_back(buffer);
}

void SideReplay::OnBufferSetUp(SessionBuffer& buffer) { Touch(buffer.id); }

void SideReplay::OnPatch(BufferId buffer, bool ok) {
  tape_->Add(Kind::kPatch, tape_->patches, {buffer, ok});
  Touch(buffer);
}

void SideReplay::OnBufferEvent(const BufferEvent& event) {
  if (event.kind == BufferEvent::Kind::kReturned) return;
  tape_->AddStep(Kind::kEvent, tape_->events.size());
  BufferEvent& kept = tape_->events.emplace_back(event);
  kept.payload = {};  // valid during the call only
  kept.sent = nullptr;
}

Status SideReplay::OnPacket(const SessionPacket& packet) {
  AddPacket(packet, 0);
  return {};
}

void SideReplay::OnClonePacket(const SessionPacket& packet) { AddPacket(packet, clones_ + 1); }

void SideReplay::AddPacket(const SessionPacket& session_packet, uint32_t clone) {
  const Packet& packet = *session_packet.packet;
  tape_->AddStep(Kind::kPacket, tape_->packets.size());
  ReturnedPacket& returned = tape_->packets.Add();
  returned.place = {.buffer = session_packet.buffer,
                    .clone = clone,
                    .sequence = packet.sequence,
                    .chunk = packet.place.first_chunk,
                    .offset = packet.place.first_offset};
  returned.last_chunk = packet.place.last_chunk;
  returned.content = packet.slices.empty() ? 0 : ReadPacketFacts(packet.slices[0]).content;
  returned.size = packet.size;
  const Bytes bytes = Joined(packet.slices, joined_);
  returned.hash = XXH3_64bits(bytes.data(), bytes.size());
  returned.loss_bits = packet.dropped;
  returned.identity = packet.identity;
  returned.valid = session_packet.valid;
  returned.again = returned.late = false;
}

}  // namespace ringscope
