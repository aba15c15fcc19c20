#ifndef RINGSCOPE_COMMANDS_TAP_FILE_WATCH_H_
#define RINGSCOPE_COMMANDS_TAP_FILE_WATCH_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "commands/system/unique_fd.h"
#include "commands/tap/session_buffers.h"
#include "core/log/op.h"

namespace ringscope::record {

/// Logs when the service reads the buffers of sessions that it writes into files. No socket shows
/// these reads, but the files grow. A read can be of many writes: growth that follows at once is of
/// the same read.
class FileWatch {
 public:
  using Clock = std::chrono::steady_clock;
  using SessionId = SessionBuffers::SessionId;

  explicit FileWatch(std::function<void(OpBody)> log) : log_(std::move(log)) {}

  /// A session begins that is written into a file.
  /// @param file the descriptor that the consumer gives to the service; -1: none
  /// @param path where the service creates the file; empty: not known
  /// @return false: the file cannot be watched, being none (a pipe) or out of reach
  bool Start(SessionId session, int file, const std::string& path);
  /// Looks whether files have grown. To be called before and after each request of a producer, so
  /// that a read is logged between the requests that it was made between.
  void Look(Clock::time_point now);
  /// The service has stopped the session, and closed its file: what it wrote since the last read is
  /// of one more.
  void End(SessionId session, Clock::time_point now);
  /// Forgets the session, if it is watched.
  void Drop(SessionId session) { files_.erase(session); }
  bool any() const { return !files_.empty(); }

 private:
  struct File {
    UniqueFd fd;
    std::string path;   // if there is no descriptor
    uint64_t size = 0;  // at the last look
    std::optional<Clock::time_point> grown;  // when it was last seen to have grown
  };

  static std::optional<uint64_t> SizeOf(const File& file);
  void LookAt(SessionId session, File& file, Clock::time_point now);

  const std::function<void(OpBody)> log_;
  std::map<SessionId, File> files_;
};

}  // namespace ringscope::record

#endif  // RINGSCOPE_COMMANDS_TAP_FILE_WATCH_H_
