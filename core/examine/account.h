#ifndef RINGSCOPE_CORE_EXAMINE_ACCOUNT_H_
#define RINGSCOPE_CORE_EXAMINE_ACCOUNT_H_

#include <cstdint>
#include <vector>

#include "core/gaps/gap_report.h"
#include "core/perfetto/trace_config_facts.h"
#include "core/session/replay_outcome.h"
#include "core/session/session_notes.h"
#include "core/trace/stage_account.h"
#include "core/trace/trace_facts.h"

namespace ringscope {

/// Returns the account of these sequences of a log, and of the kernel's losses.
/// @param reports places at which the log itself reports that something is missing
StageAccounts AccountOf(const std::vector<const SequenceGaps*>& sequences,
                        const SessionNotes& notes, const ReplayOutcome& outcome, uint64_t reports);
/// Returns what a trace alone proves of the stages at which data ended.
StageAccounts AccountOf(const TraceFacts& facts, const TraceConfigFacts& config);

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_EXAMINE_ACCOUNT_H_
