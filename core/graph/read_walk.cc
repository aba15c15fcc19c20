#include "core/graph/read_walk.h"

#include <algorithm>

#include "core/session/session.h"

namespace ringscope {
namespace {

struct HeldChunk {
  ChunkName name;
  uint8_t flags = 0;
  bool incomplete = false;
  bool has_unread = false;
};

struct HeldChunks {
  std::vector<HeldChunk> chunks;
  uint64_t write_cursor = 0;
};

Result<HeldChunks> ChunksOf(const Engine& engine) {
  HeldChunks held;
  RS_ASSIGN_OR_RETURN(held.write_cursor, engine.VisitChunks([&](const ObservedChunk& chunk) {
    if (chunk.is_padding()) return;
    held.chunks.push_back({.name = {chunk.sequence, chunk.chunk},
                           .flags = chunk.flags,
                           .incomplete = chunk.incomplete,
                           .has_unread = chunk.payload_avail > 0});
  }));
  return held;
}

/// @param before the chunk of the sequence that precedes this one in the buffer, or nullptr
ReadStall StallAt(const HeldChunk& chunk, const HeldChunk* before) {
  ReadStall stall{.chunk = chunk.name, .waits_for = chunk.name.chunk};
  if (before != nullptr && Successor(before->name.chunk) != chunk.name.chunk) {
    // It stays in a V1 buffer after it was read, and a read pass ends at it.
    stall.reason = StallReason::kMissingChunk;
    stall.waits_for = before->name.chunk;
  } else if ((chunk.flags & kNeedsPatching) != 0) {
    stall.reason = StallReason::kNeedsPatch;
  } else {
    stall.reason = chunk.incomplete ? StallReason::kIncomplete : StallReason::kMissingChunk;
  }
  return stall;
}

/// Finds what the pass left unread: of each sequence the oldest chunk.
std::vector<ReadStall> StallsOf(const HeldChunks& after) {
  std::map<SequenceKey, std::vector<const HeldChunk*>> sequences;
  for (const HeldChunk& chunk : after.chunks) sequences[chunk.name.sequence].push_back(&chunk);
  std::vector<ReadStall> stalls;
  for (auto& [sequence, chunks] : sequences) {
    // Steps from one of them: an order even where ids are further apart than any writer's.
    const ChunkId one = chunks.front()->name.chunk;
    std::sort(chunks.begin(), chunks.end(), [&](const HeldChunk* a, const HeldChunk* b) {
      return SignedDistance(one, a->name.chunk) < SignedDistance(one, b->name.chunk);
    });
    const auto is_unread = [](const HeldChunk* chunk) { return chunk->has_unread; };
    const auto oldest = std::find_if(chunks.begin(), chunks.end(), is_unread);
    if (oldest == chunks.end()) continue;
    stalls.push_back(StallAt(**oldest, oldest == chunks.begin() ? nullptr : oldest[-1]));
    stalls.back().chunks = static_cast<uint64_t>(std::count_if(oldest, chunks.end(), is_unread));
  }
  return stalls;
}

Status Walk(const SessionBuffer& buffer, ReadWalk& walk) {
  RS_ASSIGN_OR_RETURN(const std::unique_ptr<Engine> clone, buffer.engine->Clone());
  // An engine that does not report its chunks still shows which packets it returns.
  if (const Result<HeldChunks> before = ChunksOf(*clone)) walk.write_cursor = before->write_cursor;
  clone->BeginRead();
  while (const Packet* packet = clone->NextPacket()) {
    const ChunkId chunk = packet->place.first_chunk;
    if (walk.steps.empty() || walk.steps.back().sequence != packet->sequence)
      walk.steps.push_back(
          {.number = walk.steps.size() + 1, .sequence = packet->sequence, .first_chunk = chunk});
    walk.steps.back().last_chunk = chunk;
    walk.steps.back().packets += {1, packet->size};
  }
  RS_RETURN_IF_ERROR(CheckEngine(buffer.id, *clone));
  if (const Result<HeldChunks> after = ChunksOf(*clone)) walk.stalls = StallsOf(*after);
  return {};
}

}  // namespace

void ReadWalks::OnRecord(const Op& op, const LogMoment& moment) {
  if (watch_.Passes(op, moment)) TakeAll();
}

void ReadWalks::OnReadBegun(BufferId) {
  if (!watch_.is_given() && !has_steps()) TakeAll();
}

Status ReadWalks::OnLogEnd(Session&) {
  if (!watch_.has_passed() && !has_steps()) TakeAll();
  return {};
}

bool ReadWalks::has_steps() const {
  return std::ranges::any_of(walks_, [](const ReadWalk& walk) { return !walk.steps.empty(); });
}

void ReadWalks::TakeAll() {
  walks_.clear();
  for (const auto& [id, buffer] : buffers_) {
    if (buffer->freed) continue;
    ReadWalk& walk = walks_.emplace_back();
    walk.buffer = id;
    walk.index = buffer->index;
    walk.engine = buffer->info->name;
    walk.order = buffer->info->read_order;
    walk.at = watch_.at();
    walk.status = Walk(*buffer, walk);
  }
  std::stable_sort(walks_.begin(), walks_.end(),
                   [](const ReadWalk& a, const ReadWalk& b) { return a.index < b.index; });
}

}  // namespace ringscope
