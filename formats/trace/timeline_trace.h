#ifndef RINGSCOPE_FORMATS_TRACE_TIMELINE_TRACE_H_
#define RINGSCOPE_FORMATS_TRACE_TIMELINE_TRACE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "core/graph/chunk_lifetimes.h"
#include "core/ledger/ledger.h"
#include "core/session/session_notes.h"
#include "formats/trace/track_events.h"

namespace ringscope {

/// Writes the buffers over time as a Perfetto trace: fill levels, read passes, wraps, losses, and
/// what happens to the tracing session. Losses are in the file when they are certain. Give it to a
/// replay as a listener after the ledger, and to the ledger. Memory: O(chunks held + sequences).
class TimelineTrace : public ReplayListener, public LedgerSink {
 public:
  struct Counts {
    uint64_t passes = 0;  // that read the buffers
    uint64_t lost_packets = 0;
  };
  explicit TimelineTrace(ByteSink& sink);

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
  void OnPacketFate(const PacketAccount& account) override;

 private:
  using Args = TrackEventWriter::Args;
  using Track = TrackEventWriter::Track;

  /// Packets of a sequence that were lost together.
  struct Loss {
    PacketAccount first;
    uint64_t last_chunk = 0;
    FateCount count;
  };
  struct Gauge {
    Track track = Track::kNone;
    uint64_t value = 0;
    uint64_t shown = UINT64_MAX;
  };
  struct Buffer {
    const SessionBuffer* buffer = nullptr;
    Track reads_track = Track::kNone;
    Gauge fill, unread;
    FateCount read;  // in the current pass
  };

  void ShowGauges();
  void Sample(BufferId id);
  Track BufferTrack(BufferId buffer);
  Track SequenceTrack(BufferId buffer, SequenceKey sequence);
  void ShowLoss(const Loss& loss);

  TraceWriter trace_;
  TrackEventWriter events_;
  SessionNotes notes_;
  std::map<BufferId, Track> buffer_tracks_;
  std::map<std::pair<BufferId, SequenceKey>, Track> sequence_tracks_;
  Status status_;
  ChunkLifeListener ignored_;
  ChunkLifetimes lives_{ignored_};  // for the bytes held
  uint64_t now_ = 0;
  std::map<std::pair<BufferId, SequenceKey>, Loss> losses_;  // the last of each sequence
  std::map<BufferId, Buffer> buffers_;
  std::set<BufferId> changed_;  // whose gauges may have
  Track session_track_ = Track::kNone;
  ReadReason reason_ = ReadReason::kUnknown;
  Counts counts_;
};

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_TRACE_TIMELINE_TRACE_H_
