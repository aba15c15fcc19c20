#include "src/tracing/service/trace_buffer_v1.h"

#include <cstdlib>
#include <cstring>

namespace perfetto {

TraceBuffer::~TraceBuffer() = default;

void TraceBuffer::AddTo(standin::Store& store, ProducerID producer, const ClientIdentity& identity,
                        WriterID writer, ChunkID chunk, uint16_t fragments, uint8_t flags,
                        bool complete, const uint8_t* bytes, size_t size) {
  store.Add({producer, writer, identity.uid(), identity.pid(), chunk, fragments, flags, complete,
             bytes, size});
}

bool TraceBuffer::PatchIn(standin::Store& store, ProducerID producer, WriterID writer,
                          ChunkID chunk, const Patch* patches, size_t count, bool more) {
  standin::Patches all{producer, writer, chunk, {}, more};
  for (size_t i = 0; i < count; ++i)
    all.patches.emplace_back(patches[i].offset_untrusted, patches[i].data.data());
  return store.Patch(all);
}

bool TraceBuffer::ReadFrom(standin::Store& store, TracePacket* packet,
                           PacketSequenceProperties* properties, Dropped* dropped) {
  if (!packet->slices().empty()) abort();  // it has to be empty
  standin::Packet next;
  if (!store.Next(&next)) return false;
  for (const auto& [bytes, size] : next.slices)
    if (size > 0) packet->AddSlice(bytes, size);
  properties->producer_id_trusted = next.producer;
  properties->client_identity_trusted = ClientIdentity(next.uid, next.pid);
  properties->writer_id = next.writer;
  *dropped = static_cast<Dropped>(next.dropped);
  return true;
}

TraceBuffer::WriterStats TraceBuffer::WritersOf(standin::Store& store) {
  WriterStats all;
  store.VisitWriters([&](const standin::Writer& writer) {
    Histogram histogram;
    for (size_t i = 0; i < histogram.num_buckets(); ++i) {
      histogram.counts[i] = writer.counts[i];
      histogram.sums[i] = static_cast<int64_t>(writer.sums[i]);
    }
    all.Insert(writer.sequence, histogram);
  });
  return all;
}

std::unique_ptr<TraceBufferV1> TraceBufferV1::Create(size_t size_in_bytes, OverwritePolicy policy) {
  auto buffer = std::make_unique<TraceBufferV1>();
  buffer->store_ = standin::MakeStore(0, size_in_bytes, policy == kDiscard);
  if (buffer->store_ == nullptr) return nullptr;
  buffer->policy_ = policy;
  buffer->TakeState();
  return buffer;
}

void TraceBufferV1::CopyChunkUntrusted(ProducerID producer, const ClientIdentity& identity,
                                       WriterID writer, ChunkID chunk, uint16_t fragments,
                                       uint8_t flags, bool complete, const uint8_t* src,
                                       size_t size) {
  if (read_only_ || src == nullptr) abort();
  AddTo(*store_, producer, identity, writer, chunk, fragments, flags, complete, src, size);
  TakeState();
}

bool TraceBufferV1::TryPatchChunkContents(ProducerID producer, WriterID writer, ChunkID chunk,
                                          const Patch* patches, size_t count, bool more) {
  if (read_only_) abort();
  const bool applied = PatchIn(*store_, producer, writer, chunk, patches, count, more);
  TakeState();
  return applied;
}

void TraceBufferV1::BeginRead() {
  store_->BeginRead();
  TakeState();
}

bool TraceBufferV1::ReadNextTracePacket(TracePacket* packet, PacketSequenceProperties* properties,
                                        Dropped* dropped) {
  const bool found = ReadFrom(*store_, packet, properties, dropped);
  TakeState();
  return found;
}

std::unique_ptr<TraceBuffer> TraceBufferV1::CloneReadOnly() const {
  auto clone = std::make_unique<TraceBufferV1>();
  clone->store_ = store_->Clone();
  clone->policy_ = policy_;
  clone->set_read_only();
  clone->TakeState();
  return clone;
}

const TraceBuffer::WriterStats& TraceBufferV1::writer_stats() const {
  return writer_stats_ = WritersOf(*store_);
}

void TraceBufferV1::TakeState() {
  store_->Count(&stats_);
  size_ = used_size_ = static_cast<size_t>(stats_.buffer_size());
}

}  // namespace perfetto
