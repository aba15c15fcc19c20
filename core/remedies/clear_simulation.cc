#include "core/remedies/clear_simulation.h"

#include <algorithm>
#include <utility>

#include "core/base/wire.h"
#include "core/perfetto/chunk.h"
#include "core/perfetto/fields.h"
#include "core/perfetto/fragment.h"
#include "core/perfetto/packet_facts.h"

namespace ringscope {
namespace {

constexpr uint64_t kChunkHeaderInRing = 16;

/// Bytes of a packet that set incremental state up.
uint64_t StateBytes(Bytes packet) {
  using Packet = proto::TracePacket;
  uint64_t bytes = 0;
  wire::FieldReader fields(packet);
  while (const auto field = fields.Next())
    if (field->IsBytes(Packet::kInternedData) || field->IsBytes(Packet::kTracePacketDefaults) ||
        field->IsBytes(Packet::kTrackDescriptor))
      bytes += field->whole.size();
  return bytes;
}

}  // namespace

ClearSimulation::ClearSimulation(BufferId buffer, uint64_t size, std::vector<uint64_t> periods)
    : buffer_(buffer), size_(size), periods_(std::move(periods)), more_bytes_(periods_.size(), 0) {}

void ClearSimulation::Add(const Op& op) {
  const auto* commit = std::get_if<Commit>(&op.body);
  if (op.time_ns && !start_ns_) start_ns_ = op.time_ns;
  if (commit == nullptr || !op.time_ns || !parser_.Parse(commit->request)) return;
  for (const ChunkToMove& chunk : parser_.chunks()) {
    const std::optional<ChunkHeader> header = chunk.header();
    if (header && TargetBufferOf(chunk.target_buffer) == buffer_)
      AddChunk({commit->producer, header->writer}, *op.time_ns,
               chunk.data->subspan(kChunkHeaderSize), *header);
  }
}

void ClearSimulation::AddChunk(SequenceKey key, uint64_t time_ns, Bytes payload,
                               const ChunkHeader& header) {
  Sequence& sequence = sequences_[key];
  Chunk chunk{.sequence = key,
              .time_ns = time_ns,
              .before_ns = sequence.last_ns,
              .bytes = payload.size() + kChunkHeaderInRing,
              .state_bytes = sequence.state_bytes};
  bool is_begin = (header.flags & kFirstContinues) == 0;
  VisitFragments(payload, header.fragments, [&](const Fragment& fragment) {
    if (!std::exchange(is_begin, true)) return;
    const Bytes packet = payload.subspan(fragment.body, fragment.size());
    const PacketFacts facts = ReadPacketFacts(packet);
    ++chunk.packets;
    chunk.needing += facts.needs_state ? 1 : 0;
    if (facts.clears_state) {
      chunk.clears = true;
      sequence.state_bytes = 0;
    }
    sequence.state_bytes += StateBytes(packet);
  });
  for (size_t i = 0; i < periods_.size(); ++i)
    if (FollowsClear(chunk, periods_[i])) more_bytes_[i] += chunk.state_bytes;
  sequence.last_ns = time_ns;
  bytes_ += chunk.bytes;
  chunks_.push_back(chunk);
  while (bytes_ - chunks_.front().bytes >= size_) {
    bytes_ -= chunks_.front().bytes;
    chunks_.pop_front();
  }
}

bool ClearSimulation::FollowsClear(const Chunk& chunk, uint64_t period_ns) const {
  const auto clears = [&](uint64_t ns) { return (ns - std::min(ns, *start_ns_)) / period_ns; };
  return chunk.before_ns && clears(chunk.time_ns) > clears(*chunk.before_ns);
}

ClearedOutcome ClearSimulation::OutcomeOf(size_t period) const {
  ClearedOutcome outcome{.period_ns = periods_[period], .more_bytes = more_bytes_[period]};
  size_t first = chunks_.size();
  uint64_t bytes = 0;
  while (first > 0) {
    const Chunk& chunk = chunks_[first - 1];
    bytes += chunk.bytes + (FollowsClear(chunk, outcome.period_ns) ? chunk.state_bytes : 0);
    if (bytes > size_) break;
    --first;
  }
  SequenceMap<bool> has_state;
  for (size_t i = first; i < chunks_.size(); ++i) {
    const Chunk& chunk = chunks_[i];
    bool& usable = has_state[chunk.sequence];
    usable |= chunk.clears || FollowsClear(chunk, outcome.period_ns);
    outcome.packets += chunk.packets;
    outcome.usable += chunk.packets - (usable ? 0 : chunk.needing);
  }
  return outcome;
}

std::vector<ClearedOutcome> ClearSimulation::Outcomes() const {
  std::vector<ClearedOutcome> outcomes;
  for (size_t i = 0; i < periods_.size(); ++i) outcomes.push_back(OutcomeOf(i));
  return outcomes;
}

}  // namespace ringscope
