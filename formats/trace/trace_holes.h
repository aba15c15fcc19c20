#ifndef RINGSCOPE_FORMATS_TRACE_TRACE_HOLES_H_
#define RINGSCOPE_FORMATS_TRACE_TRACE_HOLES_H_

#include <cstdint>
#include <set>
#include <string>

#include "core/trace/trace_facts.h"
#include "formats/trace/replayed_packets.h"
#include "formats/trace/track_events.h"

namespace ringscope {

/// "unusable: 12 packets, names that they need were lost"
std::string UnusableText(uint64_t packets);

/// Makes tracks that show what a trace lacks: below the track of each thread, or else by process or
/// sequence, a slice over each hole from the packet before it to that after it, and over packets
/// that need lost state; by buffer, what was overwritten before its oldest packet; by CPU, what the
/// kernel lost; what the sorting of an import drops; and the end of a file that is cut off. Without
/// a log claims nothing that the trace does not prove: how many packets are missing is unknown.
/// @param without sequences that a log explains
/// @param root gets the tracks
void AddTraceHoles(const TraceFacts& facts, const std::set<TraceSequenceId>& without,
                   EventTrack& root);

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_TRACE_TRACE_HOLES_H_
