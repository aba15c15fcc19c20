#ifndef RINGSCOPE_FORMATS_TESTING_TRACE_CONTENT_H_
#define RINGSCOPE_FORMATS_TESTING_TRACE_CONTENT_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/perfetto/trace_stats.h"
#include "formats/io/byte_stream.h"

namespace ringscope {

/// A packet of a producer, as it is compared.
struct ContentPacket {
  std::string content;  // as its producer wrote it
  std::string bytes;    // as the service writes them, but for trusted_pid: a recorder's is its own
  uint32_t sequence_id = 0;  // trusted_packet_sequence_id
  uint32_t dropped = 0;      // previous_packet_dropped
};

/// What a consumer gets of a session or of a clone: from the service, or from a replay.
struct TraceContent {
  std::vector<ContentPacket> packets;
  std::vector<BufferStats> stats;  // by the buffers' index, of the last statistics
};

Result<TraceContent> ReadTraceContent(std::unique_ptr<ByteSource> trace);

/// How the packets, in their order, differ from those expected; empty: not at all.
std::string PacketsDifference(const TraceContent& expected, const TraceContent& found);
/// The same, then for the buffers' counters.
std::string TraceDifference(const TraceContent& expected, const TraceContent& found);

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_TESTING_TRACE_CONTENT_H_
