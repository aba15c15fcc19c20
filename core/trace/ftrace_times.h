#ifndef RINGSCOPE_CORE_TRACE_FTRACE_TIMES_H_
#define RINGSCOPE_CORE_TRACE_FTRACE_TIMES_H_

#include <cstdint>

#include "core/trace/event_times.h"

namespace ringscope {

/// Adds the times of all events in an FtraceEventBundle, compact ones too, and what is wrong with
/// it.
/// @param sequence_id of its packet: a clock of the kernel's that no other packet has is its own
void ReadFtraceTimes(Bytes bundle, uint32_t sequence_id, TraceClocks& clocks, EventTimes& out);

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_TRACE_FTRACE_TIMES_H_
