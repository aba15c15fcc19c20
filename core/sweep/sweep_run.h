#ifndef RINGSCOPE_CORE_SWEEP_SWEEP_RUN_H_
#define RINGSCOPE_CORE_SWEEP_SWEEP_RUN_H_

#include <vector>

#include "core/sweep/sweep_input.h"
#include "core/sweep/sweep_result.h"

namespace ringscope {

/// Takes one session through many configurations at once: the log is decoded once. Configurations
/// that need payloads (V1, plug-ins, some rare commits) are replayed one by one.
Result<SweepResult> RunSweep(const SweepInput& input, const std::vector<ReplayOptions>& configs);

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_SWEEP_SWEEP_RUN_H_
