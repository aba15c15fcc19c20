#ifndef RINGSCOPE_COMMANDS_TESTING_REPLAY_CHECK_H_
#define RINGSCOPE_COMMANDS_TESTING_REPLAY_CHECK_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/log/op.h"
#include "core/log/session_index.h"
#include "formats/testing/trace_content.h"

namespace ringscope::testing {

/// @param trace the packets that the service gave a consumer
/// @param trace_stats the service's TraceStats of the session
Result<TraceContent> ContentOfTrace(const std::string& trace, const std::string& trace_stats);

/// A log, from its beginning.
using LogOpener = std::function<Result<std::unique_ptr<OpSource>>()>;
/// What the replay of a log returns for each of its sessions, by their numbers in the log.
Result<std::map<uint64_t, TraceContent>> ContentOfSessions(const LogOpener& open);
/// The same for each clone, by its number in the log. Clones that failed are left out.
Result<std::map<uint64_t, TraceContent>> ContentOfClones(const LogOpener& open);

}  // namespace ringscope::testing

#endif  // RINGSCOPE_COMMANDS_TESTING_REPLAY_CHECK_H_
