#include "core/tape/tape_recorder.h"

#include <functional>
#include <utility>

namespace ringscope {
namespace {

/// Bytes in a section, about.
constexpr size_t kSectionBytes = size_t{512} << 10;

/// Whether what listens may ask for the payload of such an event.
bool KeepsPayload(const BufferEvent& event) {
  switch (event.kind) {
    case BufferEvent::Kind::kErased:
    case BufferEvent::Kind::kPatched:
    case BufferEvent::Kind::kPatchMissed:
    case BufferEvent::Kind::kFolded:
      return true;
    default:
      return false;
  }
}

}  // namespace

void TapeRecorder::AddStep(Kind kind, size_t index) {
  section_->steps.push_back({kind, static_cast<uint32_t>(index)});
}

void TapeRecorder::AddCount(Kind kind, BufferId id, uint64_t count) {
  AddStep(kind, section_->counts.size());
  section_->counts.push_back({id, count});
}

void TapeRecorder::PutIfFull() {
  if (section_->steps.size() >= steps_ || section_->bytes.copied() >= kSectionBytes) PutSection();
}

void TapeRecorder::PutSection() {
  if (!section_->steps.empty()) {
    Status played = runner_.Put(std::move(section_));
    if (status_) status_ = std::move(played);
    section_ = runner_.Take();
  }
  request_ = copied_request_ = {};  // is not in the next section
}

void TapeRecorder::CatchUp() {
  PutSection();
  Status played = runner_.Wait();
  if (status_) status_ = std::move(played);
}

Status TapeRecorder::Finish() {
  CatchUp();
  return status_;
}

/// Of a request's bytes there is a copy already.
Bytes TapeRecorder::CopyOfRequestPart(Bytes bytes) {
  // They may be of different arrays, for which only these are an order.
  const std::less_equal<const uint8_t*> is_before;
  const bool is_part = !request_.empty() && is_before(request_.data(), bytes.data()) &&
                       is_before(bytes.data() + bytes.size(), request_.data() + request_.size());
  if (!is_part) return section_->bytes.Copy(bytes);
  return copied_request_.subspan(static_cast<size_t>(bytes.data() - request_.data()), bytes.size());
}

void TapeRecorder::OnRecord(const Op& op, const LogMoment& moment) {
  PutIfFull();
  AddStep(Kind::kRecord, section_->records.size());
  TapeSection::Record& record = section_->records.Add();
  record.op = op;
  record.moment = moment;
  auto* const commit = std::get_if<Commit>(&record.op.body);
  if (commit == nullptr) return;
  request_ = commit->request;
  commit->request = copied_request_ = section_->bytes.Copy(request_);
}

void TapeRecorder::OnChunk(BufferId id, const ChunkCommit& commit, std::optional<Refusal> refusal) {
  AddStep(Kind::kChunk, section_->chunks.size());
  TapeSection::Chunk& chunk = section_->chunks.Add();
  chunk.buffer = id;
  chunk.refusal = refusal;
  chunk.commit = commit;
  chunk.commit.payload = CopyOfRequestPart(commit.payload);
  chunk.written.Take(chunk.commit);
  chunk.written.ReadPackets();
}

void TapeRecorder::OnChunkDone(BufferId id, const ChunkCommit&) {
  AddStats(id);
  AddStep(Kind::kChunkDone, section_->chunks.size() - 1);
}

void TapeRecorder::OnPatch(BufferId id, bool ok) {
  AddStats(id);
  AddCount(Kind::kPatch, id, ok ? 1 : 0);
}

void TapeRecorder::OnReadBegun(BufferId id) { AddCount(Kind::kReadBegun, id); }
void TapeRecorder::OnReadLimited(BufferId id) { AddCount(Kind::kReadLimited, id); }
void TapeRecorder::OnReadDone(BufferId id, uint64_t packets) {
  AddStats(id);
  AddCount(Kind::kReadDone, id, packets);
}

void TapeRecorder::AddStats(BufferId id) {
  const auto buffer = buffers_.find(id);
  if (buffer == buffers_.end()) return;
  AddStep(Kind::kStats, section_->stats.size());
  section_->stats.push_back({id, buffer->second->engine->stats()});
}

void TapeRecorder::AddPacket(Kind kind, const SessionPacket& packet) {
  AddStep(kind, section_->packets.size());
  TapeSection::ReadPacket& copy = section_->packets.Add();
  copy.packet = *packet.packet;
  copy.slices.clear();
  for (const Bytes slice : packet.packet->slices)
    copy.slices.push_back(section_->bytes.Copy(slice));
  copy.packet.slices = copy.slices;
  if (kind == Kind::kPacket) copy.facts = FactsOfFirstSlice(copy.packet);
  copy.of_session = packet;
  copy.of_session.packet = &copy.packet;
}

// Between two packets of a read a section may end; within a commit it may not.
Status TapeRecorder::OnPacket(const SessionPacket& packet) {
  AddPacket(Kind::kPacket, packet);
  PutIfFull();
  return status_;
}
void TapeRecorder::OnTakenPacket(const SessionPacket& packet) {
  AddPacket(Kind::kTakenPacket, packet);
  PutIfFull();
}
void TapeRecorder::OnClonePacket(const SessionPacket& packet) {
  AddPacket(Kind::kClonePacket, packet);
  PutIfFull();
}
void TapeRecorder::OnDrainBegun(BufferId id) { AddCount(Kind::kDrainBegun, id); }
void TapeRecorder::OnDrainPacket(BufferId id, const Packet& packet) {
  AddPacket(Kind::kDrainPacket, {.buffer = id, .packet = &packet});
  PutIfFull();
}

void TapeRecorder::AddEvent(Kind kind, const BufferEvent& event) {
  // V1 counts some violations as it reads.
  if (event.kind == BufferEvent::Kind::kGivenUp) AddStats(event.buffer);
  AddStep(kind, section_->events.size());
  BufferEvent& copy = section_->events.emplace_back(event);
  copy.payload = KeepsPayload(event) ? section_->bytes.Copy(event.payload) : Bytes{};
  if (event.sent == nullptr) return;
  TapeSection::Sent& sent = section_->sent.Add();
  sent.patches = *event.sent;
  sent.list.assign(event.sent->patches.begin(), event.sent->patches.end());
  for (Patch& patch : sent.list) patch.data = section_->bytes.Copy({patch.data, kPatchSize}).data();
  sent.patches.patches = sent.list;
  copy.sent = &sent.patches;
}

void TapeRecorder::OnBufferEvent(const BufferEvent& event) { AddEvent(Kind::kEvent, event); }
void TapeRecorder::OnDrainEvent(const BufferEvent& event) { AddEvent(Kind::kDrainEvent, event); }

void TapeRecorder::OnBufferSetUp(SessionBuffer& buffer) {
  CatchUp();
  if (!status_) return;
  buffers_[buffer.id] = &buffer;
  player_.SetUp(buffer);
}
void TapeRecorder::OnProgramSetUp(const SessionBuffer& buffer) {
  CatchUp();
  if (status_) player_.all().Call(&ReplayListener::OnProgramSetUp, buffer);
}
void TapeRecorder::OnBufferEmptied(SessionBuffer& buffer) {
  CatchUp();
  if (status_) player_.all().Call(&ReplayListener::OnBufferEmptied, buffer);
}
void TapeRecorder::OnBufferReplaced(SessionBuffer& buffer) {
  CatchUp();
  if (status_) player_.all().Call(&ReplayListener::OnBufferReplaced, buffer);
  player_.Forget(buffer.id);
  buffers_.erase(buffer.id);
}
Status TapeRecorder::OnProtoVms(const ProtoVmsRead& read) {
  CatchUp();
  RS_RETURN_IF_ERROR(status_);
  return player_.all().Call(&ReplayListener::OnProtoVms, read);
}
void TapeRecorder::OnProtoVmStates(const SessionBuffer& buffer) {
  CatchUp();
  if (status_) player_.all().Call(&ReplayListener::OnProtoVmStates, buffer);
}
void TapeRecorder::OnCloneBegun(const SessionBuffer& buffer) {
  CatchUp();
  if (status_) player_.all().Call(&ReplayListener::OnCloneBegun, buffer);
}
void TapeRecorder::OnCloneDone(BufferId id, uint64_t packets, const BufferStats& stats) {
  CatchUp();
  if (status_) player_.all().Call(&ReplayListener::OnCloneDone, id, packets, stats);
}
Status TapeRecorder::OnLogEnd(Session& session) {
  CatchUp();
  RS_RETURN_IF_ERROR(status_);
  return player_.all().Call(&ReplayListener::OnLogEnd, session);
}
void TapeRecorder::OnDrained() {
  CatchUp();
  if (status_) player_.all().Call(&ReplayListener::OnDrained);
}
void TapeRecorder::OnWarning(const std::string& text) {
  CatchUp();
  if (status_) player_.all().Call(&ReplayListener::OnWarning, text);
}

}  // namespace ringscope
