#ifndef RINGSCOPE_COMMANDS_RECORD_FILE_WATCH_H_
#define RINGSCOPE_COMMANDS_RECORD_FILE_WATCH_H_

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "commands/record/event_loop.h"
#include "commands/record/flush_watch.h"
#include "commands/record/session_buffers.h"
#include "core/log/op.h"

namespace ringscope {

/// Logs when the service reads the buffers of sessions that it writes into files. No socket shows
/// these reads, but the files grow.
///
/// A read is one task of the service. The system reports that a file has grown (inotify) in order
/// with the replies that the service sends: a request whose reply was reported before was handled
/// before the read, and one whose reply is reported later was handled after it.
///
/// A read grows the file several times. Its last packets are an event that shows its end, and
/// perhaps statistics after that; what follows is the next read. Where the config leaves no such
/// event in the file, growths are of one read that are less than kOneRead apart.
class FileWatch {
 public:
  using SessionId = SessionBuffers::SessionId;

  /// Half of the shortest period of reads.
  static constexpr std::chrono::milliseconds kOneRead{50};

  FileWatch(EventLoop& loop, RecordSink& log, const SessionBuffers& buffers, FlushWatch& flushes)
      : loop_(loop), log_(log), buffers_(buffers), flushes_(flushes) {}

  /// A session begins that is written into a file. Marks the log if the file cannot be watched.
  /// @param path of the file, or where the service will create it
  /// @param shows_ends see TraceConfigFacts::shows_ends_of_reads
  void Start(SessionId session, const std::string& path, bool is_there, bool shows_ends);
  /// Looks whether files have grown, and begins to watch those that the service has created.
  void Look();
  /// A reply about these buffers was seen whose place before or after a growth that is reported
  /// next is not known.
  void NoteUnordered(const std::set<BufferId>& buffers);
  /// The service has stopped the session, and closed its file: a growth is of one more read.
  /// @param is_freed its buffers are freed while it is written: the service reads once more before
  void End(SessionId session, bool is_freed = false);
  /// Forgets the session, if it is watched.
  void Drop(SessionId session) { files_.erase(session); }
  bool any() const { return !files_.empty(); }
  bool Watches(std::optional<SessionId> session) const {
    return session && files_.contains(*session);
  }

 private:
  struct File {
    std::string path;
    UniqueFd fd;      // invalid until it is there
    UniqueFd growth;  // an inotify instance
    EventLoop::WatchHandle on_growth;
    uint64_t size = 0;  // as far as it was looked at
    bool shows_ends = true;
    bool is_within = false;  // a read was logged whose end was not seen
    EventLoop::Clock::time_point grown = {};
    bool is_unordered = false;  // a reply was seen that was sent before or after the next growth
  };
  /// Opens and watches the file, if it is there and can be watched.
  void Open(SessionId session, File& file);
  void OnGrowth(SessionId session, File& file);
  void LookAt(SessionId session, File& file);
  void Log(SessionId session, std::optional<uint64_t> size, std::optional<uint64_t> own_bytes = {});
  void MarkUnknown(SessionId session);

  EventLoop& loop_;
  RecordSink& log_;
  const SessionBuffers& buffers_;
  FlushWatch& flushes_;
  std::map<SessionId, File> files_;
};

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_RECORD_FILE_WATCH_H_
