#ifndef RINGSCOPE_CORE_SWEEP_SWEEP_TARGET_H_
#define RINGSCOPE_CORE_SWEEP_SWEEP_TARGET_H_

#include <vector>

#include "core/sweep/sweep_input.h"
#include "core/sweep/sweep_report.h"

namespace ringscope {

/// Looks for the smallest buffers that meet all of `targets`, for each setting: of each buffer
/// without a size of its own in `choices` the smallest size, as buffers do not depend on each
/// other. First each doubling is tried from one page to more than all that was committed, and the
/// size that loses nothing; then sixteenths (or single pages) below the smallest that met it,
/// unless that one is the size that loses nothing: of it, a size less a 64th was tried with it. A
/// larger buffer can lose more in rare cases; what is promised is therefore this: the sizes found
/// meet the targets together, by an exact replay, and no smaller ones that were tried do.
/// @param facts of the session; the report gets all configurations that were tried
Result<SweepReport> FindTargets(const SweepInput& input, SessionFacts facts,
                                const SweepChoices& choices, std::vector<SweepTarget> targets);

/// kUsage where the choices fix sizes that a search has to find.
Status CheckTargetSizes(const SweepChoices& choices);

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_SWEEP_SWEEP_TARGET_H_
