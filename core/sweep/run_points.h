#ifndef RINGSCOPE_CORE_SWEEP_RUN_POINTS_H_
#define RINGSCOPE_CORE_SWEEP_RUN_POINTS_H_

#include <cstddef>

#include "core/sweep/sweep_report.h"

namespace ringscope {

/// Takes the next points of the plan that have no rows yet through the session, in one pass if no
/// engine needs payloads, and adds their rows with all that is lost.
/// @param count of points; not more than have no rows
Status RunPoints(const SweepInput& input, size_t count, SweepReport& report);

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_SWEEP_RUN_POINTS_H_
