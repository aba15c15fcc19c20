#ifndef RINGSCOPE_FORMATS_TRACE_BUFFER_TRACKS_H_
#define RINGSCOPE_FORMATS_TRACE_BUFFER_TRACKS_H_

#include "core/examine/examination.h"
#include "core/graph/chunk_lifetimes.h"
#include "core/session/session_notes.h"
#include "formats/trace/track_events.h"

namespace ringscope {

/// Makes tracks of the buffers of a replay: their fill level, unread bytes and reach (how long ago
/// the oldest chunk in it was committed), read passes and wraps, and of what happens to the tracing
/// session. Memory: O(chunks held), and that of the tracks.
class BufferTracks : public ChunkLifetimes {
 public:
  /// @param root gets the tracks; @param notes of the same replay; both must outlive this
  BufferTracks(EventTrack& root, const SessionNotes& notes) : root_(root), notes_(notes) {}

  /// Shows a remark at the end of each buffer's reads: "read as recorded".
  void Finish(const std::string& remark);

  void OnRecord(const Op& op, const LogMoment& moment) override;
  void OnBufferSetUp(SessionBuffer& buffer) override;
  void OnChunkDone(BufferId buffer, const ChunkCommit& commit) override;
  void OnReadBegun(BufferId buffer) override;
  Status OnPacket(const SessionPacket& packet) override;
  void OnReadDone(BufferId buffer, uint64_t packets) override;
  void OnBufferEvent(const BufferEvent& event) override;

 private:
  struct Buffer {
    const SessionBuffer* buffer = nullptr;
    EventTrack *track = nullptr, *reads = nullptr;
    EventTrack *fill = nullptr, *unread = nullptr, *reach = nullptr;
    FateCount read;                       // in the current pass
    int64_t read_ns = 0;                  // its begin
    std::map<uint64_t, int64_t> held_ns;  // commits of the chunks held, by their number
  };

  void OnChunkEntered(const ChunkLife& life) override;
  void OnChunkLeft(const ChunkLife& life) override;
  void Sample(BufferId id);

  EventTrack& root_;
  const SessionNotes& notes_;
  EventTrack* session_ = nullptr;
  std::map<BufferId, Buffer> buffers_;
  int64_t now_ = 0;
  ReadReason reason_ = ReadReason::kUnknown;
};

/// Makes tracks with the holes of an examined session: below the track of each thread, or else by
/// process or sequence, a slice over each hole, and over packets that need lost state; by buffer,
/// what was overwritten before its oldest packet; by CPU, what the kernel lost; what the sorting of
/// an import drops; and the end of a file that is cut off.
/// @param track_of the uuid of the track that describes a sequence of the account, by its index; 0:
///   none does; nullopt: its holes are left out
/// @param root gets the tracks
void AddHoles(const Examination& examination,
              const std::function<std::optional<uint64_t>(size_t)>& track_of, EventTrack& root);

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_TRACE_BUFFER_TRACKS_H_
