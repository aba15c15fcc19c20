#ifndef RINGSCOPE_CORE_REMEDIES_PROGRAM_TRIALS_H_
#define RINGSCOPE_CORE_REMEDIES_PROGRAM_TRIALS_H_

#include <vector>

#include "core/remedies/advice_facts.h"
#include "core/remedies/advice_replays.h"

namespace ringscope {

/// What the programs (ProtoVM) of a session's data sources save, and would save with other memory
/// limits, by replays. Empty if the session has no programs.
/// @param now the session as it was
Result<std::vector<TriedProgram>> TryPrograms(AdviceReplays& replays, const AdviceFacts& facts,
                                              const std::vector<SweepRow>& now);

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_REMEDIES_PROGRAM_TRIALS_H_
