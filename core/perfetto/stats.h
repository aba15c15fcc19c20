#ifndef RINGSCOPE_CORE_PERFETTO_STATS_H_
#define RINGSCOPE_CORE_PERFETTO_STATS_H_

#include <array>
#include <cstdint>

#include "core/base/ids.h"

namespace ringscope {

/// What one buffer counts: the service's BufferStats, all twenty fields.
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

/// One field of BufferStats: its name in texts, its number in the TraceStats.BufferStats message,
/// and whether trace processor's stats table calls a non-zero value a data loss.
struct StatField {
  const char* name;
  uint32_t proto_field;
  bool is_data_loss;
  uint64_t BufferStats::*value;
};

/// All fields, in the order in which texts list them.
inline constexpr std::array<StatField, 20> kStatFields = {{
    {"buffer_size", 12, false, &BufferStats::buffer_size},
    {"bytes_written", 1, false, &BufferStats::bytes_written},
    {"bytes_overwritten", 13, false, &BufferStats::bytes_overwritten},
    {"bytes_read", 14, false, &BufferStats::bytes_read},
    {"padding_bytes_written", 15, false, &BufferStats::padding_bytes_written},
    {"padding_bytes_cleared", 16, false, &BufferStats::padding_bytes_cleared},
    {"chunks_written", 2, false, &BufferStats::chunks_written},
    {"chunks_rewritten", 10, false, &BufferStats::chunks_rewritten},
    {"chunks_relocated", 20, false, &BufferStats::chunks_relocated},
    {"chunks_overwritten", 3, false, &BufferStats::chunks_overwritten},
    {"chunks_discarded", 18, false, &BufferStats::chunks_discarded},
    {"chunks_read", 17, false, &BufferStats::chunks_read},
    {"chunks_committed_out_of_order", 11, false, &BufferStats::chunks_committed_out_of_order},
    {"write_wrap_count", 4, false, &BufferStats::write_wrap_count},
    {"patches_succeeded", 5, false, &BufferStats::patches_succeeded},
    {"patches_failed", 6, true, &BufferStats::patches_failed},
    {"readaheads_succeeded", 7, false, &BufferStats::readaheads_succeeded},
    {"readaheads_failed", 8, false, &BufferStats::readaheads_failed},
    {"abi_violations", 9, true, &BufferStats::abi_violations},
    {"trace_writer_packet_loss", 19, true, &BufferStats::trace_writer_packet_loss},
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

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_PERFETTO_STATS_H_
