#ifndef RINGSCOPE_COMMANDS_SWEEP_TARGET_H_
#define RINGSCOPE_COMMANDS_SWEEP_TARGET_H_

#include "commands/sweep_report.h"
#include "commands/sweep_run.h"

namespace ringscope {

/// Looks for the smallest buffers that meet all of `targets`, for each setting. Buffers without a
/// size of their own in `choices` are scaled alike. First each doubling is tried from one page to
/// more than all that was committed, then sixteenths (or single pages) below the smallest that
/// met it. More room can lose more now and then; so what is promised is this: the sizes found meet
/// the targets, by an exact replay, and no smaller ones that were tried do.
/// @param facts of the session; the report gets all configurations that were tried
Result<SweepReport> FindTargets(Context& context, const OpenSession& open, SessionFacts facts,
                                const SweepChoices& choices, std::vector<SweepTarget> targets,
                                const EngineLookup& find_engine);

/// Fails where sizes and targets do not go together.
Status CheckTargetSizes(const SweepChoices& choices);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_SWEEP_TARGET_H_
