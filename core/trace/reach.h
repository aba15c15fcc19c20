#ifndef RINGSCOPE_CORE_TRACE_REACH_H_
#define RINGSCOPE_CORE_TRACE_REACH_H_

#include <cstddef>
#include <cstdint>
#include <optional>

#include "core/trace/trace_facts.h"

namespace ringscope {

/// How far back from its session's end a ring reaches that overwrote data which nobody had read.
/// Of a log it counts from the newest packet that was overwritten, by the packet's own time; of a
/// trace alone from the latest first packet among the sequences that hold most of the ring's bytes:
/// a writer of little has all its packets, since the final flush commits them.
struct Reach {
  uint64_t ns = 0;
  bool is_estimate = false;  // by size and mean rate, as the packets' times are not known

  friend bool operator==(const Reach&, const Reach&) = default;
};

/// Returns the time that a ring holds at the mean rate of the session; nullopt if nothing was
/// written.
std::optional<Reach> ReachByRate(const BufferStats& stats, const TimeSpan& session);
/// Returns the reach of a ring of a trace; nullopt if it overwrote nothing.
/// @param index of the buffer in the trace config
std::optional<Reach> ReachOf(const TraceFacts& facts, size_t index, const TimeSpan& session);

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_TRACE_REACH_H_
