#ifndef RINGSCOPE_FORMATS_TRACE_TRACE_HOLES_H_
#define RINGSCOPE_FORMATS_TRACE_TRACE_HOLES_H_

#include <span>

#include "core/base/result.h"
#include "core/trace/trace_facts.h"
#include "formats/io/byte_stream.h"

namespace ringscope {

struct WrittenHoles {
  uint64_t shown = 0;
  uint64_t left_out = 0;  // trace processor would drop them, as it sorts the trace in windows
};

/// Writes tracks that show what a trace lacks, to follow its packets: below the track of each
/// thread, or else by sequence, a slice over each hole from the packet before it to that after it,
/// and over packets that need lost state; by buffer, what was overwritten before its oldest packet;
/// by CPU, what the kernel lost; and the end of a file that is cut off. Claims nothing that the
/// trace does not prove: how many packets are missing is unknown.
/// @param sessions of the file
Result<WrittenHoles> WriteTraceHoles(std::span<const TraceFacts> sessions, ByteSink& sink);

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_TRACE_TRACE_HOLES_H_
