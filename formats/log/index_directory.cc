#include "formats/log/index_directory.h"

#include <algorithm>

#include "core/base/wire.h"
#include "formats/log/commit_log_format.h"

namespace ringscope::commit_log {
namespace {

/// Adds a frame to a block.
void AddFrame(const IndexEntry& frame, IndexBlock& block) {
  IndexEntry& sum = block.sum;
  if (block.frames++ == 0) sum.first_record = frame.first_record;
  sum.compressed_size += frame.compressed_size;
  sum.content_size += frame.content_size;
  sum.records += frame.records;
  if (frame.first_time_ns) {
    sum.first_time_ns = std::min(sum.first_time_ns.value_or(UINT64_MAX), *frame.first_time_ns);
  }
  if (frame.last_time_ns) {
    sum.last_time_ns = std::max(sum.last_time_ns.value_or(0), *frame.last_time_ns);
  }
}

/// Whether the blocks lead from the file's start to the index, without a gap, and are all full but
/// the last.
bool AddsUp(const IndexDirectory& directory) {
  uint64_t offset = kStartFrameSize, records = 0;
  for (const IndexBlock& block : directory.blocks) {
    const bool is_last = &block == &directory.blocks.back();
    if (block.frames == 0 || block.frames > kFramesPerBlock ||
        (block.frames < kFramesPerBlock && !is_last) || block.sum.first_record != records ||
        offset > directory.index_offset ||
        block.sum.compressed_size > directory.index_offset - offset) {
      return false;
    }
    offset += block.sum.compressed_size;
    records += block.sum.records;
  }
  return offset == directory.index_offset && records == directory.records;
}

}  // namespace

std::optional<IndexFields> SplitIndex(Bytes message) {
  IndexFields index;
  std::array<size_t, 6> begins;  // of the fields with a number, and of those with a higher one
  begins.fill(message.size());
  begins[0] = 0;
  wire::FieldReader reader(message);
  uint32_t last = 0;
  while (const auto field = reader.Next()) {
    const uint32_t number = std::min<uint32_t>(field->number, begins.size() - 1);
    if (number < last) return std::nullopt;
    const auto at = static_cast<size_t>(field->whole.data() - message.data());
    for (; last < number; ++last) begins[last + 1] = at;
    if (number == kIndexRecords) index.records = field->value;
    if (number == kIndexDirectory) index.directory = field->bytes;
  }
  if (!reader.ok()) return std::nullopt;
  index.entries_offset = begins[kIndexFrame];
  index.entries = message.subspan(begins[kIndexFrame], begins[kIndexSession] - begins[kIndexFrame]);
  index.sessions =
      message.subspan(begins[kIndexSession], begins[kIndexDirectory] - begins[kIndexSession]);
  return index;
}

std::optional<IndexDirectory> MakeDirectory(const IndexFields& index, uint64_t index_offset) {
  IndexDirectory directory{.index_offset = index_offset,
                           .records = index.records,
                           .entries_offset = index.entries_offset,
                           .blocks = {},
                           .sessions_size = index.sessions.size(),
                           .sessions_hash = Hash(index.sessions)};
  wire::FieldReader reader(index.entries);
  const uint8_t* block_begin = index.entries.data();
  const auto end_block = [&](const uint8_t* end) {
    IndexBlock& block = directory.blocks.back();
    block.entries_size = static_cast<uint64_t>(end - block_begin);
    block.sum.frame_hash = Hash({block_begin, end});
    block_begin = end;
  };
  uint64_t records = 0;
  while (const auto field = reader.Next()) {
    IndexEntry entry;
    if (!DecodeMessage(field->bytes, entry) || entry.first_record != records) return std::nullopt;
    records += entry.records;
    if (directory.blocks.empty() || directory.blocks.back().frames == kFramesPerBlock) {
      if (!directory.blocks.empty()) end_block(field->whole.data());
      directory.blocks.emplace_back();
    }
    AddFrame(entry, directory.blocks.back());
  }
  if (!directory.blocks.empty()) end_block(index.entries.data() + index.entries.size());
  if (!reader.ok() || !AddsUp(directory)) return std::nullopt;
  return directory;
}

std::string EncodeDirectory(const IndexDirectory& directory) {
  std::string content;
  EncodeMessage(directory, content);
  const uint64_t hash = Hash(wire::AsBytes(content));
  const auto size = static_cast<uint32_t>(content.size());
  AppendLittleEndian(content, hash);
  AppendLittleEndian(content, size);
  AppendLittleEndian(content, kDirectoryMagic);
  std::string field;
  wire::AppendBytes(field, kIndexDirectory, wire::AsBytes(content));
  return field;
}

std::optional<size_t> DirectorySize(Bytes footer) {
  if (footer.size() != kDirectoryFooterSize ||
      wire::LoadLittleEndian<uint32_t>(footer.data() + 12) != kDirectoryMagic) {
    return std::nullopt;
  }
  return wire::LoadLittleEndian<uint32_t>(footer.data() + 8);
}

std::optional<IndexDirectory> DecodeDirectory(Bytes content) {
  if (content.size() < kDirectoryFooterSize) return std::nullopt;
  const Bytes footer = content.last(kDirectoryFooterSize);
  const Bytes message = content.first(content.size() - kDirectoryFooterSize);
  if (DirectorySize(footer) != message.size() ||
      wire::LoadLittleEndian<uint64_t>(footer.data()) != Hash(message)) {
    return std::nullopt;
  }
  IndexDirectory directory;
  if (!DecodeMessage(message, directory) || !AddsUp(directory)) return std::nullopt;
  return directory;
}

}  // namespace ringscope::commit_log
