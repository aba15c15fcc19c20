#ifndef RINGSCOPE_CORE_PERFETTO_TRACE_STATS_H_
#define RINGSCOPE_CORE_PERFETTO_TRACE_STATS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "core/base/wire.h"
#include "core/perfetto/fields.h"
#include "core/perfetto/stats.h"

namespace ringscope {

/// Counters of BufferStats that ringscope does not know, by buffer and field number.
std::map<std::pair<uint32_t, uint32_t>, uint64_t> UnknownBufferStats(Bytes trace_stats);

/// Counters of the service itself (TraceStats), as far as a log determines them, and what
/// ringscope had to skip.
struct ServiceStats {
  uint64_t chunks_discarded = 0;
  uint64_t patches_discarded = 0;
  uint64_t invalid_packets = 0;
  uint64_t producers_connected = 0;  // at the end
  uint64_t producers_seen = 0;
  uint64_t data_sources_registered = 0;  // at the end
  uint64_t data_sources_seen = 0;        // instances given out
  uint64_t tracing_sessions = 1;         // at the end, that of the trace included
  uint64_t total_buffers = 0;
  uint64_t flushes_requested = 0;
  uint64_t flushes_succeeded = 0;
  uint64_t flushes_failed = 0;
  uint64_t final_flush_outcome = 0;  // 1 succeeded, 2 failed, 0 the service did no final flush
  uint64_t malformed_requests = 0;   // not counted by the service: it never sees them
  uint64_t skipped_chunks = 0;       // that the service skips and counts nowhere
};

/// A counter of the service: its name in texts, its number in the TraceStats message (0: the
/// service does not count it), whether trace processor calls a non-zero value a data loss, and its
/// place.
struct ServiceField {
  const char* name;
  uint32_t proto_field;
  bool is_data_loss;
  uint64_t ServiceStats::*value;
};
inline constexpr std::array<ServiceField, 15> kServiceFields = {{
    {"producers_connected", proto::TraceStats::kProducersConnected, false,
     &ServiceStats::producers_connected},
    {"producers_seen", proto::TraceStats::kProducersSeen, false, &ServiceStats::producers_seen},
    {"data_sources_registered", proto::TraceStats::kDataSourcesRegistered, false,
     &ServiceStats::data_sources_registered},
    {"data_sources_seen", proto::TraceStats::kDataSourcesSeen, false,
     &ServiceStats::data_sources_seen},
    {"tracing_sessions", proto::TraceStats::kTracingSessions, false,
     &ServiceStats::tracing_sessions},
    {"total_buffers", proto::TraceStats::kTotalBuffers, false, &ServiceStats::total_buffers},
    {"chunks_discarded", proto::TraceStats::kChunksDiscarded, false,
     &ServiceStats::chunks_discarded},
    {"patches_discarded", proto::TraceStats::kPatchesDiscarded, false,
     &ServiceStats::patches_discarded},
    {"invalid_packets", proto::TraceStats::kInvalidPackets, false, &ServiceStats::invalid_packets},
    {"flushes_requested", proto::TraceStats::kFlushesRequested, false,
     &ServiceStats::flushes_requested},
    {"flushes_succeeded", proto::TraceStats::kFlushesSucceeded, false,
     &ServiceStats::flushes_succeeded},
    {"flushes_failed", proto::TraceStats::kFlushesFailed, true, &ServiceStats::flushes_failed},
    {"final_flush_outcome", proto::TraceStats::kFinalFlushOutcome, false,
     &ServiceStats::final_flush_outcome},
    {"malformed_requests", 0, false, &ServiceStats::malformed_requests},
    {"skipped_chunks", 0, false, &ServiceStats::skipped_chunks},
}};

inline constexpr size_t kMaxStatsBuffers = 1024;  // more are no trace's

/// The counters in a TraceStats message, by the buffers' index; at most kMaxStatsBuffers. Fields
/// before malformed bytes still count.
std::vector<BufferStats> ReadTraceStats(Bytes trace_stats);
/// The counters of the service in a TraceStats message.
ServiceStats ReadServiceStats(Bytes trace_stats);

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_PERFETTO_TRACE_STATS_H_
