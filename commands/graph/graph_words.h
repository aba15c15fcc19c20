#ifndef RINGSCOPE_COMMANDS_GRAPH_GRAPH_WORDS_H_
#define RINGSCOPE_COMMANDS_GRAPH_GRAPH_WORDS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "core/base/enum_names.h"
#include "core/graph/chunk_graph.h"

namespace ringscope {

// The parts of a chunk graph in words, as all its outputs use them.

/// Times relative to the session's start.
class GraphClock {
 public:
  explicit GraphClock(std::optional<uint64_t> start_ns) : start_ns_(start_ns) {}
  /// "0.714486 s", or "record 17" where the log has no times.
  std::string At(const LogMoment& moment) const;
  /// "after record 17 (0.714486 s)"
  std::string After(const LogMoment& moment, const char* after = "after") const;

 private:
  std::optional<uint64_t> start_ns_;
};

/// "772 packets: 31 read, 741 overwritten"; "no packets".
std::string PacketsText(const FateTally& packets);

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
GraphRow RowOf(const GraphItem& item, const GraphClock& clock);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_GRAPH_GRAPH_WORDS_H_
