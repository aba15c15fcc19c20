#include "core/reads/refill.h"

#include <utility>

#include "core/perfetto/chunk.h"

namespace ringscope {

Refill* RefillWatch::Find(BufferId id) {
  const auto live = live_.find(id);
  return live == live_.end() ? nullptr : &buffers_[live->second];
}

void RefillWatch::Add(const Op& op, uint64_t number) {
  if (const auto* header = std::get_if<LogHeader>(&op.body)) {
    if (std::exchange(begun_, true)) return;  // a further part
    start_is_missing_ = header->part > 0;
    repeated_ = header->repeated_records;
    return;
  }
  if (!start_is_missing_) return;
  if (repeated_ > 0) {
    --repeated_;
    if (const auto* buffer = std::get_if<BufferSetUp>(&op.body)) SetUp(*buffer);
  }
  access_.Apply(op);
  if (waiting_ == 0) return;
  // Ids of writers and producers are given out again, and chunks are numbered from 0 again then.
  if (const auto* writer = std::get_if<WriterUnregistered>(&op.body))
    newest_.erase({writer->producer, writer->writer});
  if (const auto* producer = std::get_if<ProducerDisconnected>(&op.body))
    std::erase_if(newest_,
                  [&](const auto& entry) { return entry.first.producer == producer->producer; });
  if (const auto* commit = std::get_if<Commit>(&op.body)) {
    AddCommit(op, *commit, number);
  } else if (const auto* cleared = std::get_if<BufferCleared>(&op.body)) {
    OnEmptied(cleared->buffer, op, number);
  } else if (const auto* cloned = std::get_if<BufferCloned>(&op.body)) {
    if (cloned->transfer) OnEmptied(cloned->buffer, op, number);
  } else if (const auto* freed = std::get_if<BufferFreed>(&op.body)) {
    const Refill* buffer = Find(freed->id);
    if (buffer != nullptr && !buffer->known()) --waiting_;
    live_.erase(freed->id);
  }
}

void RefillWatch::SetUp(const BufferSetUp& buffer) {
  if (!live_.try_emplace(buffer.id, buffers_.size()).second) return;
  buffers_.push_back({.buffer = buffer});
  ++waiting_;
}

void RefillWatch::AddCommit(const Op& op, const Commit& commit, uint64_t number) {
  if (commit.part != 0 || !commit.last) return;
  parser_.Parse(commit.request);
  const ServiceAccess::Producer* producer = access_.Find(commit.producer);
  if (access_.IgnoresRequests(producer)) return;
  for (const ChunkToMove& chunk : parser_.chunks()) {
    const std::optional<ChunkHeader> header = chunk.header();
    if (!header) continue;
    Refill* const refill = Find(TargetBufferOf(chunk.target_buffer));
    if (refill == nullptr || refill->known()) continue;
    if (access_.Check(producer, commit, chunk, header->writer, /*is_open=*/true, kAnyRelease))
      continue;
    const auto [newest, is_first] =
        newest_.try_emplace({commit.producer, header->writer}, header->chunk);
    if (is_first || !Precedes(newest->second, header->chunk)) continue;
    newest->second = header->chunk;
    const auto payload = static_cast<uint32_t>(chunk.data->size() - kChunkHeaderSize);
    const uint64_t size = OuterSize(payload);
    if (size > refill->buffer.size) continue;
    refill->bytes += size;
    if (refill->buffer.policy != FillPolicy::kRingBuffer || refill->bytes < refill->buffer.size)
      continue;
    refill->record = number;
    refill->time_ns = op.time_ns;
    --waiting_;
  }
}

void RefillWatch::OnEmptied(BufferId id, const Op& op, uint64_t number) {
  Refill* const refill = Find(id);
  if (refill == nullptr || refill->known()) return;
  refill->was_emptied = true;
  refill->record = number;
  refill->time_ns = op.time_ns;
  --waiting_;
}

}  // namespace ringscope
