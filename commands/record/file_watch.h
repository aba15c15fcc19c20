#ifndef RINGSCOPE_COMMANDS_RECORD_FILE_WATCH_H_
#define RINGSCOPE_COMMANDS_RECORD_FILE_WATCH_H_

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "commands/record/session_buffers.h"
#include "commands/record/socket.h"
#include "core/log/op.h"

namespace ringscope {

/// Logs when the service reads the buffers of sessions that it writes into files. No socket shows
/// these reads, but the files grow.
///
/// A read is one task of the service: requests that it has confirmed before were handled before the
/// read, and those sent once the file has grown are handled after it. Nothing shows that of
/// requests under way when the file grows, so none should be: a read by the clock, or one that
/// follows from a request, is waited for. Where a request was under way nevertheless, the log is
/// marked.
class FileWatch {
 public:
  using Clock = std::chrono::steady_clock;
  using SessionId = SessionBuffers::SessionId;

  explicit FileWatch(RecordSink& log) : log_(log) {}

  /// A file that the service writes a session into.
  struct File {
    UniqueFd fd = {};       // that the consumer gives to the service, if it does
    std::string path = {};  // else where the service creates the file; empty: not known
    /// Period at whose multiples the reads are made; 0 if each read follows a flush.
    std::chrono::nanoseconds period{0};

    uint64_t size = 0;                            // at the last look
    Clock::time_point due = {};                   // the next read by the clock, if it has a period
    std::optional<Clock::time_point> grown = {};  // last; absent: the read that it was of has ended
    uint64_t read = 0;                            // number of the last one
    std::optional<bool> has_ends = {};  // the service marks a read's end; nullopt: not known yet
    bool is_within = false;             // the last growth was not the end of a read
  };
  /// A session begins that is written into a file. Marks the log if the file cannot be watched.
  void Start(SessionId session, File file, Clock::time_point now = Clock::now());
  /// Looks whether files have grown.
  void Look(Clock::time_point now = Clock::now());
  /// A client's request is about to pass.
  void OnPassing(Clock::time_point now = Clock::now());
  /// The request that has passed last makes the service read.
  void OnCause() { under_way_ = UnderWay::kCause; }
  bool cause_is_under_way() const { return any() && under_way_ == UnderWay::kCause; }
  /// The service has handled all requests that have passed.
  /// @param reads what `reads()` was when it was asked to confirm that
  void OnConfirmed(uint64_t reads, Clock::time_point now = Clock::now());
  uint64_t reads() const { return reads_; }
  /// Returns true if a read by the clock is due: no producer's request should pass before it.
  bool IsDue(Clock::time_point now = Clock::now()) const;
  /// When to wait for the next read by the clock.
  std::optional<Clock::time_point> next_wait() const;
  /// The service has stopped the session, and closed its file: a growth is of one more read.
  /// @param is_freed its buffers are freed while it is written: the service reads once more before
  void End(SessionId session, bool is_freed = false, Clock::time_point now = Clock::now());
  /// Forgets the session, if it is watched.
  void Drop(SessionId session) { files_.erase(session); }
  bool any() const { return !files_.empty(); }

 private:
  enum class UnderWay : uint8_t { kNothing, kRequests, kCause };
  static std::optional<uint64_t> SizeOf(const File& file);
  /// Returns some of what is written from there on.
  static std::vector<uint8_t> BytesAt(const File& file, uint64_t offset);
  void Log(SessionId session, std::optional<uint64_t> size, std::optional<uint64_t> own_bytes = {});
  void MarkUnknown(SessionId session);
  static void Arm(File& file, Clock::time_point now);
  void LookAt(SessionId session, File& file, Clock::time_point now);

  RecordSink& log_;
  std::map<SessionId, File> files_;
  UnderWay under_way_ = UnderWay::kNothing;
  uint64_t reads_ = 0;  // logged so far
};

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_RECORD_FILE_WATCH_H_
