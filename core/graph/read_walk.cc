#include "core/graph/read_walk.h"

#include <algorithm>
#include <deque>
#include <utility>

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

struct ReadPacket {
  SequenceKey sequence;
  ChunkId chunk{};
  uint64_t size = 0;
};

void AddPacket(const ReadPacket& packet, ReadStep& step) {
  if (step.packets.packets == 0) step.first_chunk = packet.chunk;
  step.last_chunk = packet.chunk;
  step.packets += {1, packet.size};
}

/// Steps of an engine of which no more is known than what it returned.
std::vector<ReadStep> StepsBySequence(const std::deque<ReadPacket>& packets) {
  std::vector<ReadStep> steps;
  for (const ReadPacket& packet : packets) {
    if (steps.empty() || steps.back().sequence != packet.sequence)
      steps.push_back({.sequence = packet.sequence});
    AddPacket(packet, steps.back());
  }
  return steps;
}

/// Follows the pass over the buffer: at each chunk it takes the packets that begin in it or in an
/// older chunk of its sequence.
std::vector<ReadStep> StepsByBuffer(const HeldChunks& held, std::deque<ReadPacket> packets) {
  std::vector<HeldChunk> order = held.chunks;
  std::stable_partition(order.begin(), order.end(),
                        [&](const HeldChunk& chunk) { return chunk.offset >= held.write_cursor; });
  SequenceMap<std::optional<ChunkId>> reached;  // by sequence
  std::vector<ReadStep> steps;
  for (const HeldChunk& target : order) {
    const auto [sequence, chunk] = target.name;
    std::optional<ChunkId>& last = reached[sequence];
    if (last && !Precedes(*last, chunk)) continue;  // taken with a newer one
    last = chunk;
    ReadStep step{.sequence = sequence, .target = chunk, .offset = target.offset};
    while (!packets.empty() && packets.front().sequence == sequence &&
           !Precedes(chunk, packets.front().chunk)) {
      AddPacket(packets.front(), step);
      packets.pop_front();
    }
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

/// The chunk of the sequence before this one, if there is one that is not its neighbour: what
/// stays in a V1 buffer after it was read, and where a read pass ends.
const HeldChunk* BeforeGap(const HeldChunks& held, const HeldChunk& chunk) {
  const HeldChunk* before = nullptr;
  for (const HeldChunk& other : held.chunks) {
    if (other.name.sequence != chunk.name.sequence || !Precedes(other.name.chunk, chunk.name.chunk))
      continue;
    if (before == nullptr || Precedes(before->name.chunk, other.name.chunk)) before = &other;
  }
  const bool is_gap = before != nullptr && Raw(before->name.chunk) + 1 != Raw(chunk.name.chunk);
  return is_gap ? before : nullptr;
}

ReadStall StallAt(const HeldChunks& held, const HeldChunk& chunk) {
  ReadStall stall{.chunk = chunk.name, .waits_for = chunk.name.chunk};
  if (const HeldChunk* before = BeforeGap(held, chunk)) {
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
  std::map<SequenceKey, std::vector<const HeldChunk*>> left;
  for (const HeldChunk& chunk : after.chunks)
    if (chunk.has_unread) left[chunk.name.sequence].push_back(&chunk);
  std::vector<ReadStall> stalls;
  for (const auto& [sequence, chunks] : left) {
    const HeldChunk& oldest = **std::min_element(chunks.begin(), chunks.end(),
                                                 [](const HeldChunk* a, const HeldChunk* b) {
                                                   return Precedes(a->name.chunk, b->name.chunk);
                                                 });
    stalls.push_back(StallAt(after, oldest));
    stalls.back().chunks = chunks.size();
  }
  return stalls;
}

Status Walk(const SessionBuffer& buffer, ReadWalk& walk) {
  RS_ASSIGN_OR_RETURN(const std::unique_ptr<Engine> clone, buffer.engine->Clone());
  // An engine that does not report its chunks still shows which packets it returns.
  const Result<HeldChunks> before = ChunksOf(*clone);
  std::deque<ReadPacket> packets;
  clone->BeginRead();
  while (const Packet* packet = clone->NextPacket())
    packets.push_back({packet->sequence, packet->place.first_chunk, packet->size});
  RS_RETURN_IF_ERROR(CheckEngine(buffer.id, *clone));
  if (before) walk.write_cursor = before->write_cursor;
  if (before && walk.order == ReadOrder::kByBuffer)
    walk.steps = StepsByBuffer(*before, std::move(packets));
  else
    walk.steps = StepsBySequence(packets);
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
