#ifndef RINGSCOPE_FORMATS_TESTING_TRACE_CONTENT_H_
#define RINGSCOPE_FORMATS_TESTING_TRACE_CONTENT_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/perfetto/stats.h"
#include "formats/io/byte_stream.h"

namespace ringscope {

/// A packet of a producer, as it is compared.
struct ContentPacket {
  std::string content;         // without what the service appends
  uint32_t sequence_id = 0;    // equal up to a renaming
  std::optional<int32_t> uid;  // trusted_uid
  uint32_t dropped = 0;        // previous_packet_dropped
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
