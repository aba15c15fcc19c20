#ifndef STANDIN_TRACE_STATS_GEN_H_
#define STANDIN_TRACE_STATS_GEN_H_

#include <cstdint>

#ifndef STANDIN_RELEASE
#include "src/tracing/service/standin_release.h"
#endif

namespace perfetto::protos::gen {

class TraceStats_BufferStats {
 public:
  uint64_t buffer_size() const { return buffer_size_; }
  void set_buffer_size(uint64_t value) { buffer_size_ = value; }
  uint64_t bytes_written() const { return bytes_written_; }
  void set_bytes_written(uint64_t value) { bytes_written_ = value; }
  uint64_t bytes_overwritten() const { return bytes_overwritten_; }
  void set_bytes_overwritten(uint64_t value) { bytes_overwritten_ = value; }
  uint64_t bytes_read() const { return bytes_read_; }
  void set_bytes_read(uint64_t value) { bytes_read_ = value; }
  uint64_t padding_bytes_written() const { return padding_bytes_written_; }
  void set_padding_bytes_written(uint64_t value) { padding_bytes_written_ = value; }
  uint64_t padding_bytes_cleared() const { return padding_bytes_cleared_; }
  void set_padding_bytes_cleared(uint64_t value) { padding_bytes_cleared_ = value; }
  uint64_t chunks_written() const { return chunks_written_; }
  void set_chunks_written(uint64_t value) { chunks_written_ = value; }
  uint64_t chunks_rewritten() const { return chunks_rewritten_; }
  void set_chunks_rewritten(uint64_t value) { chunks_rewritten_ = value; }
  uint64_t chunks_overwritten() const { return chunks_overwritten_; }
  void set_chunks_overwritten(uint64_t value) { chunks_overwritten_ = value; }
  uint64_t chunks_discarded() const { return chunks_discarded_; }
  void set_chunks_discarded(uint64_t value) { chunks_discarded_ = value; }
  uint64_t chunks_read() const { return chunks_read_; }
  void set_chunks_read(uint64_t value) { chunks_read_ = value; }
  uint64_t chunks_committed_out_of_order() const { return chunks_committed_out_of_order_; }
  void set_chunks_committed_out_of_order(uint64_t value) { chunks_committed_out_of_order_ = value; }
  uint64_t write_wrap_count() const { return write_wrap_count_; }
  void set_write_wrap_count(uint64_t value) { write_wrap_count_ = value; }
  uint64_t patches_succeeded() const { return patches_succeeded_; }
  void set_patches_succeeded(uint64_t value) { patches_succeeded_ = value; }
  uint64_t patches_failed() const { return patches_failed_; }
  void set_patches_failed(uint64_t value) { patches_failed_ = value; }
  uint64_t readaheads_succeeded() const { return readaheads_succeeded_; }
  void set_readaheads_succeeded(uint64_t value) { readaheads_succeeded_ = value; }
  uint64_t readaheads_failed() const { return readaheads_failed_; }
  void set_readaheads_failed(uint64_t value) { readaheads_failed_ = value; }
  uint64_t abi_violations() const { return abi_violations_; }
  void set_abi_violations(uint64_t value) { abi_violations_ = value; }
  uint64_t trace_writer_packet_loss() const { return trace_writer_packet_loss_; }
  void set_trace_writer_packet_loss(uint64_t value) { trace_writer_packet_loss_ = value; }
#if STANDIN_RELEASE >= 58
  uint64_t chunks_relocated() const { return chunks_relocated_; }
#endif
  void set_chunks_relocated(uint64_t value);

 private:
  uint64_t buffer_size_ = 0;
  uint64_t bytes_written_ = 0;
  uint64_t bytes_overwritten_ = 0;
  uint64_t bytes_read_ = 0;
  uint64_t padding_bytes_written_ = 0;
  uint64_t padding_bytes_cleared_ = 0;
  uint64_t chunks_written_ = 0;
  uint64_t chunks_rewritten_ = 0;
  uint64_t chunks_overwritten_ = 0;
  uint64_t chunks_discarded_ = 0;
  uint64_t chunks_read_ = 0;
  uint64_t chunks_committed_out_of_order_ = 0;
  uint64_t write_wrap_count_ = 0;
  uint64_t patches_succeeded_ = 0;
  uint64_t patches_failed_ = 0;
  uint64_t readaheads_succeeded_ = 0;
  uint64_t readaheads_failed_ = 0;
  uint64_t abi_violations_ = 0;
  uint64_t trace_writer_packet_loss_ = 0;
  uint64_t chunks_relocated_ = 0;
};

class TraceStats {
 public:
  using BufferStats = TraceStats_BufferStats;
};

}  // namespace perfetto::protos::gen

namespace perfetto {
using TraceStats = protos::gen::TraceStats;
}

#endif  // STANDIN_TRACE_STATS_GEN_H_
