#ifndef RINGSCOPE_CORE_REMEDIES_ADVICE_NUMBERS_H_
#define RINGSCOPE_CORE_REMEDIES_ADVICE_NUMBERS_H_

#include <cstdint>
#include <utility>
#include <variant>
#include <vector>

namespace ringscope {

// The numbers of a recommendation: a struct for each kind, or for some kinds that have the same.
// kNames has the names of all members, in order, as documents use them.

/// Of a buffer's size.
struct SizeNumbers {
  uint64_t size = 0;        // bytes, as it is
  uint64_t history_ns = 0;  // that every sequence reaches back
  uint64_t written = 0;     // packets
  uint64_t lost = 0;        // packets
  uint64_t needed = 0;      // bytes; 0: no size that was tried does what is wanted
  uint64_t planned = 0;     // bytes
  uint64_t still_lost = 0;  // packets, with the size needed: no size loses fewer
  uint64_t enough = 0;      // bytes, at most half the size; 0: the size is not too large

  static constexpr const char* kNames[] = {"size",   "history_ns", "written",    "lost",
                                           "needed", "planned",    "still_lost", "enough"};
};

/// Of sequences that overwrite others.
struct CrowdingNumbers {
  uint64_t chatty = 0;        // sequences
  uint64_t chatty_share = 0;  // of the space; millionths
  uint64_t rare = 0;          // sequences
  uint64_t rare_lost = 0;     // packets
  uint64_t rare_written = 0;  // packets

  static constexpr const char* kNames[] = {"chatty", "chatty_share", "rare", "rare_lost",
                                           "rare_written"};
};

/// Of a buffer that is split in two.
struct SplitNumbers {
  uint64_t to = 0;           // id of the new buffer
  uint64_t rest_size = 0;    // bytes that the buffer keeps
  uint64_t chatty_size = 0;  // bytes of the new one
  uint64_t written = 0;      // packets of the rare sequences
  uint64_t lost_before = 0;  // of these
  uint64_t lost_after = 0;
  uint64_t history_before_ns = 0;  // of the rare sequences
  uint64_t history_after_ns = 0;
  uint64_t chatty_before_ns = 0;  // history of the sequences that move
  uint64_t chatty_after_ns = 0;

  static constexpr const char* kNames[] = {
      "to",         "rest_size",         "chatty_size",      "written",          "lost_before",
      "lost_after", "history_before_ns", "history_after_ns", "chatty_before_ns", "chatty_after_ns"};
};

/// Of reads with the session's own period.
struct PeriodNumbers {
  uint64_t size = 0;  // of the buffer, bytes
  uint64_t peak = 0;  // bytes written within a period
  uint64_t period_ns = 0;
  uint64_t share = 0;  // of the size that the peak takes; millionths

  static constexpr const char* kNames[] = {"size", "peak", "period_ns", "share"};
};

/// Of reads that should be more frequent.
struct ShorterPeriodNumbers {
  uint64_t size = 0;       // of the buffer, bytes
  uint64_t peak = 0;       // bytes written within the session's period
  uint64_t now_ns = 0;     // the session's period
  uint64_t peak_then = 0;  // bytes written within the shorter period
  uint64_t period_ns = 0;  // 0: none is short enough

  static constexpr const char* kNames[] = {"size", "peak", "now_ns", "peak_then", "period_ns"};
};

/// Of a session that could be read periodically.
struct NewPeriodNumbers {
  uint64_t size = 0;  // of the buffer, bytes
  uint64_t peak = 0;  // bytes written within a period
  uint64_t period_ns = 0;

  static constexpr const char* kNames[] = {"size", "peak", "period_ns"};
};

/// Of packets that were committed late.
struct LateNumbers {
  uint64_t packets = 0;
  uint64_t limit_ns = 0;  // what counts as late
  uint64_t longest_ns = 0;

