#ifndef RINGSCOPE_FORMATS_TRACE_LOST_TRACE_H_
#define RINGSCOPE_FORMATS_TRACE_LOST_TRACE_H_

#include <map>
#include <string>
#include <tuple>

#include "core/gaps/stale_packets.h"
#include "core/ledger/kinds_of_packets.h"
#include "core/ledger/lost_packets.h"
#include "core/session/sequence_ids.h"
#include "core/session/session_notes.h"
#include "formats/trace/track_events.h"

namespace ringscope {

/// Writes the packets that the buffers lost as a trace of their own. Each packet is followed by an
/// event on the track of its sequence below "lost packets" that states its fate: a track event, as
/// nothing can be added to the packet itself. Give it to a replay as a listener after the ledger,
/// and to the ledger. Memory: that of LostPackets.
class LostTrace : public ReplayListener, public LedgerSink {
 public:
  /// What was written, and what was not.
  struct Counts {
    FateCount written;
    FateCount beyond_limit;
    FateCounts unwritable;  // incomplete or not well-formed
  };

  /// @param limit bytes, about: once the trace is as large, no further packet is written
  /// @param kinds of the packets; may be nullptr
  LostTrace(ByteSink& sink, uint64_t limit, PacketKinds* kinds = nullptr);

  /// At the end of the log. Writes out what is pending, and an event on what is not in the trace.
  Status Finish();
  Counts counts() const;

  bool WantsBufferEvents() const override { return true; }
  void OnRecord(const Op& op, const LogMoment& moment) override;
  void OnChunk(BufferId buffer, const ChunkCommit& commit, std::optional<Refusal> refusal) override;
  void OnBufferReplaced(SessionBuffer& buffer) override { packets_.OnBufferReplaced(buffer); }
  void OnBufferEvent(const BufferEvent& event) override { packets_.OnBufferEvent(event); }
  void OnDrained() override { packets_.OnDrained(); }
  Status OnPacket(const SessionPacket& packet) override;

  void OnChunkWritten(BufferId buffer, WrittenCommit& commit) override;
  void OnPacketFate(const PacketAccount& account) override;
  void OnChunkForgotten(BufferId buffer, SequenceKey sequence, uint64_t chunk) override;

 private:
  using Arg = TrackEventWriter::Arg;
  using Track = TrackEventWriter::Track;

  using Unique = TrackEventWriter::Unique;

  void Write(const LostPacket& lost);
  void WriteFate(const PacketAccount& account, uint32_t kind);
  Track RootTrack();
  Track TrackOf(const PacketAccount& account);

  TraceWriter trace_;
  TrackEventWriter events_;
  LostPackets packets_;
  SequenceIds sequence_ids_;
  SessionNotes notes_;
  KindsOfPackets kinds_;
  StalePackets packets_once_{UINT64_MAX};  // finds each packet once, for the kinds
  const uint64_t limit_;
  Counts counts_;
  LogMoment now_;
  Track root_ = Track::kNone;
  std::map<std::tuple<BufferId, SequenceKey>, Track> tracks_;
  Status status_;
};

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_TRACE_LOST_TRACE_H_
