#ifndef RINGSCOPE_CORE_SESSION_COUNTED_REPLAY_H_
#define RINGSCOPE_CORE_SESSION_COUNTED_REPLAY_H_

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/log/verdict.h"
#include "core/session/replay.h"
#include "core/session/replay_outcome.h"

namespace ringscope {

/// A replay of one session, to its end, whose outcome is counted: packets by buffer id, of all
/// buffers that had it one after the other.
class CountedReplay {
 public:
  /// @param listeners in order, as ReplayListeners has them; they outlive this
  CountedReplay(ReplayOptions options, std::vector<ReplayListener*> listeners);
  CountedReplay(const CountedReplay&) = delete;
  CountedReplay& operator=(const CountedReplay&) = delete;

  /// As Replay::Apply.
  Status Apply(const Op& op, std::optional<uint64_t> number = {});
  /// The reads at the end, then the drain. Once.
  /// @param histograms whether the outcome is to have its `writers`: memory for each sequence
  /// @return all but the path and the session's number
  Result<ReplayOutcome> Finish(bool histograms = false);

 private:
  struct Counts {
    PacketCount read;
    uint64_t invalid = 0;
    PacketCount unread;        // drained
    uint64_t stuck_bytes = 0;  // of buffers whose id another has taken
  };
  class Counter : public ReplayListener {
   public:
    Status OnPacket(const SessionPacket& packet) override;
    void OnDrainPacket(BufferId buffer, const Packet& packet) override {
      counts[buffer].unread += {1, packet.size};
    }
    void OnBufferReplaced(SessionBuffer& buffer) override {
      counts[buffer.id].stuck_bytes += buffer.engine->stats().unread_bytes();
    }

    std::map<BufferId, Counts> counts;
    LossAnalysis losses;
    FtraceCounters ftrace;
    std::string scratch;
  };

  Counter counter_;
  Replay replay_;
  uint64_t recorder_gaps_ = 0;
  VerdictBuilder verdicts_;
  CloneScan clones_;
  std::set<uint64_t> into_file_;  // sessions with write_into_file; 0: the log has only one
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_SESSION_COUNTED_REPLAY_H_
