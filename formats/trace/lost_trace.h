#ifndef RINGSCOPE_FORMATS_TRACE_LOST_TRACE_H_
#define RINGSCOPE_FORMATS_TRACE_LOST_TRACE_H_

#include <cstdint>
#include <optional>

#include "core/ledger/lost_packets.h"
#include "core/session/sequence_ids.h"
#include "formats/trace/loss_trace.h"

namespace ringscope {

/// Writes the packets that the buffers lost as a trace of their own. Each packet is followed by an
/// event on what became of it: a track event, as nothing can be added to the packet itself.
/// Memory: that of LostPackets.
class LostTrace : public LossTrace {
 public:
  struct Counts {
    FateCount written;
    FateCount beyond_limit;
    FateCounts unwritable;  // incomplete or not well-formed
  };
  /// @param limit bytes, about: once the trace is as large, no further packet is written
  LostTrace(ByteSink& sink, uint64_t limit);

  /// At the end of the log. Writes out what is pending, and an event on what is not in the trace.
  Status Finish();
  Counts counts() const;

  void OnRecord(const Op& op, const LogMoment& moment) override;
  void OnChunk(BufferId buffer, const ChunkCommit& commit, std::optional<Refusal> refusal) override;
  void OnBufferReplaced(SessionBuffer& buffer) override { packets_.OnBufferReplaced(buffer); }
  void OnBufferEvent(const BufferEvent& event) override { packets_.OnBufferEvent(event); }
  void OnDrained() override { packets_.OnDrained(); }
  void OnPacketFate(const PacketAccount& account) override { packets_.OnPacketFate(account); }
  void OnChunkForgotten(BufferId buffer, SequenceKey sequence, uint64_t chunk) override {
    packets_.OnChunkForgotten(buffer, sequence, chunk);
  }

 private:
  void Write(const LostPacket& lost);

  LostPackets packets_;
  SequenceIds sequence_ids_;
  const uint64_t limit_;
  Counts counts_;
  LogMoment now_;
  Status written_;
};

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_TRACE_LOST_TRACE_H_
