#ifndef RINGSCOPE_CORE_SESSION_REPLAY_OUTCOME_H_
#define RINGSCOPE_CORE_SESSION_REPLAY_OUTCOME_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/base/log_moment.h"
#include "core/base/lookup.h"
#include "core/base/sequence_map.h"
#include "core/log/verdict.h"
#include "core/perfetto/chunk.h"
#include "core/perfetto/data_loss.h"
#include "core/perfetto/packet_facts.h"
#include "core/perfetto/trace_stats.h"
#include "core/protovm/buffer_vms.h"
#include "core/session/replay.h"
#include "core/session/session.h"
#include "core/trace/ftrace_counters.h"
#include "core/trace/stat_rows.h"

namespace ringscope {

/// Losses of one buffer that only the packets show, by trace processor's definitions: of packets
/// with a non-zero previous_packet_dropped that are not their sequence's first.
struct BufferLosses : LossCounts {
  uint64_t incremental_sequences_dropped = 0;  // sequences all of whose state-needing packets (at
                                               // least one) are unusable
};

/// Watches the packets that go into a trace and derives what trace processor would report.
/// Memory: O(sequences).
class LossAnalysis {
 public:
  /// Takes the packets in the trace's order, valid ones only.
  void AddPacket(const SessionPacket& session_packet, const PacketFacts& facts);
  /// By buffer; buffers without packets are absent.
  std::map<BufferId, BufferLosses> Result() const;

 private:
  struct SequenceState {
    std::optional<BufferId> buffer;  // of its first packet
    IncrementalState incremental;
    bool needed_state = false;  // at least one packet needed it
    bool used_state = false;    // and at least one could use it
  };
  SequenceMap<SequenceState> sequences_;
  std::map<BufferId, BufferLosses> losses_;
};

/// Runs of programs (ProtoVM) on packets that a buffer overwrote.
struct VmRuns {
  uint64_t folded = 0;    // packets whose content is in a state
  uint64_t in_trace = 0;  // of these, folded before the states were written, which is once
  uint64_t errors = 0;    // runs that ended so
  uint64_t aborted = 0;
  uint64_t at_limit = 0;  // of these, because of the memory limit
};

/// The outcome of a replay for one buffer. Packets, `losses` and `stuck_bytes` are those of
/// all buffers that had its id.
struct BufferOutcome {
  BufferId id{};
  uint32_t index = 0;  // in the trace config
  std::string engine;
  uint64_t size = 0;  // bytes, as asked for
  FillPolicy policy = FillPolicy::kRingBuffer;
  bool freed = false;
  bool into_file = false;  // its session's config has write_into_file
  BufferStats stats;
  PacketCount read;      // returned by all read passes, clones apart
  uint64_t invalid = 0;  // of these, refused by the service
  BufferLosses losses;
  PacketCount unread;        // what one more read would have returned
  uint64_t stuck_bytes = 0;  // of chunks that even that read would have left: packets that wait
                             // for a patch or for another chunk
  std::vector<protovm::VmAccount> vms;  // those that left for a clone first

  /// The sums of all VMs.
  VmRuns programs() const;
};

/// Returns the part of the outcome that the buffer itself shows.
BufferOutcome OutcomeOf(const SessionBuffer& buffer);

/// The outcome of the replay of one session.
struct ReplayOutcome {
  /// Returns the buffer, or nullptr if it was never set up.
  const BufferOutcome* Find(BufferId buffer) const {
    return FindBy(buffers, buffer, &BufferOutcome::id);
  }
  /// Returns the buffer as the config names it: "buffers[0]".
  std::string NameOf(BufferId buffer) const;

  std::string path;
  uint64_t session = 0;  // number in the input, from 1
  bool is_only_session = false;
  uint64_t records = 0;
  uint64_t read_passes = 0;
  ReadsUsed reads;
  uint64_t recorder_gaps = 0;
  std::vector<RecordingVerdict> verdicts;  // in what the recording is not exact
  std::optional<uint64_t> first_time_ns;
  std::optional<uint64_t> last_time_ns;
  // Time of the last read, or of the end of tracing before it; absent: no read has a known time.
  std::optional<uint64_t> read_until_ns;
  std::vector<BufferOutcome> buffers;  // by id
  ServiceStats service;
  std::optional<uint64_t> clone;   // whose holder's view this is; absent: the session's own
  std::vector<CloneFacts> clones;  // of the session, as far as the records were read
  FtraceCounters ftrace;

  /// Returns the session's end: when tracing stopped or the buffers were last read, or else the
  /// last record; 0: no record has a time.
  uint64_t end_ns() const { return read_until_ns.value_or(last_time_ns.value_or(0)); }
  uint64_t duration_ns() const {
    return first_time_ns && last_time_ns ? *last_time_ns - *first_time_ns : 0;
  }
};

/// A replay of one session, to its end, whose outcome is counted.
class CountedReplay {
 public:
  /// @param listeners in order, as ReplayListeners has them; they outlive this
  CountedReplay(ReplayOptions options, std::vector<ReplayListener*> listeners);

  /// Applies a record, see Replay::Apply.
  Status Apply(const Op& op, std::optional<uint64_t> number = {});
  /// Makes the reads at the end, then the drain. @return all but the path and the session's number
  Result<ReplayOutcome> Finish();

 private:
  struct Counts {
    PacketCount read;
    uint64_t invalid = 0;
    PacketCount unread;        // drained
    uint64_t stuck_bytes = 0;  // of buffers whose id another has taken
  };
  class Counter : public ReplayListener {
   public:
    void OnRecord(const Op& op, const LogMoment& moment) override {
      now_ns = moment.time_ns;
      const auto* const changed = std::get_if<SessionChanged>(&op.body);
      if (changed != nullptr && changed->change == SessionChange::kStopped) stopped_ns = now_ns;
    }
    void OnReadDone(BufferId, uint64_t) override {
      if (now_ns) read_until_ns = stopped_ns ? stopped_ns : now_ns;
    }
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
    std::optional<uint64_t> now_ns, stopped_ns, read_until_ns;
    std::string scratch;
  };

  Counter counter_;
  Replay replay_;
  uint64_t recorder_gaps_ = 0;
  VerdictBuilder verdicts_;
  CloneScan clones_;
};

/// All rows that trace processor would derive from a replay's trace, zeros too: the buffers' by
/// index, then the service's, then those of the kernel's ftrace.
StatRows TraceProcessorStats(const ReplayOutcome& outcome);

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_SESSION_REPLAY_OUTCOME_H_
