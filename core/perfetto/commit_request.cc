#include "core/perfetto/commit_request.h"

#include "core/perfetto/fields.h"

namespace ringscope {
namespace {

using proto::CommitDataRequest;
using ChunksToMove = proto::CommitDataRequest::ChunksToMove;
using PatchFields = proto::CommitDataRequest::ChunkToPatch;

// As the service does: a number may have any wire type, and malformed bytes end an entry, which
// counts as far as it was read.

void ParseChunkToMove(Bytes message, ChunkToMove& chunk) {
  for (const wire::Field& field : wire::FieldReader(message)) {
    if (field.IsNumber(ChunksToMove::kPage)) chunk.page = field.value;
    if (field.IsNumber(ChunksToMove::kChunk)) chunk.index = field.value;
    if (field.IsNumber(ChunksToMove::kTargetBuffer)) chunk.target_buffer = field.value;
    if (field.IsBytes(ChunksToMove::kData)) chunk.data = field.bytes;
    if (field.IsNumber(ChunksToMove::kChunkIncomplete)) chunk.incomplete = field.value != 0;
  }
}

void ParsePatchSpan(Bytes message, PatchSpan& patch) {
  for (const wire::Field& field : wire::FieldReader(message)) {
    if (field.IsNumber(PatchFields::Patch::kOffset)) patch.offset = field.value;
    if (field.IsBytes(PatchFields::Patch::kData)) patch.data = field.bytes;
  }
}

void ParseChunkToPatch(Bytes message, ChunkToPatch& patch) {
  patch = {.patches = std::move(patch.patches)};
  patch.patches.clear();
  for (const wire::Field& field : wire::FieldReader(message)) {
    if (field.IsNumber(PatchFields::kTargetBuffer)) patch.target_buffer = field.value;
    if (field.IsNumber(PatchFields::kWriterId)) patch.writer = field.value;
    if (field.IsNumber(PatchFields::kChunkId)) patch.chunk = field.value;
    if (field.IsBytes(PatchFields::kPatches))
      ParsePatchSpan(field.bytes, patch.patches.emplace_back());
    if (field.IsNumber(PatchFields::kHasMorePatches)) patch.more = field.value != 0;
  }
}

}  // namespace

std::optional<ChunkHeader> ParseChunkHeader(Bytes data) {
  if (data.size() < kChunkHeaderSize) return std::nullopt;
  const auto packed = wire::LoadLittleEndian<uint16_t>(data.data() + 6);
  return ChunkHeader{
      .chunk = ChunkId{wire::LoadLittleEndian<uint32_t>(data.data())},
      .writer = WriterId{wire::LoadLittleEndian<uint16_t>(data.data() + 4)},
      .fragments = static_cast<uint16_t>(packed & kMaxFragmentCount),
      .flags = static_cast<uint8_t>(packed >> 10),
  };
}

std::optional<ChunkCommit> ToChunkCommit(ProducerId producer, const ChunkToMove& chunk) {
  const std::optional<ChunkHeader> header = chunk.header();
  if (!header || chunk.data->size() > kMaxChunkData) return std::nullopt;
  return ChunkCommit{.sequence = {producer, header->writer},
                     .identity = {},
                     .chunk = header->chunk,
                     .fragments = header->fragments,
                     .flags = header->flags,
                     .complete = !chunk.incomplete,
                     .payload = chunk.data->subspan(kChunkHeaderSize)};
}

ChunkPatches ToChunkPatches(ProducerId producer, const ChunkToPatch& patch,
                            std::vector<Patch>& storage) {
  storage.clear();
  // The service keeps the lower 32 bits of an offset.
  for (const PatchSpan& span : patch.patches)
    if (span.data.size() == kPatchSize)
      storage.push_back({.offset = static_cast<uint32_t>(span.offset), .data = span.data.data()});
  const ChunkName name = patch.NameFor(producer);
  return {.sequence = name.sequence, .chunk = name.chunk, .patches = storage, .more = patch.more};
}

void AppendChunkHeader(std::string& out, const ChunkHeader& header) {
  const auto append = [&out](uint32_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) out.push_back(static_cast<char>(value >> (8 * i)));
  };
  append(Raw(header.chunk), 4);
  append(Raw(header.writer), 2);
  append((header.fragments & uint32_t{kMaxFragmentCount}) | uint32_t{header.flags} << 10, 2);
}

bool CommitRequestParser::Parse(Bytes request) {
  chunks_.clear();
  patch_count_ = 0;
  flush_request_id_.reset();
  wire::FieldReader reader(request);
  while (auto field = reader.Next()) {
    if (field->IsBytes(CommitDataRequest::kChunksToMove)) {
      ParseChunkToMove(field->bytes, chunks_.emplace_back());
    } else if (field->IsBytes(CommitDataRequest::kChunksToPatch)) {
      if (patch_count_ == patches_.size()) patches_.emplace_back();
      ParseChunkToPatch(field->bytes, patches_[patch_count_++]);
    } else if (field->IsNumber(CommitDataRequest::kFlushRequestId)) {
      flush_request_id_ = field->value;
    }
  }
  return reader.ok();
}

void CommitRequestBuilder::AddChunk(const ChunkToMove& chunk) {
  scratch_.clear();
  if (chunk.page) wire::AppendUint(scratch_, ChunksToMove::kPage, *chunk.page);
  if (chunk.index) wire::AppendUint(scratch_, ChunksToMove::kChunk, *chunk.index);
  if (chunk.target_buffer)
    wire::AppendUint(scratch_, ChunksToMove::kTargetBuffer, *chunk.target_buffer);
  if (chunk.data) wire::AppendBytes(scratch_, ChunksToMove::kData, *chunk.data);
  if (chunk.incomplete) wire::AppendUint(scratch_, ChunksToMove::kChunkIncomplete, 1);
  wire::AppendBytes(out_, CommitDataRequest::kChunksToMove, wire::AsBytes(scratch_));
}

void CommitRequestBuilder::AddChunk(BufferId buffer, const ChunkHeader& header, Bytes payload,
                                    bool complete) {
  std::string data;
  AppendChunkHeader(data, header);
  data += wire::AsText(payload);
  AddChunk({.target_buffer = Raw(buffer), .data = wire::AsBytes(data), .incomplete = !complete});
}

void CommitRequestBuilder::AddPatch(const ChunkToPatch& patch) {
  scratch_.clear();
  if (patch.target_buffer)
    wire::AppendUint(scratch_, PatchFields::kTargetBuffer, *patch.target_buffer);
  if (patch.writer) wire::AppendUint(scratch_, PatchFields::kWriterId, *patch.writer);
  if (patch.chunk) wire::AppendUint(scratch_, PatchFields::kChunkId, *patch.chunk);
  for (const PatchSpan& span : patch.patches) {
    std::string entry;
    wire::AppendUint(entry, PatchFields::Patch::kOffset, span.offset);
    wire::AppendBytes(entry, PatchFields::Patch::kData, span.data);
    wire::AppendBytes(scratch_, PatchFields::kPatches, wire::AsBytes(entry));
  }
  if (patch.more) wire::AppendUint(scratch_, PatchFields::kHasMorePatches, 1);
  wire::AppendBytes(out_, CommitDataRequest::kChunksToPatch, wire::AsBytes(scratch_));
}

void CommitRequestBuilder::SetFlushRequestId(uint64_t id) {
  wire::AppendUint(out_, CommitDataRequest::kFlushRequestId, id);
}

}  // namespace ringscope
