#include "src/tracing/service/trace_buffer_v2.h"

#include <cstdlib>
#include <cstring>

namespace perfetto {

std::unique_ptr<TraceBufferV2> TraceBufferV2::Create(size_t size_in_bytes, OverwritePolicy policy) {
  auto buffer = std::make_unique<TraceBufferV2>();
  buffer->store_ = standin::MakeStore(STANDIN_RELEASE, size_in_bytes, policy == kDiscard);
  if (buffer->store_ == nullptr) return nullptr;
  buffer->policy_ = policy;
  buffer->TakeState();
  return buffer;
}

void TraceBufferV2::CopyChunkUntrusted(ProducerID producer, const ClientIdentity& identity,
                                       WriterID writer, ChunkID chunk, uint16_t fragments,
                                       uint8_t flags, bool complete, const uint8_t* src,
                                       size_t size) {
  if (read_only_ || src == nullptr) abort();
  AddTo(*store_, producer, identity, writer, chunk, fragments, flags, complete, src, size);
  TakeState();
}

bool TraceBufferV2::TryPatchChunkContents(ProducerID producer, WriterID writer, ChunkID chunk,
                                          const Patch* patches, size_t count, bool more) {
  if (read_only_) abort();
  const bool applied = PatchIn(*store_, producer, writer, chunk, patches, count, more);
  TakeState();
  return applied;
}

void TraceBufferV2::BeginRead() {
  store_->BeginRead();
  TakeState();
}

bool TraceBufferV2::ReadNextTracePacket(TracePacket* packet, PacketSequenceProperties* properties,
                                        Dropped* dropped) {
  const bool found = ReadFrom(*store_, packet, properties, dropped);
  TakeState();
  return found;
}

std::unique_ptr<TraceBuffer> TraceBufferV2::CloneReadOnly() const {
  auto clone = std::make_unique<TraceBufferV2>();
  clone->store_ = store_->Clone();
  clone->policy_ = policy_;
  clone->set_read_only();
  clone->TakeState();
  return clone;
}

const TraceBuffer::WriterStats& TraceBufferV2::writer_stats() const {
  return writer_stats_ = WritersOf(*store_);
}

/// Writes the headers of the chunks, as they are in the real buffer's memory.
void TraceBufferV2::TakeState() {
  store_->Count(&stats_);
  size_ = static_cast<size_t>(stats_.buffer_size());
  size_t used = 0;
  std::vector<standin::Chunk> chunks;
  wr_ = store_->VisitChunks([&](const standin::Chunk& chunk) {
    chunks.push_back(chunk);
    used = chunk.offset + chunk.outer;
  });
  used_size_ = used;
  data_ = base::PagedMemory(store_->memory());
  for (const standin::Chunk& chunk : chunks) {
    internal::TBChunk header{};
    header.chunk_id = chunk.chunk;
    header.pri_wri_id = chunk.sequence;
    header.size = static_cast<uint16_t>(chunk.outer - sizeof(header));
    header.payload_size = static_cast<uint16_t>(chunk.payload);
    header.payload_avail = static_cast<uint16_t>(chunk.unread);
    header.flags = chunk.flags;
    memcpy(store_->memory() + chunk.offset, &header, sizeof(header));
  }
}

}  // namespace perfetto
