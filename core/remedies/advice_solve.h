#ifndef RINGSCOPE_CORE_REMEDIES_ADVICE_SOLVE_H_
#define RINGSCOPE_CORE_REMEDIES_ADVICE_SOLVE_H_

#include "core/remedies/advice_facts.h"
#include "core/sweep/read_period.h"
#include "core/sweep/sweep_input.h"

namespace ringscope {

/// Finds, by replays of many configurations, which buffer sizes meet the wish, whether a split
/// would help, and how often the buffers have to be read. All results are replayed exactly.
/// @param own the accounts of the session as it was
/// @param needs what its gaps call for, not tried yet
Result<AdviceFindings> SolveAdvice(const SweepInput& input, const AdviceFacts& facts,
                                   const AdviceReads& reads, const AdviceWish& wish,
                                   const OwnAccounts& own, GapNeeds needs);

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_REMEDIES_ADVICE_SOLVE_H_
