#ifndef STANDIN_TRACE_BUFFER_V1_H_
#define STANDIN_TRACE_BUFFER_V1_H_

#include "src/tracing/service/trace_buffer.h"

namespace perfetto {

class TraceBufferV1 : public TraceBuffer {
 public:
  static std::unique_ptr<TraceBufferV1> Create(size_t size_in_bytes, OverwritePolicy = kOverwrite);

  void CopyChunkUntrusted(ProducerID, const ClientIdentity&, WriterID, ChunkID, uint16_t, uint8_t,
                          bool, const uint8_t*, size_t) override;
  bool TryPatchChunkContents(ProducerID, WriterID, ChunkID, const Patch*, size_t, bool) override;
  void BeginRead() override;
  bool ReadNextTracePacket(TracePacket*, PacketSequenceProperties*, Dropped*) override;
  std::unique_ptr<TraceBuffer> CloneReadOnly() const override;
  void set_read_only() override { read_only_ = true; }
  const WriterStats& writer_stats() const override;
  const TraceStats::BufferStats& stats() const override { return stats_; }
  size_t size() const override { return size_; }
  size_t used_size() const override { return used_size_; }
  OverwritePolicy overwrite_policy() const override { return policy_; }
  bool has_data() const override { return used_size_ > 0; }
#if STANDIN_RELEASE >= 54
  size_t GetMemoryUsageBytes() const override { return size_; }
  BufType buf_type() const override { return kV1; }
#endif

 private:
  friend class TraceBufferTest;

  void TakeState();

  std::unique_ptr<standin::Store> store_;
  OverwritePolicy policy_ = kOverwrite;
  size_t size_ = 0;
  size_t used_size_ = 0;
  bool read_only_ = false;
  TraceStats::BufferStats stats_;
  mutable WriterStats writer_stats_;
};

}  // namespace perfetto

#endif
