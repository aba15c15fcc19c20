#ifndef RINGSCOPE_FORMATS_TRACE_LOST_TRACE_H_
#define RINGSCOPE_FORMATS_TRACE_LOST_TRACE_H_

#include <map>
#include <string>
#include <tuple>

#include "core/ledger/lost_packets.h"
#include "core/session/sequence_ids.h"
#include "formats/trace/track_events.h"

namespace ringscope {

/// Writes the packets that the buffers lost as a trace of their own. Each packet is followed by an
/// event on the track of its sequence below "lost packets" that states its fate: a track event, as
/// nothing can be added to the packet itself.
class LostTrace : public ReplayListener {
 public:
  explicit LostTrace(ByteSink& sink);

  /// Receives the fates of packets; to be registered as a listener of the replay, as this is.
  LostPackets& packets() { return packets_; }
  /// At the end of the log. Writes out what is pending.
  Status Finish();
  /// "1,234 lost packets", and how many could not be written and why.
  std::string Summary() const;

  void OnRecord(const Op& op, const LogMoment& moment) override;
  Status OnPacket(const SessionPacket& packet) override;

 private:
  using Arg = TrackEventWriter::Arg;
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

#endif  // RINGSCOPE_FORMATS_TRACE_LOST_TRACE_H_
