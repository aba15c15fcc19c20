#ifndef RINGSCOPE_COMMANDS_ADVISE_ADVISE_GATHER_H_
#define RINGSCOPE_COMMANDS_ADVISE_ADVISE_GATHER_H_

#include "commands/common/session_reader.h"
#include "core/advice/advice_facts.h"

namespace ringscope {

/// Replays the session that `sessions` stands at and adds what became of its packets, how fast they
/// came, and how late.
/// @param late_ns how much later than written is late
Status GatherFacts(Context& context, SessionReader& sessions, const AdviceReads& reads,
                   uint64_t late_ns, AdviceFacts& facts);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_ADVISE_ADVISE_GATHER_H_
