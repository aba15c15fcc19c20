#include "core/session/loss_analysis.h"

#include "core/base/wire.h"

namespace ringscope {

uint32_t LossAnalysis::AddPacket(const SessionPacket& session_packet, const PacketFacts& facts) {
  const Packet& packet = *session_packet.packet;
  // The service's field follows the producer's own and so replaces it.
  const uint32_t dropped = packet.dropped != 0 ? packet.dropped : facts.dropped;

  const bool is_first = sequences_.Find(packet.sequence) == nullptr;
  SequenceState& state = sequences_[packet.sequence];
  if (is_first) state.buffer = session_packet.buffer;
  BufferLosses& losses = losses_[session_packet.buffer];
  if (dropped != 0 && !is_first) losses.Add(dropped);
  state.incremental.Add(facts.clears_state, dropped != 0);
  if (facts.needs_state) {
    state.needed_state = true;
    state.used_state |= state.incremental.valid();
  }
  return is_first ? 0 : dropped;
}

std::map<BufferId, BufferLosses> LossAnalysis::Result() const {
  std::map<BufferId, BufferLosses> result = losses_;
  VisitDropped(
      [&](BufferId buffer, SequenceKey) { ++result[buffer].incremental_sequences_dropped; });
  return result;
}

}  // namespace ringscope
