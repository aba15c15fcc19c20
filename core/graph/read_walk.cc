#include "core/graph/read_walk.h"

#include <algorithm>

#include "core/base/sequence_map.h"
#include "core/session/session_errors.h"

namespace ringscope {
namespace {

struct HeldChunk {
  ChunkName name;
  uint64_t offset = 0;
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
                           .offset = chunk.offset,
                           .flags = chunk.flags,
                           .incomplete = chunk.incomplete,
                           .has_unread = chunk.payload_avail > 0});
  }));
  return held;
}

/// Packets that were returned one after the other and begin in the same chunk.
struct ReadRun {
  SequenceKey sequence;
  ChunkId chunk{};
  PacketCount packets;
};

void AddRun(const ReadRun& run, ReadStep& step) {
  if (step.packets.packets == 0) step.first_chunk = run.chunk;
  step.last_chunk = run.chunk;
  step.packets += run.packets;
}

/// Steps of an engine of which no more is known than what it returned.
std::vector<ReadStep> StepsBySequence(const std::vector<ReadRun>& runs) {
  std::vector<ReadStep> steps;
  for (const ReadRun& run : runs) {
    if (steps.empty() || steps.back().sequence != run.sequence)
      steps.push_back({.sequence = run.sequence});
    AddRun(run, steps.back());
  }
  return steps;
}

/// Follows the pass over the buffer: at each chunk it takes the packets that begin in it or in an
/// older chunk of its sequence.
std::vector<ReadStep> StepsByBuffer(const HeldChunks& held, const std::vector<ReadRun>& runs) {
  std::vector<HeldChunk> order = held.chunks;
  std::stable_partition(order.begin(), order.end(),
                        [&](const HeldChunk& chunk) { return chunk.offset >= held.write_cursor; });
  SequenceMap<std::optional<ChunkId>> reached;  // by sequence
  std::vector<ReadStep> steps;
  auto run = runs.begin();
  for (const HeldChunk& target : order) {
    const auto [sequence, chunk] = target.name;
    std::optional<ChunkId>& last = reached[sequence];
    if (last && !Precedes(*last, chunk)) continue;  // taken with a newer one
    last = chunk;
    ReadStep step{.sequence = sequence, .target = chunk, .offset = target.offset};
    for (; run != runs.end() && run->sequence == sequence && !Precedes(chunk, run->chunk); ++run)
      AddRun(*run, step);
    if (step.packets.packets == 0) continue;
    ReadStep* before = steps.empty() ? nullptr : &steps.back();
    if (before != nullptr && before->sequence == sequence) {
      before->packets += step.packets;
      before->last_chunk = step.last_chunk;
      before->target = chunk;
    } else {
      steps.push_back(step);
    }
  }
  return steps;
}

/// @param before the chunk of the sequence that precedes this one in the buffer; nullptr: none
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

/// What the pass left unread, of each sequence the oldest chunk.
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
  const Result<HeldChunks> before = ChunksOf(*clone);
  std::vector<ReadRun> runs;
  clone->BeginRead();
  while (const Packet* packet = clone->NextPacket()) {
    const ChunkName from{packet->sequence, packet->place.first_chunk};
    if (runs.empty() || ChunkName{runs.back().sequence, runs.back().chunk} != from)
      runs.push_back({.sequence = from.sequence, .chunk = from.chunk});
    runs.back().packets += {1, packet->size};
  }
  RS_RETURN_IF_ERROR(CheckEngine(buffer.id, *clone));
  if (before) walk.write_cursor = before->write_cursor;
  if (before && walk.order == ReadOrder::kByBuffer)
    walk.steps = StepsByBuffer(*before, runs);
  else
    walk.steps = StepsBySequence(runs);
  if (const Result<HeldChunks> after = ChunksOf(*clone)) walk.stalls = StallsOf(*after);
  return {};
}

}  // namespace

void ReadWalks::OnRecord(const Op& op, const LogMoment& moment) {
  if (watch_.Passes(op, moment)) TakeAll();
}

Status ReadWalks::OnLogEnd(Session&) {
  if (!watch_.has_passed()) TakeAll();
  return {};
}

void ReadWalks::TakeAll() {
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
