#ifndef RINGSCOPE_CORE_SWEEP_EXACT_SWEEP_H_
#define RINGSCOPE_CORE_SWEEP_EXACT_SWEEP_H_

#include <vector>

#include "core/sweep/sweep_input.h"
#include "core/sweep/sweep_result.h"

namespace ringscope {

/// The rows of one configuration, from an ordinary replay with full engines and a ledger: what
/// RunSweep must find, by other means. Slow; results that matter are verified with it. Warns of
/// nothing that RunSweep warns of.
/// @return a row per buffer of the session, by id
Result<std::vector<SweepRow>> ReplayConfiguration(const SweepInput& input,
                                                  const ReplayOptions& config);

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_SWEEP_EXACT_SWEEP_H_
