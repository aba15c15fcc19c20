#ifndef RINGSCOPE_CORE_REMEDIES_ADVICE_FACTS_H_
#define RINGSCOPE_CORE_REMEDIES_ADVICE_FACTS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/ids.h"
#include "core/base/packet_count.h"
#include "core/base/write_rate.h"
#include "core/log/op.h"
#include "core/perfetto/trace_config_facts.h"
#include "core/session/replay.h"
#include "core/sweep/sweep_result.h"

namespace ringscope {

// What advice rests on: a session as it was, seen in one replay.

/// A sequence in one buffer.
struct AdviceSequence {
  BufferId buffer{};
  SequenceKey sequence;
  PacketCount written;
  PacketCount lost;            // overwritten, or refused by the full buffer
  PacketCount lost_otherwise;  // for reasons that no size changes
  uint64_t space_bytes = 0;    // of space that its chunks took
  uint64_t first_ns = 0;       // of its first and last commit, since the log began
  uint64_t last_ns = 0;
  uint64_t unusable = 0;         // packets read that lack incremental state
  uint64_t needs_state = 0;      // packets written that need incremental state
  uint32_t content = 0;          // of most of its packets, see ContentName
  uint64_t content_packets = 0;  // how many these are
  std::string kind;  // of more than half of its packets, see PacketKinds; empty: there is none
};

/// A producer.
struct AdviceProducer {
  ProducerId id{};
  std::string name;
  std::optional<uint64_t> smb_size;  // bytes
  uint64_t aborted = 0;              // packets that its writers aborted
  uint64_t flagged = 0;              // packets in which it reports losses of its own
  WriteRate rate;                    // of payload bytes, all writers together
};

/// A buffer.
struct AdviceBuffer {
  BufferId id{};
  uint32_t index = 0;  // in the trace config
  uint64_t size = 0;
  FillPolicy policy = FillPolicy::kRingBuffer;
  std::string engine;
  WriteRate rate;                            // of space that chunks occupy
  std::optional<uint64_t> first_refused_ns;  // since the log began: a buffer that discards was full
  std::vector<std::string> sources;          // data sources that write to it, as far as known
};

/// Packets that were committed long after they were written.
struct LateCommits {
  uint64_t limit_ns = 0;  // what counts as long
  uint64_t packets = 0;
  uint64_t longest_ns = 0;
  std::optional<SequenceKey> sequence;  // of the one that waited longest
};

/// A session.
struct AdviceFacts {
  std::vector<AdviceBuffer> buffers;      // by id
  std::vector<AdviceSequence> sequences;  // by buffer, those that took most space first
  std::vector<AdviceProducer> producers;  // by id
  TraceConfigFacts config;
  bool has_config = false;
  uint64_t duration_ns = 0;
  uint64_t recorder_gaps = 0;  // where the recording is not complete
  /// Whether data sources have programs (ProtoVM) that the service does not run, as their configs
  /// give them no memory.
  bool has_idle_programs = false;
  bool is_trace = false;    // made of a trace: when chunks were committed is not known
  uint64_t unfinished = 0;  // packets that were not finished, or wait, when the log ends
  uint64_t unfinished_before_flush = 0;  // such packets, written before the last flush: not counted
                                         // in `unfinished`
  std::optional<uint64_t> last_flush_ns;  // log time; of the request of the last that succeeded
  LateCommits late;

  const AdviceBuffer* Find(BufferId id) const;
  const AdviceProducer* Find(ProducerId id) const;
  uint64_t TotalSize() const;
};

/// What the user wants.
struct AdviceWish {
  std::optional<uint64_t> keep_ns;  // absent: all of the log
  std::optional<uint64_t> memory;   // bytes, for all buffers together; absent: no limit
};

/// A buffer as it should be.
struct PlannedBuffer {
  BufferId id{};
  std::optional<BufferId> made_from;  // split off from this one
  FillPolicy policy = FillPolicy::kRingBuffer;
  uint64_t size = 0;               // bytes
  std::optional<uint64_t> needed;  // that meets the goal; absent: no size tried does
  std::optional<uint64_t> enough;  // much less than `size`, which also meets the goal
  uint64_t still_lost = 0;  // packets that a buffer of the size needed loses: no other loses fewer
  bool first = false;       // holds the rare sequences: served first, with up to half of the memory
};

/// Chatty sequences of a buffer that get one of their own.
struct PlannedSplit {
  BufferId from{};
  BufferId to{};
  std::vector<SequenceKey> chatty;  // that move
  std::vector<SequenceKey> rare;    // that stay
  uint64_t chatty_bytes = 0;        // of space that they took
  uint64_t all_bytes = 0;
  std::optional<uint64_t> needed;  // by the buffer if it is not split, for the goal
};

/// What becomes of some sequences of a buffer.
struct GroupOutcome {
  uint64_t written = 0;  // packets
  uint64_t lost = 0;
  uint64_t history_ns = 0;  // the shortest of them
};

/// A split at today's total size, replayed.
struct SplitOutcome {
  PlannedSplit split;
  uint64_t rest_size = 0;
  uint64_t chatty_size = 0;
  GroupOutcome rare_before, rare_after;
  GroupOutcome chatty_before, chatty_after;
};

/// The longest period of reads with which a buffer of its own size loses nothing.
struct ReadPeriod {
  BufferId buffer{};
  uint64_t size = 0;
  std::optional<uint64_t> period_ns;  // absent: not even the shortest possible
  uint64_t peak_bytes = 0;            // in any window of `period_ns`, or of the shortest possible
  bool verified = false;              // by a replay that reads so
};

/// A program (ProtoVM) of a data source, in a buffer.
struct TriedProgram {
  BufferId buffer{};
  protovm::VmAccount now;          // as it ran; of one that did not run, what it belongs to
  bool is_idle = false;            // it did not run: its config gives it no memory
  uint64_t lost = 0;               // packets of the buffer, as it was
  uint64_t lost_without = 0;       // the same without programs
  std::optional<uint64_t> enough;  // bytes of memory with which no program drops anything; absent:
                                   // not looked for, or none found
  uint64_t lost_then = 0;          // packets of the buffer, if all programs have that
};

/// How the session's buffers are read.
struct AdviceReads {
  bool periodic = false;
  uint64_t period_ns = 0;  // if periodic
  ReadsChoice replay;      // how replays read them: what kAuto comes to
  bool assumed = false;    // the log does not show how it was
};

/// What was found out by replays.
struct AdviceFindings {
  AdviceWish wish;
  AdviceReads reads;
  bool extrapolated = false;         // the log is shorter than what is to be kept
  std::vector<PlannedBuffer> plan;   // by id
  std::vector<PlannedSplit> splits;  // of the plan
  std::vector<SplitOutcome> tried;   // splits at today's total size that help
  std::vector<ReadPeriod> periods;   // of ring buffers that lose packets, or are read periodically
  std::vector<TriedProgram> programs;
  uint64_t period_ns = 0;         // of the plan's reads, if the session is read periodically
  bool becomes_periodic = false;  // by the plan: it is not
  std::vector<SweepRow> now;      // by an exact replay; by buffer
  std::vector<SweepRow> then;     // the same, with the plan
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_REMEDIES_ADVICE_FACTS_H_
