#ifndef RINGSCOPE_FORMATS_TRACE_LOSS_TRACE_H_
#define RINGSCOPE_FORMATS_TRACE_LOSS_TRACE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "core/ledger/ledger.h"
#include "core/session/session_notes.h"
#include "formats/trace/track_events.h"

namespace ringscope {

/// A trace that ringscope itself writes of a replay: below the track of each buffer, one of each
/// sequence with events on its packets that were lost. Give it to a replay as a listener after the
/// ledger, and to the ledger.
class LossTrace : public ReplayListener, public LedgerSink {
 public:
  bool WantsBufferEvents() const override { return true; }
  void OnRecord(const Op& op, const LogMoment& moment) override;
  void OnChunk(BufferId buffer, const ChunkCommit& commit, std::optional<Refusal> refusal) override;
  Status OnPacket(const SessionPacket& packet) override;

 protected:
  using Args = TrackEventWriter::Args;
  using Track = TrackEventWriter::Track;

  /// @param mark see TraceWriter::AddTool
  explicit LossTrace(ByteSink& sink, std::string_view mark = {});

  /// A moment of a log on the time axis of the trace, ns. A log without times takes a microsecond
  /// for each record.
  static uint64_t TimeOf(const LogMoment& moment) {
    return moment.time_ns.value_or(moment.record.value_or(0) * 1000);
  }
  Track BufferTrack(BufferId buffer);
  Track SequenceTrack(BufferId buffer, SequenceKey sequence);
  /// An event on packets of a sequence that were lost together.
  void AddLoss(uint64_t time_ns, const PacketAccount& first, uint64_t last_chunk,
               const FateCount& count);
  /// Writes out what is pending; the first error met.
  Status FinishTrace();

  TraceWriter trace_;
  TrackEventWriter events_;
  std::map<BufferId, Track> buffer_tracks_;

 private:
  SessionNotes notes_;
  std::map<std::pair<BufferId, SequenceKey>, Track> sequence_tracks_;
  Status status_;
};

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_TRACE_LOSS_TRACE_H_
