#include "commands/record/commit_reader.h"

#include <fmt/format.h>

#include "core/perfetto/fields.h"

namespace ringscope {
namespace {

tl::unexpected<Error> Malformed() {
  return Fail(ErrorCode::kCorrupt, "sent a commit that is not well-formed protobuf");
}

bool IsWellFormed(Bytes message) {
  wire::FieldReader reader(message);
  while (reader.Next()) continue;
  return reader.ok();
}

/// Bytes of a length-delimited field that holds so many.
size_t FieldBytes(uint32_t number, size_t content) {
  return wire::VarintSize(uint64_t{number} << 3) + wire::VarintSize(content) + content;
}

}  // namespace

Status CommitReader::Read(Bytes request, ProducerMemory* memory) {
  for_log_.clear();
  flush_.reset();
  from_memory_ = false;
  chunks_ = chunk_bytes_ = 0;
  wire::FieldReader reader(request);
  while (const auto field = reader.Next()) {
    if (field->IsBytes(proto::CommitDataRequest::kChunksToMove)) {
      RS_RETURN_IF_ERROR(ReadChunk(*field, memory));
    } else if (field->IsVarint(proto::CommitDataRequest::kFlushRequestId)) {
      flush_ = field->value;
    } else {
      if (field->IsBytes(proto::CommitDataRequest::kChunksToPatch) && !IsWellFormed(field->bytes))
        return Malformed();
      for_log_ += wire::AsText(field->whole);
    }
  }
  if (!reader.ok()) return Malformed();
  return {};
}

Status CommitReader::ReadChunk(const wire::Field& field, ProducerMemory* memory) {
  smb::ChunkPlace place;
  std::optional<size_t> data;
  wire::FieldReader reader(field.bytes);
  while (const auto part = reader.Next()) {
    if (part->IsVarint(proto::ChunksToMove::kPage)) place.page = part->value;
    if (part->IsVarint(proto::ChunksToMove::kChunk)) place.chunk = part->value;
    if (!part->IsBytes(proto::ChunksToMove::kData)) continue;
    data = part->bytes.size();
    // Some of these sizes would abort the service: none is passed on.
    if (*data < kChunkHeaderSize || *data > kMaxChunkData) {
      return Fail(ErrorCode::kCorrupt,
                  fmt::format("sent a chunk of {} bytes, {} to {} are possible", *data,
                              kChunkHeaderSize, kMaxChunkData));
    }
  }
  if (!reader.ok()) return Malformed();

  if (data) {
    ++chunks_;
    chunk_bytes_ += *data;
  } else if (memory != nullptr && TakeChunk(field, place, *memory)) {
    return {};
  }
  for_log_ += wire::AsText(field.whole);
  return {};
}

bool CommitReader::TakeChunk(const wire::Field& field, smb::ChunkPlace place,
                             ProducerMemory& memory) {
  const size_t bytes = memory.BytesOfComplete(place);
  if (bytes == 0) return false;
  // The chunk is copied directly to its place, after the bytes of the field.
  const size_t before = for_log_.size();
  wire::AppendTag(for_log_, proto::CommitDataRequest::kChunksToMove, wire::Type::kBytes);
  wire::AppendVarint(for_log_, field.bytes.size() + FieldBytes(proto::ChunksToMove::kData, bytes));
  for_log_ += wire::AsText(field.bytes);
  wire::AppendTag(for_log_, proto::ChunksToMove::kData, wire::Type::kBytes);
  wire::AppendVarint(for_log_, bytes);
  const size_t start = for_log_.size();
  // The page's layout changes between two reads only if the producer violates the protocol.
  if (!memory.TakeCommitted(place, for_log_) || for_log_.size() - start != bytes) {
    for_log_.resize(before);
    return false;
  }
  from_memory_ = true;
  ++chunks_;
  chunk_bytes_ += bytes;
  return true;
}

std::string CommitReader::WithoutFlush(Bytes request) {
  std::string rest;
  wire::FieldReader reader(request);
  while (const auto field = reader.Next())
    if (!field->IsVarint(proto::CommitDataRequest::kFlushRequestId))
      rest += wire::AsText(field->whole);
  return rest;
}

}  // namespace ringscope
