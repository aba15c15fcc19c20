#include "core/loss_analysis.h"

#include "core/packet_traits.h"
#include "core/trusted_fields.h"
#include "core/wire.h"

namespace ringscope {
namespace {

/// The slices as one, joined in `scratch` if there are several.
Bytes Join(std::span<const Bytes> slices, std::string& scratch) {
  if (slices.size() == 1) return slices.front();
  scratch.clear();
  for (const Bytes slice : slices) scratch += wire::AsText(slice);
  return wire::AsBytes(scratch);
}

}  // namespace

void LossAnalysis::AddPacket(const SessionPacket& session_packet) {
  const Packet& packet = *session_packet.packet;
  const PacketFacts facts = packet.shape != nullptr
                                ? FactsOf(packet.shape->traits)
                                : ReadPacketFacts(Join(packet.slices, scratch_));
  // The service's field stands behind the producer's own and so takes its place.
  const uint32_t dropped = packet.dropped != 0 ? packet.dropped : facts.dropped;

  uint32_t slot = slots_.Find(packet.sequence);
  const bool is_first = slot == KeyIndex::kNone;
  if (is_first) {
    slot = static_cast<uint32_t>(sequences_.size());
    slots_.Insert(packet.sequence, slot);
    sequences_.emplace_back().buffer = session_packet.buffer;
  }
  SequenceState& state = sequences_[slot];
  BufferLosses& losses = losses_[session_packet.buffer];
  if (dropped != 0 && !is_first) {
    ++losses.sequence_packet_loss;
    for (size_t i = 0; i < kLossBitNames.size(); ++i)
      losses.by_bit[i] += (dropped & kLossBitNames[i].bit) != 0 ? 1 : 0;
  }
  if (facts.clears_state) {
    state.state_valid = true;
  } else if (dropped != 0) {
    state.state_valid = false;
  }
  if (facts.needs_state) {
    state.needed_state = true;
    state.used_state |= state.state_valid;
  }
}

std::map<BufferId, BufferLosses> LossAnalysis::Result() const {
  std::map<BufferId, BufferLosses> result = losses_;
  for (size_t slot = 0; slot < sequences_.size(); ++slot) {
    const SequenceState& state = sequences_[slot];
    if (state.needed_state && !state.used_state)
      ++result[state.buffer].incremental_sequences_dropped;
  }
  return result;
}

}  // namespace ringscope
