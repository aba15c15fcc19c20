#ifndef RINGSCOPE_COMMANDS_DEMO_REPLAY_CHECK_H_
#define RINGSCOPE_COMMANDS_DEMO_REPLAY_CHECK_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/log/clones.h"
#include "core/log/op.h"
#include "core/perfetto/stats.h"

namespace ringscope::demo {

/// A packet of a producer, as it is compared.
struct CheckedPacket {
  std::string content;
  uint32_t sequence_id = 0;  // equal up to a renaming
  uint32_t dropped = 0;      // previous_packet_dropped
};

/// What a consumer gets of a session or of a clone: from the service, or from a replay.
struct SessionContent {
  std::vector<CheckedPacket> packets;
  std::vector<BufferStats> stats;  // by the buffers' index
};

/// @param trace the packets that the service gave a consumer
/// @param trace_stats the service's TraceStats of the session; empty: the last in the trace
Result<SessionContent> ContentOfTrace(const std::string& trace, const std::string& trace_stats);

/// A log, from its beginning.
using LogOpener = std::function<Result<std::unique_ptr<OpSource>>()>;
/// What the replay of a log returns for each of its sessions, by their numbers in the log.
Result<std::map<uint64_t, SessionContent>> ContentOfSessions(const LogOpener& open);
/// The same for each clone, by its number in the log. Clones that failed are left out.
Result<std::map<uint64_t, SessionContent>> ContentOfClones(const LogOpener& open);

/// How the replay differs from what the service gave; empty: not at all. Packets are compared in
/// their order, with their loss bits, then the buffers' counters.
std::string Difference(const SessionContent& service, const SessionContent& replay);

}  // namespace ringscope::demo

#endif  // RINGSCOPE_COMMANDS_DEMO_REPLAY_CHECK_H_
