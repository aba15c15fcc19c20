#ifndef RINGSCOPE_COMMANDS_ADVISE_SOLVE_H_
#define RINGSCOPE_COMMANDS_ADVISE_SOLVE_H_

#include "commands/advise_gather.h"

namespace ringscope {

/// Finds, by replays of many configurations, what buffers would do what is wanted, whether a split
/// would help, and how often reads would have to come. All that it promises is replayed exactly.
Result<AdviceFindings> SolveAdvice(Context& context, const OpenSession& open,
                                   const AdviceFacts& facts, const AdviseReads& reads,
                                   const AdviceWish& wish);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_ADVISE_SOLVE_H_
