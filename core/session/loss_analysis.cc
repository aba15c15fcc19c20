#include "core/session/loss_analysis.h"

#include "core/base/wire.h"

namespace ringscope {

void LossAnalysis::AddPacket(const SessionPacket& packet) {
  AddPacket(packet, ReadPacketFacts(Joined(packet.packet->slices, scratch_)));
}

void LossAnalysis::AddPacket(const SessionPacket& session_packet, const PacketFacts& facts) {
  const Packet& packet = *session_packet.packet;
  // The service's field follows the producer's own and so replaces it.
  const uint32_t dropped = packet.dropped != 0 ? packet.dropped : facts.dropped;

  const bool is_first = sequences_.Find(packet.sequence) == nullptr;
  SequenceState& state = sequences_[packet.sequence];
  if (is_first) state.buffer = session_packet.buffer;
  BufferLosses& losses = losses_[session_packet.buffer];
  if (dropped != 0 && !is_first) {
    ++losses.sequence_packet_loss;
    for (size_t i = 0; i < kLossBitNames.size(); ++i)
      losses.by_bit[i] += (dropped & kLossBitNames[i].bit) != 0 ? 1 : 0;
  }
  state.incremental.Add(facts, dropped != 0);
  if (facts.needs_state) {
    state.needed_state = true;
    state.used_state |= state.incremental.valid();
  }
}

std::map<BufferId, BufferLosses> LossAnalysis::Result() const {
  std::map<BufferId, BufferLosses> result = losses_;
  for (size_t n = 0; n < sequences_.size(); ++n) {
    const SequenceState& state = sequences_.At(n).value;
    if (state.needed_state && !state.used_state)
      ++result[state.buffer].incremental_sequences_dropped;
  }
  return result;
}

}  // namespace ringscope
