#ifndef RINGSCOPE_FORMATS_TRACE_LIFE_TRACE_H_
#define RINGSCOPE_FORMATS_TRACE_LIFE_TRACE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <vector>

#include "core/gaps/stale_packets.h"
#include "core/graph/chunk_lifetimes.h"
#include "core/ledger/kinds_of_packets.h"
#include "core/ledger/ledger.h"
#include "core/log/life_event.h"
#include "core/session/session_notes.h"
#include "formats/trace/track_events.h"

namespace ringscope {

/// Numbers of tracks of one row each: what overlaps in time is on different ones, so that slices
/// nest.
class Lanes {
 public:
  /// The lowest lane that is free.
  uint32_t Take();
  void Give(uint32_t lane) { free_.insert(lane); }
  uint32_t size() const { return size_; }
  bool HasFree() const { return !free_.empty(); }

 private:
  std::set<uint32_t> free_;
  uint32_t size_ = 0;
};

/// Writes the buffers over time as a Perfetto trace: a slice for each chunk from its commit until
/// it leaves its buffer, losses, evictions, reads, fill levels, and instants for what happens to
/// the tracing session. Slices and losses are named by the fate of the chunk or the packets, as the
/// UI has a color for each name. Chunks come in the file when they leave, and losses when they are
/// certain. Memory: O(chunks held + sequences).
class LifeTrace : public ReplayListener, public LedgerSink, public ChunkLifeListener {
 public:
  /// What was drawn.
  struct Counts {
    uint64_t chunks = 0;
    uint64_t chunks_left_out = 0;  // their sequence had no lane left
    uint64_t evictions = 0;
    uint64_t lost_packets = 0;
  };

  /// @param kinds of the packets, for losses; may be nullptr
  explicit LifeTrace(ByteSink& sink, PacketKinds* kinds = nullptr);

  /// At the end of the log. Writes out what is pending.
  /// @param remark is shown at the end of each buffer's reads: "read as recorded"
  Status Finish(std::string_view remark);
  const Counts& counts() const { return counts_; }

  bool WantsBufferEvents() const override { return true; }
  void OnRecord(const Op& op, const LogMoment& moment) override;
  void OnBufferSetUp(SessionBuffer& buffer) override;
  void OnBufferReplaced(SessionBuffer& buffer) override { lives_.OnBufferReplaced(buffer); }
  void OnChunk(BufferId buffer, const ChunkCommit& commit, std::optional<Refusal> refusal) override;
  void OnChunkDone(BufferId buffer, const ChunkCommit& commit) override;
  void OnReadBegun(BufferId buffer) override;
  Status OnPacket(const SessionPacket& packet) override;
  void OnReadDone(BufferId buffer, uint64_t packets) override;
  void OnBufferEvent(const BufferEvent& event) override;

  void OnChunkWritten(BufferId buffer, WrittenCommit& commit) override;
  void OnPacketFate(const PacketAccount& account) override;
  void OnChunkForgotten(BufferId buffer, SequenceKey sequence, uint64_t chunk) override {
    kinds_.Forget(buffer, sequence, chunk);
  }

  void OnChunkEntered(const ChunkLife& life) override;
  void OnChunkLeft(const ChunkLife& life) override;

 private:
  using Arg = TrackEventWriter::Arg;
  using Track = TrackEventWriter::Track;
  using Unique = TrackEventWriter::Unique;
  using SequenceId = std::tuple<BufferId, SequenceKey>;

  /// Packets of a sequence that were lost together.
  struct LossGroup {
    PacketAccount account;  // the first
    uint32_t kind = 0;      // of the first
    uint64_t last_chunk = 0;
    FateCount count;
  };
  struct Sequence {
    Track track = Track::kNone;
    Lanes lanes;
    std::vector<Track> lane_tracks;
    std::optional<LossGroup> loss;
  };
  struct Gauge {
    Track track = Track::kNone;
    uint64_t value = 0;
    uint64_t shown = UINT64_MAX;
  };
  /// A chunk that is in its buffer.
  struct Held {
    uint32_t lane = 0;
    uint64_t begin = 0;  // time in the trace
  };
  struct Buffer {
    const SessionBuffer* buffer = nullptr;
    Track track = Track::kNone;
    Track reads_track = Track::kNone;
    Gauge fill;
    Gauge unread;
    uint64_t passes = 0;
    FateCount read;  // in the pass under way
  };
  void BeginSlice(Track track, uint64_t begin, const ChunkLife& life);
  void ShowEvent(const LifeEvent& event);
  void ShowGauges();
  void Sample(BufferId id);
  void ShowLoss(Sequence& sequence);
  Sequence& SequenceOf(BufferId buffer, SequenceKey key);
  Track ProducerTrack(ProducerId producer);
  Track LaneTrack(SequenceId id, Sequence& sequence, uint32_t lane);

  TraceWriter trace_;
  TrackEventWriter events_;
  ChunkLifetimes lives_;
  KindsOfPackets kinds_;
  StalePackets packets_once_{UINT64_MAX};  // finds each packet once, for the kinds
  uint64_t now_ = 0;
  SessionNotes notes_;
  std::map<ProducerId, ProducerConnected> producers_;
  std::map<ProducerId, Track> producer_tracks_;
  std::map<SequenceId, Sequence> sequences_;
  std::map<BufferId, Buffer> buffers_;
  std::map<uint64_t, Held> held_;  // chunks that have a lane, by their number
  std::set<BufferId> changed_;     // whose gauges may have
  Track session_track_ = Track::kNone;
  ReadReason reason_ = ReadReason::kUnknown;
  uint64_t flows_ = 0;
  Counts counts_;
  Status status_;
};

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_TRACE_LIFE_TRACE_H_
