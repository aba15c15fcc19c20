#ifndef STANDIN_TRACE_BUFFER_V2_H_
#define STANDIN_TRACE_BUFFER_V2_H_

#include "perfetto/ext/base/paged_memory.h"
#include "src/tracing/service/trace_buffer.h"

namespace perfetto {

namespace internal {

struct TBChunk {
  size_t outer_size() const { return (sizeof(TBChunk) + size + 15) / 16 * 16; }
  bool is_padding() const { return pri_wri_id == 0; }
  uint8_t* fragments_begin() { return reinterpret_cast<uint8_t*>(this) + sizeof(TBChunk); }
  uint16_t unread_payload_off() const {
    return static_cast<uint16_t>(payload_size - payload_avail);
  }

  ChunkID chunk_id;
  ProducerAndWriterID pri_wri_id;
  uint16_t size;
  uint16_t payload_size;
  uint16_t payload_avail;
  uint8_t flags;
  uint8_t checksum;
};
static_assert(sizeof(TBChunk) == 16);

}  // namespace internal

class TraceBufferV2 : public TraceBuffer {
 public:
  static std::unique_ptr<TraceBufferV2> Create(size_t size_in_bytes, OverwritePolicy = kOverwrite);

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
  BufType buf_type() const override { return kV2; }
#endif

 private:
  friend class TraceBufferV2Test;

  void TakeState();

  std::unique_ptr<standin::Store> store_;
  OverwritePolicy policy_ = kOverwrite;
  base::PagedMemory data_;
  size_t wr_ = 0;
  size_t size_ = 0;
  size_t used_size_ = 0;
  bool read_only_ = false;
  TraceStats::BufferStats stats_;
  mutable WriterStats writer_stats_;
};

}  // namespace perfetto

#endif
