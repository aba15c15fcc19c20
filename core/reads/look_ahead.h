#ifndef RINGSCOPE_CORE_READS_LOOK_AHEAD_H_
#define RINGSCOPE_CORE_READS_LOOK_AHEAD_H_

#include "core/log/op.h"
#include "core/session/replay.h"

namespace ringscope {

/// Whether a session's records have a read that touches its buffers; stops at the first. Reads of a
/// consumer that the service answers with nothing are none, see ServiceReads.
Result<bool> HasReads(OpSource& ops);

/// Whether the last read of the session left nothing in its buffers, as they were recorded, that it
/// could have returned: its last pass did not reach its limit. A whole replay.
Result<bool> LastReadEmptied(OpSource& ops);

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_READS_LOOK_AHEAD_H_
