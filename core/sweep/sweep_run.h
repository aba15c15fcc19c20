#ifndef RINGSCOPE_CORE_SWEEP_SWEEP_RUN_H_
#define RINGSCOPE_CORE_SWEEP_SWEEP_RUN_H_

#include <functional>
#include <memory>
#include <vector>

#include "core/sweep/batch_builder.h"
#include "core/sweep/sweep_input.h"
#include "core/sweep/sweep_result.h"

namespace ringscope {

/// What gives a sweep its batches in place of its own reading of the records: hands all of them to
/// `put`, in order.
/// @return what all configurations have in common; nullptr: not all that was to be put was, or what
/// was is wrong
using BatchFeed =
    std::function<const BatchBuilder*(std::function<void(std::shared_ptr<const SweepBatch>)> put)>;

/// Takes one session through many configurations at once: the log is decoded once. Configurations
/// that need payloads (plug-ins, some rare commits) are replayed one by one.
/// @param feed may be empty; one that fails is as none
Result<SweepResult> RunSweep(const SweepInput& input, const std::vector<ReplayOptions>& configs,
                             const BatchFeed& feed = {});

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_SWEEP_SWEEP_RUN_H_