  static constexpr const char* kNames[] = {"packets", "limit_ns", "longest_ns"};
};

/// Of packets that were not finished.
struct UnfinishedNumbers {
  uint64_t packets = 0;

  static constexpr const char* kNames[] = {"packets"};
};

/// Of lost incremental state.
struct StateNumbers {
  uint64_t sequences = 0;
  uint64_t dropped = 0;     // sequences, as trace processor counts them
  uint64_t packets = 0;     // that lack it
  uint64_t history_ns = 0;  // that is planned; 0: not known
  uint64_t period_ns = 0;   // of clearing; 0: not known, or none helps

  static constexpr const char* kNames[] = {"sequences", "dropped", "packets", "history_ns",
                                           "period_ns"};
};

/// Of a producer's shared memory.
struct SharedMemoryNumbers {
  uint64_t smb_size = 0;    // bytes; 0: not known
  uint64_t peak_10ms = 0;   // bytes written
  uint64_t peak_100ms = 0;  // bytes written
  uint64_t aborted = 0;     // packets
  uint64_t flagged = 0;     // packets
  uint64_t wanted = 0;      // bytes, an estimate

  static constexpr const char* kNames[] = {"smb_size", "peak_10ms", "peak_100ms", "aborted",
                                           "flagged", "wanted"};
};

/// Of a buffer that discards.
struct DiscardNumbers {
  uint64_t at_ns = 0;        // when it was full
  uint64_t duration_ns = 0;  // of the session
  uint64_t lost = 0;         // packets
  uint64_t written = 0;      // packets

  static constexpr const char* kNames[] = {"at_ns", "duration_ns", "lost", "written"};
};

/// Of a buffer that discards, and was never full.
struct DiscardRiskNumbers {
  uint64_t size = 0;   // bytes
  uint64_t bytes = 0;  // of space that was written in the session

  static constexpr const char* kNames[] = {"size", "bytes"};
};

/// Of what only the session's start has.
struct RingNumbers {
  uint64_t sequences = 0;
  uint64_t packets = 0;  // lost
  uint64_t bytes = 0;
  uint64_t until_ns = 0;  // their last commit

  static constexpr const char* kNames[] = {"sequences", "packets", "bytes", "until_ns"};
};

/// Of a program (ProtoVM).
struct ProgramNumbers {
  uint64_t folded = 0;        // packets in the state that is in the trace
  uint64_t too_late = 0;      // packets folded after the only read that writes the state
  uint64_t dropped = 0;       // packets whose runs the memory limit aborted
  uint64_t elements = 0;      // that merges left out because of it
  uint64_t failed = 0;        // runs that ended otherwise than well, those included
  uint64_t state_bytes = 0;   // of the state at the end
  uint64_t peak = 0;          // bytes of memory
  uint64_t limit = 0;         // bytes; 0: its config gives it none
  uint64_t enough = 0;        // bytes; 0: not looked for, or none found
  uint64_t lost = 0;          // packets of its buffer
  uint64_t lost_without = 0;  // the same, if no program ran
  uint64_t lost_then = 0;     // the same, with `enough`

  static constexpr const char* kNames[] = {"folded", "too_late",    "dropped",      "elements",
                                           "failed", "state_bytes", "peak",         "limit",
                                           "enough", "lost",        "lost_without", "lost_then"};
};

using AdviceNumbers = std::variant<SizeNumbers, CrowdingNumbers, SplitNumbers, PeriodNumbers,
                                   ShorterPeriodNumbers, NewPeriodNumbers, LateNumbers,
                                   UnfinishedNumbers, StateNumbers, SharedMemoryNumbers,
                                   DiscardNumbers, DiscardRiskNumbers, RingNumbers, ProgramNumbers>;

/// All numbers with their names, in order.
std::vector<std::pair<const char*, uint64_t>> ListNumbers(const AdviceNumbers& numbers);

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_REMEDIES_ADVICE_NUMBERS_H_
