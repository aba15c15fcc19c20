#ifndef RINGSCOPE_COMMANDS_GRAPH_GRAPH_REPORT_H_
#define RINGSCOPE_COMMANDS_GRAPH_GRAPH_REPORT_H_

#include "commands/session/replay_run.h"
#include "core/graph/chunk_graph.h"
#include "core/session/session_notes.h"

namespace ringscope {

// The parts of a chunk graph in words, as all its outputs use them.

/// "772 packets: 31 read, 741 overwritten"; "no packets".
std::string PacketsText(const FateCounts& packets);

/// One line of a graph: a chunk, a run of chunks, or ids without a chunk.
struct GraphRow {
  uint64_t first = 0;  // ids, unwrapped
  uint64_t last = 0;
  std::optional<Tone> tone;  // absent: ids without a chunk
  std::string committed;
  std::string bytes;
  std::string fragments;
  std::string fate;  // "overwritten by 2:1#480 at 1.815 s; 4 patches applied"

  /// "#120-#987" or "#120"
  std::string ids() const;
};
/// @param start_ns of the session: times are relative to it; absent: the log has no times
GraphRow RowOf(const GraphItem& item, std::optional<uint64_t> start_ns);

/// The chunk graphs of a session, as they are to be shown.
struct GraphReport {
  const ReplayOutcome& outcome;
  const SessionNotes& notes;          // of the same replay
  std::vector<SequenceGraph> graphs;  // those to show
  size_t sequences = 0;               // that there are
  size_t with_losses = 0;             // of these, that lost packets
  uint64_t waiting = 0;               // packets of all that wait in a buffer
  uint64_t unread = 0;                // that a later read would have returned
  uint64_t missing_ids = 0;           // of chunks that the log does not have
  size_t with_flags = 0;              // sequences whose writers themselves report losses

  /// Takes all graphs, and counts what they show.
  void Take(std::vector<SequenceGraph> all);

  /// "sequence 2:1 (app/render) in buffer 1 (v2@58, 256 KiB, ring_buffer)"
  std::string HeadingText(const SequenceGraph& graph) const;
  /// "685 chunks, 2.67 MiB, 772 packets: 31 read, 741 overwritten"
  static std::string SummaryText(const SequenceGraph& graph);
  /// Returns the losses and the parts that are not shown; may be "".
  std::string ClosingText() const;
};

/// A chunk as a command line names it: "1:4#120".
Result<ChunkName> ParseChunkName(std::string_view text);

/// Tables of chunks for a terminal.
std::string GraphText(const GraphReport& report, size_t width);
/// A picture that needs nothing from elsewhere.
std::string GraphSvg(const GraphReport& report);
/// Members of one session of the JSON document.
Json GraphJson(const GraphReport& report);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_GRAPH_GRAPH_REPORT_H_
