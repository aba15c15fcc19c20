#ifndef RINGSCOPE_FORMATS_TRACE_SESSION_TRACKS_H_
#define RINGSCOPE_FORMATS_TRACE_SESSION_TRACKS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "core/log/life_event.h"
#include "formats/trace/track_events.h"

namespace ringscope {

/// Draws the life of tracing sessions: a slice for each session from EnableTracing until its
/// buffers are freed, a slice for each data source from its start to its stop below its producer,
/// and instants for what else happens to them: changes of the session, triggers, clones, clears of
/// incremental state. Flushes are not drawn here.
class SessionTracks {
 public:
  using Track = TrackEventWriter::Track;

  /// @param producer_track the track of a producer; made when it is first asked for
  SessionTracks(TrackEventWriter& events, std::function<Track(ProducerId)> producer_track)
      : events_(events), producer_track_(std::move(producer_track)) {}

  /// @param now time in the trace
  void OnEvent(const LifeEvent& event, uint64_t now);
  /// The log is at its end: what is open ends here.
  void Finish(uint64_t now);

 private:
  using SourceId = std::pair<ProducerId, uint64_t>;

  struct Source {
    Track track = Track::kNone;
    bool running = false;
    std::string name;
    uint64_t buffer = 0;
  };

  void OnSession(const LifeEvent& event, uint64_t now);
  void OnSource(const LifeEvent& event, uint64_t now);
  void OnClone(const LifeEvent& event, uint64_t now);
  void Stop(Source& source, uint64_t now);
  Track SessionTrack(std::optional<uint64_t> session);
  Track ClonesTrack();

  TrackEventWriter& events_;
  std::function<Track(ProducerId)> producer_track_;
  std::map<uint64_t, Track> session_tracks_;
  std::set<uint64_t> open_sessions_;
  Track clones_track_ = Track::kNone;
  std::map<SourceId, Source> sources_;
};

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_TRACE_SESSION_TRACKS_H_
