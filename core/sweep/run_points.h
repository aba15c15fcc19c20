#ifndef RINGSCOPE_CORE_SWEEP_RUN_POINTS_H_
#define RINGSCOPE_CORE_SWEEP_RUN_POINTS_H_

#include <cstddef>

#include "core/sweep/sweep_report.h"

namespace ringscope {

/// Takes the next points of the plan that have no rows yet through the session, in one pass if no
/// engine needs payloads, and adds their rows with all that is lost.
/// @param count of points; not more than have no rows
Status RunPoints(const SweepInput& input, size_t count, SweepReport& report);

/// Finds what the buffers need in each setting (SweepReport::needs), adds a point with these sizes
/// to the plan, and takes all its points through the session: all that in one pass, if possible.
/// @param facts of the session; of a plan that was made blindly, complete once the records were
/// read to their end for the first time
Status RunPointsAndNeeds(const SweepInput& input, const SweepChoices& choices,
                         const SessionFacts& facts, SweepReport& report);

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_SWEEP_RUN_POINTS_H_
