#ifndef RINGSCOPE_COMMANDS_RECORD_FILE_WATCH_H_
#define RINGSCOPE_COMMANDS_RECORD_FILE_WATCH_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "commands/record/event_loop.h"
#include "commands/record/session_buffers.h"
#include "core/log/op.h"

namespace ringscope {

/// Logs when the service reads the buffers of sessions that it writes into files. No socket shows
/// these reads, but the files grow.
///
/// A read is one task of the service. The system reports that a file has grown (inotify) in order
/// with the replies that the service sends: a request whose reply was reported before was handled
/// before the read, and one whose reply is reported later was handled after it.
class FileWatch {
 public:
  using SessionId = SessionBuffers::SessionId;

  FileWatch(EventLoop& loop, RecordSink& log) : loop_(loop), log_(log) {}

  /// A session begins that is written into a file. Marks the log if the file cannot be watched.
  /// @param path of the file, or where the service will create it
  void Start(SessionId session, const std::string& path, bool is_there);
  /// Looks whether files have grown, and begins to watch those that the service has created.
  void Look();
  /// The service has replied to a request since the last look: a read that was seen has ended.
  void OnConfirmed();
  /// A reply was seen whose place before or after a growth that is reported next is not known.
  void NoteUnordered();
  /// The service has stopped the session, and closed its file: a growth is of one more read.
  /// @param is_freed its buffers are freed while it is written: the service reads once more before
  void End(SessionId session, bool is_freed = false);
  /// Forgets the session, if it is watched.
  void Drop(SessionId session) { files_.erase(session); }
  bool any() const { return !files_.empty(); }

 private:
  struct File {
    std::string path;
    UniqueFd fd;      // invalid until it is there
    UniqueFd growth;  // an inotify instance
    EventLoop::WatchHandle on_growth;
    uint64_t size = 0;          // at the last look
    bool is_within = false;     // the read that it has grown by may not have ended
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
  std::map<SessionId, File> files_;
};

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_RECORD_FILE_WATCH_H_
