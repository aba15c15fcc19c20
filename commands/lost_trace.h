#ifndef RINGSCOPE_COMMANDS_LOST_TRACE_H_
#define RINGSCOPE_COMMANDS_LOST_TRACE_H_

#include <map>
#include <string>
#include <tuple>

#include "core/lost_packets.h"
#include "core/sequence_ids.h"
#include "formats/track_events.h"

namespace ringscope {

/// Writes the packets that the buffers lost as a trace of their own. Behind each packet comes an
/// event on the track of its sequence below "lost packets" that says what became of it: a track
/// event, as nothing can be added to the packet itself.
class LostTrace : public SessionSink {
 public:
  explicit LostTrace(ByteSink& sink);

  /// What the replay is to tell: its accounts, its doings, its observers.
  LostPackets& packets() { return packets_; }
  /// At the end of the log. Writes out what is pending.
  Status Finish();
  /// "1,234 lost packets", and how many could not be written and why.
  std::string Summary() const;

  void OnRecord(const Op& op, uint64_t number) override;
  void OnChunk(BufferId buffer, const ChunkCommit& commit, std::optional<Refusal> refusal) override;
  void OnBufferReplaced(SessionBuffer& buffer) override;
  Status OnPacket(const SessionPacket& packet) override;

 private:
  using Track = TrackEventWriter::Track;

  void Write(const LostPacket& lost);
  Track TrackOf(const PacketAccount& account);

  TraceWriter trace_;
  TrackEventWriter events_;
  LostPackets packets_;
  SequenceIds sequence_ids_;
  std::map<ProducerId, std::string> names_;
  Track root_ = Track::kNone;
  std::map<std::tuple<BufferId, SequenceKey>, Track> tracks_;
  Status status_;
};

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_LOST_TRACE_H_
