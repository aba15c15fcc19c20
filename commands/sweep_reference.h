#ifndef RINGSCOPE_COMMANDS_SWEEP_REFERENCE_H_
#define RINGSCOPE_COMMANDS_SWEEP_REFERENCE_H_

#include <vector>

#include "commands/sweep_run.h"

namespace ringscope {

/// The rows of one configuration, from an ordinary replay with full engines and a ledger: what
/// RunSweep must find, by other means. Slow; results that matter are verified with it.
/// What a session warns of is left to RunSweep to say.
/// @return a row per buffer of the session, by id
Result<std::vector<SweepRow>> ReplayConfiguration(Context& context, const OpenSession& open,
                                                  const SweepConfig& config,
                                                  const EngineLookup& find_engine);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_SWEEP_REFERENCE_H_
