#ifndef RINGSCOPE_CORE_SESSION_LOSS_ANALYSIS_H_
#define RINGSCOPE_CORE_SESSION_LOSS_ANALYSIS_H_

#include <cstdint>
#include <map>

#include "core/base/sequence_map.h"
#include "core/perfetto/data_loss.h"
#include "core/perfetto/packet_facts.h"
#include "core/session/session.h"

namespace ringscope {

/// Losses of one buffer that only the packets show, by trace processor's definitions: of packets
/// with a non-zero previous_packet_dropped that are not their sequence's first.
struct BufferLosses : LossCounts {
  uint64_t incremental_sequences_dropped = 0;  // sequences all of whose state-needing packets (at
                                               // least one) are unusable
};

/// Watches the packets that go into a trace and derives what trace processor would report.
/// Memory: O(sequences).
class LossAnalysis {
 public:
  /// Takes the packets in the trace's order, valid ones only.
  /// @return the loss bits that are counted of this packet; 0: none
  uint32_t AddPacket(const SessionPacket& session_packet, const PacketFacts& facts) {
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
  /// By buffer; buffers without packets are absent.
  std::map<BufferId, BufferLosses> Result() const {
    std::map<BufferId, BufferLosses> result = losses_;
    VisitDropped(
        [&](BufferId buffer, SequenceKey) { ++result[buffer].incremental_sequences_dropped; });
    return result;
  }
  /// Calls `visit(BufferId, SequenceKey)` for each sequence that counts as dropped.
  template <typename Visit>
  void VisitDropped(Visit visit) const {
    for (size_t n = 0; n < sequences_.size(); ++n) {
      const SequenceState& state = sequences_.At(n).value;
      if (state.needed_state && !state.used_state) visit(state.buffer, sequences_.At(n).key);
    }
  }

 private:
  struct SequenceState {
    BufferId buffer{};
    IncrementalState incremental;
    bool needed_state = false;  // at least one packet needed it
    bool used_state = false;    // and at least one could use it
  };
  SequenceMap<SequenceState> sequences_;
  std::map<BufferId, BufferLosses> losses_;
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_SESSION_LOSS_ANALYSIS_H_
