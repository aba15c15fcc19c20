#ifndef RINGSCOPE_CORE_PERFETTO_TRACE_STATS_H_
#define RINGSCOPE_CORE_PERFETTO_TRACE_STATS_H_

#include <array>
#include <map>
#include <utility>
#include <vector>

#include "core/base/wire.h"
#include "core/perfetto/fields.h"

namespace ringscope {

/// Counters of one buffer: the service's BufferStats, all twenty fields.
struct BufferStats {
  uint64_t buffer_size = 0;
  uint64_t bytes_written = 0;
  uint64_t bytes_overwritten = 0;
  uint64_t bytes_read = 0;
  uint64_t padding_bytes_written = 0;
  uint64_t padding_bytes_cleared = 0;
  uint64_t chunks_written = 0;
  uint64_t chunks_rewritten = 0;
  uint64_t chunks_relocated = 0;
  uint64_t chunks_overwritten = 0;
  uint64_t chunks_discarded = 0;
  uint64_t chunks_read = 0;
  uint64_t chunks_committed_out_of_order = 0;
  uint64_t write_wrap_count = 0;
  uint64_t patches_succeeded = 0;
  uint64_t patches_failed = 0;
  uint64_t readaheads_succeeded = 0;
  uint64_t readaheads_failed = 0;
  uint64_t abi_violations = 0;
  uint64_t trace_writer_packet_loss = 0;

  /// Returns true for services that count the chunks that were overwritten, but not their bytes.
  bool lacks_overwritten_bytes() const { return chunks_overwritten > 0 && bytes_overwritten == 0; }
  /// Bytes of the chunks that were overwritten; if only these are counted, their share of all.
  uint64_t overwritten_bytes() const {
    if (!lacks_overwritten_bytes() || chunks_written == 0) return bytes_overwritten;
    return static_cast<uint64_t>(static_cast<double>(bytes_written) *
                                 static_cast<double>(chunks_overwritten) /
                                 static_cast<double>(chunks_written));
  }
  /// Bytes of chunks that were neither read nor overwritten.
  uint64_t unread_bytes() const {
    const uint64_t gone = bytes_overwritten + bytes_read;
    return bytes_written > gone ? bytes_written - gone : 0;
  }

  /// Returns the counters with which a clone of the buffer begins: it was not read yet.
  BufferStats WithoutReads() const {
    BufferStats stats = *this;
    stats.bytes_read = stats.chunks_read = 0;
    stats.readaheads_succeeded = stats.readaheads_failed = 0;
    return stats;
  }

