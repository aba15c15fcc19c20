#ifndef RINGSCOPE_COMMANDS_ADVISE_GATHER_H_
#define RINGSCOPE_COMMANDS_ADVISE_GATHER_H_

#include <functional>
#include <memory>

#include "commands/session_reader.h"
#include "commands/sweep_run.h"
#include "core/advice_facts.h"
#include "core/sweep_result.h"

namespace ringscope {

/// How the session reads its buffers, and how a replay is to do it.
struct AdviseReads {
  AdviceReads reads;
  SweepConfig config;
};

/// Looks at a session's records, without a replay: its config, buffers, producers, data sources and
/// reads. Reads to the session's end.
Result<AdviceFacts> ScanForAdvice(SessionReader& sessions, AdviseReads& reads);

/// Replays the session once and adds what became of its packets, how fast they came, and how late.
/// @param late_ns how much later than written is late
Status GatherFacts(Context& context, const OpenSession& open, const AdviseReads& reads,
                   uint64_t late_ns, AdviceFacts& facts);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_ADVISE_GATHER_H_
