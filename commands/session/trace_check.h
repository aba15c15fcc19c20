#ifndef RINGSCOPE_COMMANDS_SESSION_TRACE_CHECK_H_
#define RINGSCOPE_COMMANDS_SESSION_TRACE_CHECK_H_

#include <optional>
#include <string>

#include "commands/session/replay_run.h"
#include "commands/session/session_reader.h"
#include "commands/view/json_fields.h"
#include "core/compare/output_diff.h"
#include "core/reads/ready_times.h"

namespace ringscope {

/// "3 packets only in A, 1 packet only in B, 2 counters"; "no difference".
std::string CountsText(const DiffCounts& counts);
inline void ListFields(JsonFieldWriter& io, const DiffCounts& counts) {
  io("matched", counts.matched);
  for (size_t i = 0; i < kDifferenceKinds; ++i)
    io(Name(static_cast<DifferenceKind>(i)), counts.by_kind[i]);
}

/// Compares the replay of a recorded session with the trace that came out of it.
struct TraceCheck {
  ReplayOutcome outcome;
  OutputDiff diff;                  // side A is the replay, side B the trace
  std::optional<uint64_t> session;  // of the service: the one that the trace is of, of several
  /// The reads that were found in the trace, of a session that was written into a file.
  std::optional<FoundReads> found;
  /// The trace has the uid and pid of the recorder, as the service saw it in the producers' place.
  bool has_recorder_identity = false;
  bool is_damaged = false;  // the trace: it was compared as far as it can be read

  bool Same() const { return diff.Same(); }
};

/// Reads a trace for a comparison; of a zip archive or a folder the one in it. Warns of damage.
Result<ReplayOutput> ReadTraceOutput(Context& context, const std::string& path);

/// Replays the log that `sessions` is at, and compares packets, previous_packet_dropped, the order
/// in each sequence, uid and pid, and the buffers' counters, without the service's own packets. Of
/// several sessions of the service, compares the one whose replay is most like the trace.
/// @param trace a .pftrace @param listed differences to keep of each kind
/// @return kUsage: the trace is of another session
Result<TraceCheck> CheckWithTrace(Context& context, SessionReader& sessions,
                                  const ReplayChoices& choices, const std::string& trace,
                                  size_t listed);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_SESSION_TRACE_CHECK_H_
