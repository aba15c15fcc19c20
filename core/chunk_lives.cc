#include "core/chunk_lives.h"

#include <algorithm>
#include <utility>

namespace ringscope {
namespace {

using Entry = ChunkLife::Entry;
using Exit = ChunkLife::Exit;
using Kind = JournalEvent::Kind;

}  // namespace

const char* Name(Entry entry) {
  switch (entry) {
    case Entry::kCommitted:
      return "committed";
    case Entry::kRewritten:
      return "rewritten";
    case Entry::kRelocated:
      return "relocated";
    case Entry::kUnchanged:
      return "unchanged";
    case Entry::kDiscarded:
      return "discarded";
    case Entry::kRefused:
      return "refused";
    case Entry::kUntold:
      return "untold";
  }
  return "";
}

const char* Name(Exit exit) {
  switch (exit) {
    case Exit::kNone:
      return "none";
    case Exit::kHeld:
      return "held";
    case Exit::kRead:
      return "read";
    case Exit::kEvicted:
      return "evicted";
    case Exit::kReplaced:
      return "replaced";
  }
  return "";
}

void ChunkLives::OnRecord(const Op& op, uint64_t number) {
  now_.record = number;
  if (op.time_ns) now_.time_ns = op.time_ns;
  if (const auto* commit = std::get_if<Commit>(&op.body)) origin_ = commit->origin;
}

void ChunkLives::OnChunk(BufferId buffer, const ChunkCommit& commit,
                         std::optional<Refusal> refusal) {
  current_ = {.number = ++commits_,
              .buffer = buffer,
              .chunk = {commit.sequence, commit.chunk},
              .committed = now_,
              .origin = origin_,
              .fragments = commit.fragments,
              .flags = commit.flags,
              .complete = commit.complete,
              .payload_bytes = static_cast<uint32_t>(commit.payload.size())};
  relocating_ = false;
  if (refusal) {
    current_.entry = Entry::kRefused;
    current_.why = Name(*refusal);
    listener_.OnChunkEntered(current_);
    return;
  }
  committing_ = true;
}

void ChunkLives::OnChunkDone(BufferId id, const ChunkCommit&) {
  committing_ = false;
  Buffer& buffer = buffers_[Raw(id)];
  const uint64_t key = current_.chunk.Packed();
  if (current_.entry == Entry::kUntold && buffer.held.contains(key))
    current_.entry = Entry::kUnchanged;
  if (current_.entered()) {
    End(buffer, key, Exit::kReplaced);
    buffer.held.emplace(key, current_);
    buffer.bytes += current_.outer_size;
  }
  listener_.OnChunkEntered(current_);
}

void ChunkLives::OnEvent(const JournalEvent& event) {
  switch (event.kind) {
    case Kind::kCommitted:
      return Enter(event, relocating_ ? Entry::kRelocated : Entry::kCommitted);
    case Kind::kRewritten:
      return Enter(event, Entry::kRewritten);
    case Kind::kRelocated:
      relocating_ = true;
      return;
    case Kind::kDiscarded:
      current_.entry = Entry::kDiscarded;
      current_.why = Name(event.discard);
      return;
    case Kind::kEvicting: {
      Buffer& buffer = buffers_[Raw(event.buffer)];
      const auto held = buffer.held.find(event.chunk.Packed());
      if (held == buffer.held.end()) return;
      held->second.evicted_by = event.by;
      held->second.evicted_by_number = current_.number;
      held->second.unread_bytes = event.payload_avail;
      return;
    }
    case Kind::kErased:
      return Leave(event);
    default:
      return;
  }
}

void ChunkLives::Enter(const JournalEvent& event, Entry entry) {
  current_.entry = entry;
  current_.offset = event.offset;
  current_.outer_size = event.outer_size;
}

void ChunkLives::Leave(const JournalEvent& event) {
  if (!reading_ && !committing_) return;
  Buffer& buffer = buffers_[Raw(event.buffer)];
  const uint64_t key = event.chunk.Packed();
  const auto held = buffer.held.find(key);
  if (held == buffer.held.end()) return;
  if (held->second.evicted_by) return End(buffer, key, Exit::kEvicted);
  // A chunk that moves leaves its old place for the commit under way.
  const bool moves = relocating_ && committing_ && event.chunk == current_.chunk;
  End(buffer, key, moves ? Exit::kReplaced : Exit::kRead);
}

void ChunkLives::End(Buffer& buffer, uint64_t key, Exit exit) {
  auto held = buffer.held.extract(key);
  if (held.empty()) return;
  ChunkLife& life = held.mapped();
  buffer.bytes -= life.outer_size;
  life.exit = exit;
  life.left = now_;
  listener_.OnChunkLeft(life);
}

void ChunkLives::EndAll(Buffer& buffer) {
  std::vector<std::pair<uint64_t, uint64_t>> order;  // by commit
  for (const auto& [key, life] : buffer.held) order.emplace_back(life.number, key);
  std::sort(order.begin(), order.end());
  for (const auto& [number, key] : order) End(buffer, key, Exit::kHeld);
}

void ChunkLives::OnBufferReplaced(SessionBuffer& buffer) { EndAll(buffers_[Raw(buffer.id)]); }

void ChunkLives::Finish() {
  std::vector<uint16_t> ids;
  for (const auto& [id, buffer] : buffers_) ids.push_back(id);
  std::sort(ids.begin(), ids.end());
  for (const uint16_t id : ids) EndAll(buffers_[id]);
}

uint64_t ChunkLives::HeldBytes(BufferId buffer) const {
  const auto found = buffers_.find(Raw(buffer));
  return found == buffers_.end() ? 0 : found->second.bytes;
}

}  // namespace ringscope
