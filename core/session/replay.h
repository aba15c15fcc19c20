#ifndef RINGSCOPE_CORE_SESSION_REPLAY_H_
#define RINGSCOPE_CORE_SESSION_REPLAY_H_

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/log/op.h"
#include "core/session/reads_used.h"
#include "core/session/service_reads.h"
#include "core/session/session.h"

namespace ringscope {

struct ReadsChoice {
  ReadsMode mode = ReadsMode::kAuto;
  uint64_t every_ns = 0;  // for kEvery; for kStreamed in place of the config's period (0: that)
  std::string like = {};  // a trace whose reads are to be found first, see FindReads; empty: none

  friend bool operator==(const ReadsChoice&, const ReadsChoice&) = default;
};

/// What only a look at the whole session shows. Each is asked at most once by a replay, and only
/// where it matters.
struct LookAhead {
  /// Whether the log has reads of its own, as HasReads. Absent: those so far decide.
  std::function<Result<bool>()> has_reads = {};
  /// Which of the log's passes over all buffers, in order, left nothing in the recorded buffers, as
  /// FinishedReads. Absent: only the last one before the buffers are freed, or the log ends.
  std::function<Result<std::vector<bool>>()> finished_reads = {};
};

struct ReplayOptions {
  Session::Options session;
  ReadsChoice reads;
  std::optional<uint64_t> pass_bytes;  // bytes per pass; absent: unlimited or as recorded
  /// In kAuto, a session of plain operations (no record that only a real session has) is replayed
  /// just as written, without a read at the end.
  bool plain_streams_as_recorded = false;
  LookAhead ahead = {};
  bool moves_sequences = false;  // the records are as if some sequences had had other buffers
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
  /// After Finish.
  ReadsUsed reads_used() const;
  /// Whether reads for a file are made, or may be.
  bool reads_for_file() const {
    return service_.streams() && IsAsServiceReads() && streamed_.value_or(true);
  }
  /// Of each recorded pass over all buffers, in order: whether it ended before its limit, so that
  /// it left nothing.
  const std::vector<bool>& finished_reads() const { return finished_; }
  std::optional<uint64_t> first_time_ns() const { return first_time_ns_; }
  /// The latest time of a record, also where time goes back.
  std::optional<uint64_t> last_time_ns() const {
    return last_time_ns_ ? std::optional(std::max(*last_time_ns_, latest_ns_)) : std::nullopt;
  }

 private:
  bool IsAsRecorded() const {
    return options_.reads.mode == ReadsMode::kRecorded || options_.reads.mode == ReadsMode::kAuto;
  }
  bool IsAsServiceReads() const {
    return options_.reads.mode == ReadsMode::kStreamed || options_.reads.mode == ReadsMode::kAuto;
  }
  Status ApplyRead(const ReadPass& read);
  Status ReadAsRecorded(const ReadPass& read);
  Status ReadCloneOf(const CloneView& clone);
  Status ReadBufferUntilEmpty(BufferId buffer);
  Status ReadUntilEmpty(std::optional<uint64_t> pass_bytes, Session::Reach reach,
                        std::optional<uint64_t> session = {});
  Status ReadIfDue(uint64_t now_ns);
  Status ReadForFile(Session::Reach reach);
  Result<bool> IsStreamed();
  Result<bool> FinishedInLog(size_t pass);
  bool ReadsOtherBuffers() const;
  Status Continue(const ReadPass& read);
  Status FinishLastReads(std::optional<BufferId> freed);

  ReplayOptions options_;
  Session session_;
  uint64_t records_ = 0;
  uint64_t read_passes_ = 0;
  bool has_recorded_reads_ = false;
  bool is_plain_ = true;
  ServiceReads service_;
  std::optional<bool> streamed_;  // once it matters: whether reads are made as for a file
  std::vector<bool> finished_;    // see finished_reads
  std::optional<std::vector<bool>> finished_in_log_;  // once it matters
  std::vector<ReadPass> limited_;  // of each reader the last pass, if at its limit: in other
                                   // buffers than recorded the read has to go on
  uint64_t added_passes_ = 0;
  bool went_on_alone_ = false;  // a read that the log does not show to have left nothing
  uint64_t empty_reads_ = 0;
  uint64_t seen_in_file_ = 0;
  uint64_t left_out_ = 0;
  std::optional<uint64_t> first_time_ns_;
  std::optional<uint64_t> last_time_ns_;  // of the last record that has one
  uint64_t latest_ns_ = 0;                // before time went back
  uint64_t periods_read_ = 0;             // for kEvery
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_SESSION_REPLAY_H_
