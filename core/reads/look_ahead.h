#ifndef RINGSCOPE_CORE_READS_LOOK_AHEAD_H_
#define RINGSCOPE_CORE_READS_LOOK_AHEAD_H_

#include <vector>

#include "core/log/op.h"
#include "core/session/replay.h"

namespace ringscope {

/// Whether a session's records have a read that touches its buffers; stops at the first. Reads of a
/// consumer that the service answers with nothing are none, see ServiceReads.
Result<bool> HasReads(OpSource& ops);

/// Of each of the session's passes over all buffers, in order: whether it left nothing in them, as
/// they were recorded, that it could have returned, since it did not reach its limit. A whole
/// replay.
Result<std::vector<bool>> FinishedReads(OpSource& ops);

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_READS_LOOK_AHEAD_H_
