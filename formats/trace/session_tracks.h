#ifndef RINGSCOPE_FORMATS_TRACE_SESSION_TRACKS_H_
#define RINGSCOPE_FORMATS_TRACE_SESSION_TRACKS_H_

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/log/life_event.h"
#include "core/session/session.h"
#include "core/smb/memory_story.h"
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

/// Draws the programs (ProtoVM) of buffers: counters of the memory that their states are counted
/// with, of the states' sizes, and of the packets that they fold each second.
class ProgramTracks {
 public:
  using Track = TrackEventWriter::Track;

  explicit ProgramTracks(TrackEventWriter& events) : events_(events) {}

  /// Something may have been folded.
  /// @param parent the buffer's track
  void Sample(const SessionBuffer& buffer, Track parent, uint64_t now);
  /// A window of time is over.
  /// @param windows in a second
  /// @param is_last nothing is folded in the one that follows
  void EndWindow(uint64_t end, uint64_t window_ns, uint64_t windows, bool is_last);
  /// Another buffer takes its id.
  void OnBufferReplaced(BufferId buffer) { buffers_.erase(buffer); }
  /// The log is at its end: buffers are not looked at any more.
  void OnLogEnd(uint64_t now);

 private:
  struct Program {
    std::string data_source;
    Track memory = Track::kNone;
    Track state = Track::kNone;
    Track rate = Track::kNone;
    std::optional<uint64_t> shown_memory;
    std::optional<size_t> shown_state;
    uint64_t folded = 0;
    uint64_t folded_before = 0;  // before this window
    bool shows_rate = false;     // that is not 0
    bool changed = false;        // in this window
  };
  struct Buffer {
    const SessionBuffer* buffer = nullptr;  // nullptr: the log is at its end
    std::vector<Program> programs;
  };

  void ShowState(const Buffer& buffer, size_t index, Program& program, uint64_t now);

  TrackEventWriter& events_;
  std::map<BufferId, Buffer> buffers_;
};

/// Draws producers' shared memory as the looks of a log show it: counters of the chunks that are
/// free, being written, held back by the producer and waiting for the service, a slice as long as
/// looks show that no chunk is free, and slices for the steps of each chunk's way: being written,
/// held back, waiting for the service. A step begins with the first look (or the commit) that shows
/// it. Ways come when the chunk has left.
class MemoryTracks {
 public:
  using Track = TrackEventWriter::Track;

  /// @param producer_track the track of a producer; made when it is first asked for
  /// @param max_lanes chunks of a producer that are shown side by side
  MemoryTracks(TrackEventWriter& events, std::function<Track(ProducerId)> producer_track,
               uint32_t max_lanes)
      : events_(events), producer_track_(std::move(producer_track)), max_lanes_(max_lanes) {}

  /// @param now time in the trace
  void OnRecord(const Op& op, uint64_t now);
  /// The log is at its end: what is open ends here.
  void Finish(uint64_t now);
  /// Ways that have no slices, as their producer had no lane left.
  uint64_t ways_left_out() const { return ways_left_out_; }

 private:
  static constexpr size_t kCounters = 4;
  struct Memory {
    std::array<Track, kCounters> counters = {};
    std::array<std::optional<uint64_t>, kCounters> shown = {};
    Track full_track = Track::kNone;
    bool is_full = false;
    /// Lanes for ways, with the time at which they are free. Ways come in the order of their ends.
    struct Lane {
      Track track = Track::kNone;
      uint64_t free_ns = 0;
    };
    std::vector<Lane> lanes;
  };
  void Show(ProducerId id, const smb::SeenMemory& seen, uint64_t now);
  void EndFull(Memory& memory, uint64_t now);
  /// @param end of the way, in the time of the trace
  void DrawWay(ProducerId id, smb::ChunkSlot slot, const smb::ChunkWay& way, uint64_t end);
  /// Of a producer whose memory is not looked at any more.
  void DrawOpenWays(ProducerId id, uint64_t now);

  TrackEventWriter& events_;
  const std::function<Track(ProducerId)> producer_track_;
  const uint32_t max_lanes_;
  smb::MemoryStory story_;
  std::map<ProducerId, Memory> memories_;
  uint64_t ways_left_out_ = 0;
};

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_TRACE_SESSION_TRACKS_H_