  friend bool operator==(const BufferStats&, const BufferStats&) = default;
};

/// A counter: its name in texts, its number in the message (0: the service does not count it), its
/// place, and whether trace processor's stats table calls a non-zero value a data loss.
template <typename Stats>
struct CounterField {
  const char* name;
  uint32_t proto_field;
  uint64_t Stats::*value;
  bool is_data_loss = false;
};
using StatField = CounterField<BufferStats>;

/// All fields, in the order in which texts list them.
inline constexpr std::array<StatField, 20> kStatFields = {{
    {"buffer_size", 12, &BufferStats::buffer_size},
    {"bytes_written", 1, &BufferStats::bytes_written},
    {"bytes_overwritten", 13, &BufferStats::bytes_overwritten},
    {"bytes_read", 14, &BufferStats::bytes_read},
    {"padding_bytes_written", 15, &BufferStats::padding_bytes_written},
    {"padding_bytes_cleared", 16, &BufferStats::padding_bytes_cleared},
    {"chunks_written", 2, &BufferStats::chunks_written},
    {"chunks_rewritten", 10, &BufferStats::chunks_rewritten},
    {"chunks_relocated", 20, &BufferStats::chunks_relocated},
    {"chunks_overwritten", 3, &BufferStats::chunks_overwritten},
    {"chunks_discarded", 18, &BufferStats::chunks_discarded},
    {"chunks_read", 17, &BufferStats::chunks_read},
    {"chunks_committed_out_of_order", 11, &BufferStats::chunks_committed_out_of_order},
    {"write_wrap_count", 4, &BufferStats::write_wrap_count},
    {"patches_succeeded", 5, &BufferStats::patches_succeeded},
    {"patches_failed", 6, &BufferStats::patches_failed, true},
    {"readaheads_succeeded", 7, &BufferStats::readaheads_succeeded},
    {"readaheads_failed", 8, &BufferStats::readaheads_failed},
    {"abi_violations", 9, &BufferStats::abi_violations, true},
    {"trace_writer_packet_loss", 19, &BufferStats::trace_writer_packet_loss, true},
}};

/// Upper limits (bytes, inclusive) of the writer histogram's buckets; one more bucket follows.
inline constexpr std::array<uint32_t, 10> kHistogramLimits = {8,    32,   128,  512,   1024,
                                                              2048, 4096, 8192, 12288, 16384};
inline constexpr size_t kHistogramBuckets = kHistogramLimits.size() + 1;

/// How much one sequence put into its chunks, chunk by chunk.
struct WriterHistogram {
  std::array<uint64_t, kHistogramBuckets> sums{};    // bytes of fragments, headers included
  std::array<uint32_t, kHistogramBuckets> counts{};  // commits

  void Add(uint32_t bytes) {
    size_t bucket = 0;
    while (bucket < kHistogramLimits.size() && bytes > kHistogramLimits[bucket]) ++bucket;
    ++counts[bucket];
    sums[bucket] += bytes;
  }
  friend bool operator==(const WriterHistogram&, const WriterHistogram&) = default;
};

struct WriterStats {
  SequenceKey sequence;
  const WriterHistogram* histogram;
};

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
  std::map<ProducerId, uint64_t> missed_flushes = {};  // failed ones that it did not acknowledge
};

using ServiceField = CounterField<ServiceStats>;
inline constexpr auto kServiceFields = [] {
  using Field = proto::TraceStats;
  using S = ServiceStats;
  return std::to_array<ServiceField>({
      {"producers_connected", Field::kProducersConnected, &S::producers_connected},
      {"producers_seen", Field::kProducersSeen, &S::producers_seen},
      {"data_sources_registered", Field::kDataSourcesRegistered, &S::data_sources_registered},
      {"data_sources_seen", Field::kDataSourcesSeen, &S::data_sources_seen},
      {"tracing_sessions", Field::kTracingSessions, &S::tracing_sessions},
      {"total_buffers", Field::kTotalBuffers, &S::total_buffers},
      {"chunks_discarded", Field::kChunksDiscarded, &S::chunks_discarded},
      {"patches_discarded", Field::kPatchesDiscarded, &S::patches_discarded},
      {"invalid_packets", Field::kInvalidPackets, &S::invalid_packets},
      {"flushes_requested", Field::kFlushesRequested, &S::flushes_requested},
      {"flushes_succeeded", Field::kFlushesSucceeded, &S::flushes_succeeded},
      {"flushes_failed", Field::kFlushesFailed, &S::flushes_failed, true},
      {"final_flush_outcome", Field::kFinalFlushOutcome, &S::final_flush_outcome},
      {"malformed_requests", 0, &S::malformed_requests},
      {"skipped_chunks", 0, &S::skipped_chunks},
  });
}();

inline constexpr size_t kMaxStatsBuffers = 1024;  // more are no trace's

/// The counters in a TraceStats message, by the buffers' index; at most kMaxStatsBuffers. Fields
/// before malformed bytes still count.
std::vector<BufferStats> ReadTraceStats(Bytes trace_stats);
/// The counters of the service in a TraceStats message.
ServiceStats ReadServiceStats(Bytes trace_stats);

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_PERFETTO_TRACE_STATS_H_
