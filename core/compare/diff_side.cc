#include "core/compare/diff_side.h"

#include <xxhash.h>

#include <algorithm>

#include "core/base/wire.h"
#include "core/perfetto/packet_facts.h"
#include "core/session/session_errors.h"

namespace ringscope {
namespace {

constexpr size_t kChunksShown = 4;
constexpr size_t kEventsShown = 12;

/// Returns true if place (chunk, offset) comes before the other in its sequence.
bool ComesBefore(ChunkId chunk, uint32_t offset, ChunkId other_chunk, uint32_t other_offset) {
  return chunk == other_chunk ? offset < other_offset : Precedes(chunk, other_chunk);
}

/// Returns true if an event helps to understand what became of a chunk.
bool Concerns(const BufferEvent& event, ChunkName chunk) {
  using Kind = BufferEvent::Kind;
  if (event.kind == Kind::kWrap) return true;
  // A chunk leaves the buffer when it was read or evicted, which is reported as well.
  if (event.kind == Kind::kErased) return event.chunk == chunk;
  if (event.by && event.by->sequence == chunk.sequence) return true;
  return event.chunk.sequence == chunk.sequence;
}

}  // namespace

void DiffSide::StartRecord() {
  constexpr size_t kMostKept = 65536;
  // A read of a whole buffer is rare, and its memory would stay.
  if (packets_.capacity() > kMostKept) packets_ = {};
  ++record_count_;
  packets_.clear();
  patches_.clear();
  touched_.clear();
  cloned_.clear();
  missed_.clear();
  last_chunk_.second = nullptr;  // entries are dropped between records
}

Status DiffSide::Apply(const Op& op, uint64_t number) {
  StartRecord();
  return EndRecord(replay_.Apply(op, number));
}

Status DiffSide::Finish() {
  StartRecord();
  return EndRecord(replay_.Finish());
}

Status DiffSide::EndRecord(Status status) const {
  if (!status) return status;
  for (const BufferId id : touched_)
    if (const SessionBuffer* buffer = Buffer(id))
      RS_RETURN_IF_ERROR(CheckEngine(id, *buffer->engine));
  return {};
}

void DiffSide::Touch(BufferId buffer) {
  if (std::find(touched_.begin(), touched_.end(), buffer) == touched_.end())
    touched_.push_back(buffer);
}

const SessionBuffer* DiffSide::Buffer(BufferId buffer) const {
  const auto found = replay_.session().buffers().find(buffer);
  return found == replay_.session().buffers().end() ? nullptr : &found->second;
}

ReturnedPacket& DiffSide::AddPacket(const SessionPacket& session_packet, uint32_t clone) {
  const Packet& packet = *session_packet.packet;
  ReturnedPacket& returned = packets_.emplace_back();
  returned.place = {.buffer = session_packet.buffer,
                    .clone = clone,
                    .sequence = packet.sequence,
                    .chunk = packet.place.first_chunk,
                    .offset = packet.place.first_offset};
  returned.is_placed = packet.place != kUnknownPlace;
  returned.last_chunk = packet.place.last_chunk;
  returned.content = packet.slices.empty() ? 0 : ReadPacketFacts(packet.slices[0]).content;
  returned.size = packet.size;
  const Bytes bytes = Joined(packet.slices, joined_);
  returned.hash = XXH3_64bits(bytes.data(), bytes.size());
  returned.loss_bits = packet.dropped;
  returned.identity = packet.identity;
  returned.valid = session_packet.valid;
  return returned;
}

void DiffSide::ForgetBuffer(BufferId buffer) {
  if (const auto found = buffers_.find(buffer); found != buffers_.end()) {
    // What was counted of it counts for the id.
    BufferState next;
    next.read = found->second.read;
    next.peak_bytes = found->second.peak_bytes;
    found->second = std::move(next);
  }
  last_chunk_.second = nullptr;
  recent_.Forget(buffer);
}

void DiffSide::NoteOrder(ReturnedPacket& returned) {
  BufferState& buffer = StateFor(returned.place.buffer);
  buffer.read += {1, returned.size};
  SequenceState& sequence = buffer.sequences[returned.place.sequence];
  sequence.stall.reset();
  if (!returned.is_placed) return;
  returned.late = sequence.returned && ComesBefore(returned.place.chunk, returned.place.offset,
                                                   sequence.chunk, sequence.offset);
  if (!returned.late) {
    sequence.chunk = returned.place.chunk;
    sequence.offset = returned.place.offset;
    sequence.returned = true;
  }
  const ChunkAt at = returned.chunk();
  if (last_chunk_.second == nullptr || last_chunk_.first != at) {
    DiffChunks::Entry* entry = chunks_.Find(at);
    last_chunk_ = {at, entry == nullptr ? nullptr : &(*entry)[side_]};
  }
  if (ChunkOnSide* chunk = last_chunk_.second) {
    returned.again = returned.place.offset < chunk->returned_to;
    chunk->returned_to = std::max(chunk->returned_to, returned.place.offset + 1);
  }
}

DiffSide::BufferState& DiffSide::StateFor(BufferId buffer) {
  if (last_buffer_.second == nullptr || last_buffer_.first != buffer)
    last_buffer_ = {buffer, &buffers_[buffer]};
  BufferState& state = *last_buffer_.second;
  if (state.record != record_count_) {
    state.record = record_count_;
    state.before = state.now;
  }
  return state;
}

void DiffSide::OnBufferEvent(const BufferEvent& event) {
  using Kind = BufferEvent::Kind;
  if (event.kind == Kind::kReturned) return;
  recent_.Add(event);
  reports_events_ = true;
  const ChunkAt at{event.buffer, event.chunk};
  const auto on_this_side = [&]() -> ChunkOnSide& { return chunks_.At(at)[side_]; };
  switch (event.kind) {
    case Kind::kCommitted:
      TakeIn(event, on_this_side());
      break;
    case Kind::kRewritten:
    case Kind::kPatched: {
      HeldChunk& info = on_this_side().info;
      info.payload_size = event.payload_size;
      info.flags = event.flags;
      info.incomplete = event.incomplete;
      break;
    }
    case Kind::kDiscarded: {
      ChunkOnSide& chunk = on_this_side();
      NoteWhy(event, DiffWhy::Kind::kDiscarded, chunk);
      if (!chunk.held) chunks_.MayBeGone(at);
      break;
    }
    case Kind::kErased: {
      ChunkOnSide& chunk = on_this_side();
      if (event.erasure == Erasure::kOverwritten)
        NoteWhy(event, DiffWhy::Kind::kEvicted, chunk);
      else if (event.erasure == Erasure::kCleared)
        NoteWhy(event, DiffWhy::Kind::kCleared, chunk);
      else if (event.erasure == Erasure::kConsumed)
        NoteWhy(event, DiffWhy::Kind::kNotFound, chunk);
      TakeOut(event, chunk);
      break;
    }
    case Kind::kGivenUp: {
      DiffWhy why;
      why.kind = DiffWhy::Kind::kAbandoned;
      why.moment = moment_;
      why.loss_bits = event.loss_bits;
      on_this_side().abandoned.emplace_back(event.first_offset, why);
      break;
    }
    case Kind::kStalled:
      StateFor(event.buffer).sequences[event.chunk.sequence].stall =
          Stall{moment_, event.chunk.chunk, event.stall};
      break;
    case Kind::kPatchMissed:
      missed_.emplace_back(patches_.size(), event.chunk);
      break;
    case Kind::kWrap:
      StateFor(event.buffer).now.write_cursor = 0;
      ++StateFor(event.buffer).now.wraps;
      break;
    case Kind::kEvicting:  // what follows reports it
    case Kind::kRelocated:
    case Kind::kLossBit:
    case Kind::kPadding:
    case Kind::kReturned:
    case Kind::kFolded:
      break;
  }
}

void DiffSide::NoteWhy(const BufferEvent& event, DiffWhy::Kind kind, ChunkOnSide& chunk) {
  DiffWhy why;
  why.kind = kind;
  why.moment = moment_;
  why.discard = event.discard;
  why.by = event.by;
  why.with = event.with;
  chunk.why = std::make_unique<DiffWhy>(why);
}

void DiffSide::TakeIn(const BufferEvent& event, ChunkOnSide& chunk) {
  BufferState& buffer = StateFor(event.buffer);
  // An engine may take a chunk id twice.
  if (chunk.held) TakeOut(event, chunk);
  if (chunk.came < record_count_) {
    const bool comes_back = chunk.left == record_count_;
    chunk.previous = comes_back ? std::make_unique<HeldChunk>(chunk.info) : nullptr;
  }
  chunk.held = true;
  chunk.why.reset();
  chunk.info = {.chunk = event.chunk.chunk,
                .offset = event.offset,
                .outer_size = event.outer_size,
                .payload_size = event.payload_size,
                .flags = event.flags,
                .incomplete = event.incomplete,
                .committed = moment_};
  chunk.came = record_count_;
  buffer.now.write_cursor = event.offset + event.outer_size;
  ++buffer.now.held_chunks;
  buffer.now.held_bytes += event.outer_size;
  buffer.peak_bytes = std::max(buffer.peak_bytes, buffer.now.held_bytes);
}

void DiffSide::TakeOut(const BufferEvent& event, ChunkOnSide& chunk) {
  if (!chunk.held) return;
  chunk.held = false;
  BufferState& buffer = StateFor(event.buffer);
  chunk.left = record_count_;
  --buffer.now.held_chunks;
  buffer.now.held_bytes -= chunk.info.outer_size;
  chunks_.MayBeGone({event.buffer, event.chunk});
}

DiffWhy DiffSide::WhyNot(const DiffPlace& place, ChunkId last_chunk) const {
  const ChunkAt first{place.buffer, {place.sequence, place.chunk}};
  const DiffChunks::Entry* entry = chunks_.Find(first);
  if (entry == nullptr || !reports_events_) return {};
  const ChunkOnSide& chunk = (*entry)[side_];
  for (const auto& [offset, why] : chunk.abandoned)
    if (offset == place.offset) return why;
  if (!chunk.held) return chunk.why ? *chunk.why : DiffWhy{};

  // Its beginning is there: perhaps a later fragment is not.
  constexpr uint32_t kMostChunks = 4096;
  const uint32_t more = std::min(Distance(place.chunk, last_chunk), kMostChunks);
  for (uint32_t i = 1; i <= more; ++i) {
    const ChunkId id{Raw(place.chunk) + i};
    const DiffChunks::Entry* later = chunks_.Find({place.buffer, {place.sequence, id}});
    if (later != nullptr && !(*later)[side_].held && (*later)[side_].why)
      return *(*later)[side_].why;
  }
  DiffWhy why;
  why.kind = DiffWhy::Kind::kHeld;
  const auto buffer = buffers_.find(place.buffer);
  if (buffer == buffers_.end()) return why;
  const SequenceState* sequence = buffer->second.sequences.Find(place.sequence);
  if (sequence == nullptr) return why;
  if (const std::optional<Stall>& stall = sequence->stall) {
    why.kind = DiffWhy::Kind::kWaits;
    why.moment = stall->moment;
    why.stall = stall->reason;
    why.with = ChunkName{place.sequence, stall->chunk};
  }
  return why;
}

SideState DiffSide::StateOf(BufferId id, std::optional<ChunkName> near) const {
  SideState state;
  if (const auto buffer = buffers_.find(id); buffer != buffers_.end()) {
    const BufferState& known = buffer->second;
    const Fill& fill = known.record == record_count_ ? known.before : known.now;
    state.write_cursor = fill.write_cursor;
    state.held_chunks = fill.held_chunks;
    state.held_bytes = fill.held_bytes;
    state.wraps = fill.wraps;
  }
  if (const SessionBuffer* buffer = Buffer(id)) state.size = buffer->engine->stats().buffer_size;
  recent_.VisitBackwards([&](const BufferEvent& event) {
    if (event.buffer == id && (!near || Concerns(event, *near))) state.journal.push_back(event);
    return state.journal.size() < kEventsShown;
  });
  std::reverse(state.journal.begin(), state.journal.end());
  if (!near) return state;

  chunks_.ForEachOf(id, [&](ChunkName name, const DiffChunks::Entry& entry) {
    const ChunkOnSide& chunk = entry[side_];
    const bool came_now = chunk.came == record_count_;
    const bool was_held =
        came_now ? chunk.previous != nullptr : chunk.held || chunk.left == record_count_;
    if (name.sequence == near->sequence && was_held)
      state.chunks.push_back(came_now ? *chunk.previous : chunk.info);
  });
  state.sequence_chunks = state.chunks.size();
  const auto distance = [&](const HeldChunk& chunk) {
    return std::min(Distance(chunk.chunk, near->chunk), Distance(near->chunk, chunk.chunk));
  };
  std::sort(state.chunks.begin(), state.chunks.end(), [&](const HeldChunk& a, const HeldChunk& b) {
    return distance(a) != distance(b) ? distance(a) < distance(b) : Raw(a.chunk) < Raw(b.chunk);
  });
  state.chunks.resize(std::min(state.chunks.size(), kChunksShown));
  const auto forward = [&](const HeldChunk& chunk) {
    return SignedDistance(near->chunk, chunk.chunk);
  };
  std::sort(state.chunks.begin(), state.chunks.end(),
            [&](const HeldChunk& a, const HeldChunk& b) { return forward(a) < forward(b); });
  return state;
}

SideBuffer DiffSide::Outcome(const SessionBuffer& buffer) const {
  SideBuffer outcome{OutcomeOf(buffer)};
  if (const auto state = buffers_.find(buffer.id); state != buffers_.end()) {
    outcome.read = state->second.read;
    outcome.peak_bytes = state->second.peak_bytes;
  }
  return outcome;
}

std::optional<ChunkName> DiffSide::MissedPatch(size_t index) const {
  for (const auto& [patch, chunk] : missed_)
    if (patch == index) return chunk;
  return std::nullopt;
}

std::optional<ChunkName> DiffSide::LastTouched(BufferId buffer) const {
  std::optional<ChunkName> chunk;
  recent_.VisitBackwards([&](const BufferEvent& event) {
    if (event.at.record != moment_.record) return false;
    const bool has_chunk =
        event.kind != BufferEvent::Kind::kWrap && event.kind != BufferEvent::Kind::kPadding;
    if (event.buffer == buffer && has_chunk) chunk = event.chunk;
    return !chunk;
  });
  return chunk;
}

void DiffSide::Recent::Add(const BufferEvent& event) {
  if (events_.size() < kCapacity) events_.emplace_back();
  BufferEvent& kept = events_[next_];
  kept = event;
  kept.payload = {};  // valid during the call only
  kept.sent = nullptr;
  next_ = (next_ + 1) % kCapacity;
}

void DiffSide::Recent::Forget(BufferId buffer) {
  if (events_.empty()) return;
  const size_t oldest = next_ % events_.size();
  std::rotate(events_.begin(), events_.begin() + static_cast<std::ptrdiff_t>(oldest),
              events_.end());
  std::erase_if(events_, [&](const BufferEvent& event) { return event.buffer == buffer; });
  next_ = events_.size() % kCapacity;
}

}  // namespace ringscope
