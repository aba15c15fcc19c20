#ifndef RINGSCOPE_CORE_REMEDIES_ADVICE_SCAN_H_
#define RINGSCOPE_CORE_REMEDIES_ADVICE_SCAN_H_

#include "core/remedies/advice_facts.h"

namespace ringscope {

/// Looks at a session's records, without a replay: its config, buffers, producers, data sources and
/// reads. Reads to the session's end.
Result<AdviceFacts> ScanForAdvice(OpSource& ops, AdviceReads& reads);

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_REMEDIES_ADVICE_SCAN_H_
