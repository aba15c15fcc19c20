#include "formats/log/log_index.h"

#include <algorithm>
#include <utility>

#include "core/base/wire.h"
#include "formats/log/commit_log_format.h"
#include "formats/log/record_fields.h"

namespace ringscope {
namespace {

using commit_log::IndexDirectory;
using commit_log::IndexEntry;
using commit_log::kFramesPerBlock;
using commit_log::kSkippableHeaderSize;

/// A part of a file; shorter if the file ends before.
Result<std::string> ReadPiece(ByteSource& source, uint64_t offset, uint64_t size) {
  std::string bytes(static_cast<size_t>(size), '\0');
  RS_ASSIGN_OR_RETURN(
      const size_t got,
      source.ReadAt(offset, {reinterpret_cast<uint8_t*>(bytes.data()), bytes.size()}));
  bytes.resize(got);
  return bytes;
}

/// Whether a skippable frame of that size begins at the place.
Result<bool> HasSkippable(ByteSource& source, uint32_t magic, uint64_t offset, uint64_t size) {
  if (size < kSkippableHeaderSize || size > UINT32_MAX) return false;
  RS_ASSIGN_OR_RETURN(const std::string header, ReadPiece(source, offset, kSkippableHeaderSize));
  if (header.size() < kSkippableHeaderSize) return false;
  const uint8_t* const at = wire::AsBytes(header).data();
  return wire::LoadLittleEndian<uint32_t>(at) == magic &&
         wire::LoadLittleEndian<uint32_t>(at + 4) == size - kSkippableHeaderSize;
}

/// Where the index frame of a log of one file is, by the end of its seek table.
struct Place {
  uint64_t offset = 0;
  uint64_t size = 0;
  uint64_t data_frames = 0;
};
Result<std::optional<Place>> FindIndex(ByteSource& source, uint64_t file_size) {
  const std::string expected = commit_log::StartFrame();
  RS_ASSIGN_OR_RETURN(const std::string start, ReadPiece(source, 0, expected.size()));
  if (start != expected) return std::nullopt;
  // The entry of the index frame is the last one.
  constexpr size_t kEnd = commit_log::kSeekTableEntrySize + commit_log::kSeekTableFooterSize;
  if (file_size < expected.size() + kEnd) return std::nullopt;
  RS_ASSIGN_OR_RETURN(const std::string end, ReadPiece(source, file_size - kEnd, kEnd));
  if (end.size() < kEnd) return std::nullopt;
  const uint8_t* const last_entry = wire::AsBytes(end).data();
  const uint8_t* const footer = last_entry + commit_log::kSeekTableEntrySize;
  const uint64_t entries = wire::LoadLittleEndian<uint32_t>(footer);
  if (footer[4] != commit_log::kSeekTableDescriptor || entries < 2 ||
      wire::LoadLittleEndian<uint32_t>(footer + 5) != commit_log::kSeekTableFooterMagic) {
    return std::nullopt;
  }
  const uint64_t table_size = kSkippableHeaderSize + entries * commit_log::kSeekTableEntrySize +
                              commit_log::kSeekTableFooterSize;
  const uint64_t index_size = wire::LoadLittleEndian<uint32_t>(last_entry);
  if (table_size + index_size + expected.size() > file_size ||
      index_size > kSkippableHeaderSize + commit_log::kMaxIndexBytes) {
    return std::nullopt;
  }
  const Place index{file_size - table_size - index_size, index_size, entries - 2};
  RS_ASSIGN_OR_RETURN(const bool has_table, HasSkippable(source, commit_log::kSeekTableFrameMagic,
                                                         file_size - table_size, table_size));
  RS_ASSIGN_OR_RETURN(const bool has_index,
                      HasSkippable(source, commit_log::kIndexFrameMagic, index.offset, index.size));
  if (!has_table || !has_index) return std::nullopt;
  return index;
}

/// The directory that an index frame ends with.
Result<std::optional<IndexDirectory>> ReadDirectory(ByteSource& source, const Place& index) {
  constexpr size_t kFooter = commit_log::kDirectoryFooterSize;
  if (index.data_frames <= kFramesPerBlock || index.size < kFooter) return std::nullopt;
  const uint64_t end = index.offset + index.size;
  RS_ASSIGN_OR_RETURN(const std::string footer, ReadPiece(source, end - kFooter, kFooter));
  const std::optional<size_t> size = commit_log::DirectorySize(wire::AsBytes(footer));
  if (!size || *size > index.size - kFooter) return std::nullopt;
  RS_ASSIGN_OR_RETURN(const std::string content,
                      ReadPiece(source, end - kFooter - *size, *size + kFooter));
  return commit_log::DecodeDirectory(wire::AsBytes(content));
}

}  // namespace

LogIndex::LogIndex(ByteSource& source, IndexDirectory directory, uint64_t message_offset,
                   std::string message)
    : source_(&source),
      directory_(std::move(directory)),
      message_offset_(message_offset),
      message_(std::move(message)) {
  for (const commit_log::IndexBlock& block : directory_.blocks) {
    frames_ += block.frames;
    content_size_ += block.sum.content_size;
  }
}

Result<std::optional<LogIndex>> LogIndex::Open(ByteSource& source) {
  const std::optional<uint64_t> size = source.size();
  if (!size || !source.CanReadAt()) return std::nullopt;
  RS_ASSIGN_OR_RETURN(const std::optional<Place> index, FindIndex(source, *size));
  if (!index) return std::nullopt;

  std::string message;
  RS_ASSIGN_OR_RETURN(std::optional<IndexDirectory> directory, ReadDirectory(source, *index));
  const uint64_t message_offset =
      index->offset + kSkippableHeaderSize + commit_log::kIndexChecksumSize;
  if (!directory) {
    RS_ASSIGN_OR_RETURN(message, ReadPiece(source, index->offset + kSkippableHeaderSize,
                                           index->size - kSkippableHeaderSize));
    if (!commit_log::IndexMessage(wire::AsBytes(message))) return std::nullopt;
    message.erase(0, commit_log::kIndexChecksumSize);
    const auto fields = commit_log::SplitIndex(wire::AsBytes(message));
    if (fields) directory = commit_log::MakeDirectory(*fields, index->offset);
    if (!directory) return std::nullopt;
  }
  if (directory->index_offset != index->offset) return std::nullopt;
  if (directory->records > 0 && directory->sessions_size == 0) return std::nullopt;
  LogIndex opened(source, *std::move(directory), message_offset, std::move(message));
  if (opened.frames() != index->data_frames) return std::nullopt;
  return opened;
}

Result<std::string> LogIndex::ReadPart(uint64_t offset, uint64_t size, uint64_t hash) {
  std::string part;
  if (size > commit_log::kMaxIndexBytes || offset > commit_log::kMaxIndexBytes) {
    return Fail(ErrorCode::kCorrupt, "the index's directory does not match it");
  }
  if (message_.empty()) {
    RS_ASSIGN_OR_RETURN(part, ReadPiece(*source_, message_offset_ + offset, size));
  } else {
    part = message_.substr(static_cast<size_t>(offset), static_cast<size_t>(size));
  }
  if (part.size() != size || commit_log::Hash(wire::AsBytes(part)) != hash) {
    return Fail(ErrorCode::kCorrupt, "a part of the index does not match its checksum");
  }
  return part;
}

Result<std::vector<SessionSummary>> LogIndex::Sessions() {
  uint64_t offset = directory_.entries_offset;
  for (const commit_log::IndexBlock& block : directory_.blocks) offset += block.entries_size;
  RS_ASSIGN_OR_RETURN(const std::string part,
                      ReadPart(offset, directory_.sessions_size, directory_.sessions_hash));
  commit_log::Index index;
  RS_RETURN_IF_ERROR(DecodeMessage(wire::AsBytes(part), index));
  return std::move(index.sessions);
}

Status LogIndex::Load(size_t block) {
  if (std::exchange(loaded_, block) == block) return {};
  loaded_ = kNone;
  uint64_t entries_offset = directory_.entries_offset, frame_offset = commit_log::kStartFrameSize;
  for (size_t i = 0; i < block; ++i) {
    entries_offset += directory_.blocks[i].entries_size;
    frame_offset += directory_.blocks[i].sum.compressed_size;
  }
  const commit_log::IndexBlock& wanted = directory_.blocks[block];
  RS_ASSIGN_OR_RETURN(const std::string part,
                      ReadPart(entries_offset, wanted.entries_size, wanted.sum.frame_hash));
  commit_log::Index index;
  RS_RETURN_IF_ERROR(DecodeMessage(wire::AsBytes(part), index));
  if (index.frames.size() != wanted.frames) {
    return Fail(ErrorCode::kCorrupt, "the index's directory does not match it");
  }
  block_.clear();
  for (const IndexEntry& entry : index.frames) {
    block_.push_back({entry, frame_offset});
    frame_offset += entry.compressed_size;
  }
  loaded_ = block;
  return {};
}

Result<LogIndex::Frame> LogIndex::At(uint64_t number) {
  RS_RETURN_IF_ERROR(Load(static_cast<size_t>(number / kFramesPerBlock)));
  return block_[static_cast<size_t>(number % kFramesPerBlock)];
}

Result<uint64_t> LogIndex::FindFirst(uint64_t first, const Predicate& is_wanted) {
  for (uint64_t at = first; at < frames_;) {
    const auto block = static_cast<size_t>(at / kFramesPerBlock);
    const uint64_t end = std::min<uint64_t>(frames_, (block + 1) * kFramesPerBlock);
    if (is_wanted(directory_.blocks[block].sum)) {
      RS_RETURN_IF_ERROR(Load(block));
      for (; at < end; ++at)
        if (is_wanted(block_[static_cast<size_t>(at % kFramesPerBlock)].entry)) return at;
    }
    at = end;
  }
  return frames_;
}

Result<std::optional<uint64_t>> LogIndex::FindLast(uint64_t end, const Predicate& is_wanted) {
  while (end > 0) {
    const auto block = static_cast<size_t>((end - 1) / kFramesPerBlock);
    const uint64_t begin = block * kFramesPerBlock;
    if (is_wanted(directory_.blocks[block].sum)) {
      RS_RETURN_IF_ERROR(Load(block));
      for (; end > begin; --end)
        if (is_wanted(block_[static_cast<size_t>((end - 1) % kFramesPerBlock)].entry))
          return std::optional(end - 1);
    }
    end = begin;
  }
  return std::optional<uint64_t>();
}

}  // namespace ringscope
