#ifndef RINGSCOPE_CORE_READS_WRITTEN_FILE_H_
#define RINGSCOPE_CORE_READS_WRITTEN_FILE_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "core/perfetto/stats.h"
#include "core/perfetto/trace_config_facts.h"

namespace ringscope {

/// A file that the service wrote, reduced to what a replay can be compared with. 16 bytes for each
/// packet.
struct WrittenFile {
  struct Packet {
    uint64_t hash = 0;  // see HashOfPacket
    uint32_t sequence_id = 0;
    uint32_t dropped = 0;  // previous_packet_dropped
  };
  /// The service's event at the end of a read.
  struct Mark {
    uint64_t packets = 0;  // that are before it in the file
    std::optional<uint64_t> time_ns;
  };

  std::vector<Packet> packets;     // without the service's own
  std::vector<Mark> marks;         // in order
  std::vector<BufferStats> stats;  // by index, of the last statistics; empty: there are none
  std::optional<TraceConfigFacts> config;
};

/// @param packet its bytes, without what the service appends
uint64_t HashOfPacket(Bytes packet);

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_READS_WRITTEN_FILE_H_
