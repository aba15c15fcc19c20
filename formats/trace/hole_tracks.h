#ifndef RINGSCOPE_FORMATS_TRACE_HOLE_TRACKS_H_
#define RINGSCOPE_FORMATS_TRACE_HOLE_TRACKS_H_

#include <cstdint>
#include <functional>
#include <optional>

#include "core/examine/examination.h"
#include "formats/trace/track_events.h"

namespace ringscope {

/// Makes tracks with the holes of an examined session: below the track of each thread, or else by
/// process or sequence, a slice over each hole, and over packets that need lost state; by buffer,
/// what was overwritten before its oldest packet; by CPU, what the kernel lost; what the sorting of
/// an import drops; and the end of a file that is cut off.
/// @param track_of the uuid of the track that describes a sequence of the account, by its index; 0:
///   none does; nullopt: its holes are left out
/// @param root gets the tracks
void AddHoles(const Examination& examination,
              const std::function<std::optional<uint64_t>(size_t)>& track_of, EventTrack& root);

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_TRACE_HOLE_TRACKS_H_
