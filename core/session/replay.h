#ifndef RINGSCOPE_CORE_SESSION_REPLAY_H_
#define RINGSCOPE_CORE_SESSION_REPLAY_H_

#include <cstdint>
#include <optional>

#include "core/log/op.h"
#include "core/session/session.h"

namespace ringscope {

/// When a replay reads the buffers.
enum class ReadsMode : uint8_t {
  kAuto,      // as recorded; if the session has no read pass: at the end
  kRecorded,  // as recorded, even if that is never
  kEnd,       // once, after the last record; the log's own passes are left out
  kNone,      // never
  kEvery,     // at multiples of a period of log time from the first record, and at the end
};

struct ReadsChoice {
  ReadsMode mode = ReadsMode::kAuto;
  uint64_t every_ns = 0;  // for kEvery

  friend bool operator==(const ReadsChoice&, const ReadsChoice&) = default;
};

struct ReplayOptions {
  Session::Options session;
  ReadsChoice reads;
  std::optional<uint64_t> pass_bytes;  // bytes per pass; absent: unlimited or as recorded
  /// In kAuto, a session of plain operations (no record that only a real session has) is replayed
  /// just as written, without a read at the end.
  bool plain_streams_as_recorded = false;
};

/// Replays the records of one session. Feed it all of them (but the header that starts the next
/// session), then Finish.
class Replay {
 public:
  Replay(ReplayOptions options, ReplayListeners listeners);

  /// @param number of the record, as listeners get it; absent: the session's own count,
  /// from 1
  Status Apply(const Op& op, std::optional<uint64_t> number = {});
  /// A record of this time is about to be applied to the buffers by other means than Apply.
  Status Advance(std::optional<uint64_t> time_ns);
  /// The reads at the end, if the mode asks for them; then OnLogEnd.
  Status Finish();
  /// After Finish, and once the buffers' counters were looked at; see Session::Drain.
  Status Drain() { return session_.Drain(); }

  Session& session() { return session_; }
  const Session& session() const { return session_; }
  uint64_t records() const { return records_; }
  uint64_t read_passes() const { return read_passes_; }
  std::optional<uint64_t> first_time_ns() const { return first_time_ns_; }
  std::optional<uint64_t> last_time_ns() const { return last_time_ns_; }

 private:
  Status ReadAsRecorded(const ReadPass& read);
  Status ReadBufferUntilEmpty(BufferId buffer);
  Status ReadUntilEmpty(Session::Reach reach);
  Status ReadIfDue(uint64_t now_ns);

  ReplayOptions options_;
  Session session_;
  uint64_t records_ = 0;
  uint64_t read_passes_ = 0;
  bool has_recorded_reads_ = false;
  bool is_plain_ = true;
  std::optional<uint64_t> first_time_ns_;
  std::optional<uint64_t> last_time_ns_;
  uint64_t periods_read_ = 0;  // for kEvery
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_SESSION_REPLAY_H_
