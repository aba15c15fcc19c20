#ifndef RINGSCOPE_COMMANDS_SESSION_TRACE_CHECK_H_
#define RINGSCOPE_COMMANDS_SESSION_TRACE_CHECK_H_

#include "commands/session/replay_run.h"
#include "core/compare/output_diff.h"

namespace ringscope {

/// "3 packets only in A, 1 packet only in B, 2 counters"; "no difference".
std::string CountsText(const DiffCounts& counts);
/// "A and B differ: 2 counters, and the ids of 1 sequence (14 packets)".
/// @param words if A and B are the same, and if they differ
std::string ComparedText(const OutputDiff& diff, const Both<std::string>& words);
inline void ListFields(JsonFieldWriter& io, const DiffCounts& counts) {
  io("matched", counts.matched);
  for (const DifferenceRow& row : kEnumRows<DifferenceKind>) io(row.name, counts[row.value]);
}

/// Compares the replay of a recorded session with the trace that came out of it.
struct TraceCheck {
  ReplayOutcome outcome;
  OutputDiff diff;                  // side A is the replay, side B the trace
  std::optional<uint64_t> session;  // of the service: the one that the trace is of, of several
  /// The reads that were found in the trace, of a session that was written into a file.
  std::optional<FoundReads> found;
  /// With the reads that the log has the trace differs, so that others were searched in it.
  bool searched_reads = false;
  /// How it differs with those of the log, if the others are closer: `outcome` and `diff` have
  /// them.
  std::optional<DiffCounts> recorded;
  /// The trace has the uid and pid of the recorder, as the service saw it in the producers' place.
  bool has_recorder_identity = false;
  bool is_damaged = false;  // the trace: it was compared as far as it can be read
  /// Packets of the replay that are not compared: the trace ends within a read, before them.
  uint64_t cut_off = 0;

  /// Returns true if the log makes the trace, with its own reads and the service's sequence ids.
  bool Same() const { return diff.Same() && diff.renamed_sequences == 0 && !recorded; }
};

/// Reads a trace for a comparison; of a zip archive or a folder the one in it. Warns of damage.
Result<ReplayOutput> ReadTraceOutput(Context& context, const std::string& path);

/// Replays the sessions from the one that `sessions` is at, and compares packets,
/// previous_packet_dropped, the order in each sequence, sequence ids, uid and pid, and the buffers'
/// counters, without the service's own packets. Of several sessions, and their clones, compares the
/// one whose replay is most like the trace. A session that was written into a file is compared with
/// its recorded reads first, then with reads that are searched in the file.
/// @param trace a .pftrace @param listed differences to keep of each kind
/// @return kUsage: the trace is of another session
Result<TraceCheck> CheckWithTrace(Context& context, SessionReader& sessions,
                                  const ReplayChoices& choices, const std::string& trace,
                                  size_t listed);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_SESSION_TRACE_CHECK_H_
