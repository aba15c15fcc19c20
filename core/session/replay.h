#ifndef RINGSCOPE_CORE_SESSION_REPLAY_H_
#define RINGSCOPE_CORE_SESSION_REPLAY_H_

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "core/log/configured_ops.h"
#include "core/log/op.h"
#include "core/session/read_policy.h"

namespace ringscope {

struct ReplayOptions {
  Session::Options session;
  ReadsChoice reads;
  /// In kAuto, a session of plain operations (no record that only a real session has) is replayed
  /// just as written, without a read at the end.
  bool plain_streams_as_recorded = false;
  HasReads has_reads = {};
  bool is_reconfigured = false;  // the records are as if the session had had another config
};

/// Replays the records of one session. Feed it all of them (but the header that starts the next
/// session), then Finish.
class Replay {
 public:
  Replay(ReplayOptions options, ReplayListeners listeners);

  /// @param number of the record, as listeners get it; absent: the session's own count, from 1
  Status Apply(const Op& op, std::optional<uint64_t> number = {});
  /// The reads at the end, if the policy asks for them; then OnLogEnd.
  Status Finish();
  /// After Finish, and once the buffers' counters were looked at; see Session::Drain.
  Status Drain() { return session_.Drain(); }

  Session& session() { return session_; }
  const Session& session() const { return session_; }
  uint64_t records() const { return records_; }
  const ReadPolicy& reads() const { return reads_; }
  /// The session's SessionStart; of records about producers alone, the time of the first one.
  std::optional<uint64_t> first_time_ns() const {
    return start_.ns() ? start_.ns() : first_time_ns_;
  }
  /// The latest time of a record, also where time goes back.
  std::optional<uint64_t> last_time_ns() const {
    return last_time_ns_ ? std::optional(std::max(*last_time_ns_, latest_ns_)) : std::nullopt;
  }

 private:
  Status AdvanceTo(uint64_t time_ns);

  Session session_;
  ReadPolicy reads_;
  const bool plain_as_recorded_;
  uint64_t records_ = 0;
  bool is_plain_ = true;
  SessionStart start_;
  std::optional<uint64_t> first_time_ns_;
  std::optional<uint64_t> last_time_ns_;  // of the last record that has one
  uint64_t latest_ns_ = 0;                // before time went back
};

/// Recorded read passes of a session that left nothing in its buffers: the service
/// would have continued such a read in larger ones.
struct RecordedReads {
  bool are_known = false;          // else the first pass over the records finds them
  std::vector<bool> left_nothing;  // by read pass, see ReadsUsed
};

/// A session's records, with ReadPass::left_nothing. The first pass replays them as they were
/// recorded; further passes have it from there.
class NotedReads : public ChangedSource {
 public:
  template <typename Source>
  NotedReads(std::shared_ptr<RecordedReads> reads, Source&& source)
      : ChangedSource(std::forward<Source>(source)), reads_(std::move(reads)) {
    if (!std::exchange(reads_->are_known, true))
      replay_.emplace(ReplayOptions{.reads = {.mode = ReadsMode::kRecorded}}, nobody_);
  }

 private:
  bool HasChanges() const override { return true; }
  Status Change(Op op) override;

  const std::shared_ptr<RecordedReads> reads_;
  ReplayListener nobody_;
  std::optional<Replay> replay_;  // of the first pass
  size_t passes_ = 0;
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_SESSION_REPLAY_H_
