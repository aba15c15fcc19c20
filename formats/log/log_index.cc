#include "formats/log/log_index.h"

#include <string>
#include <utility>

#include "core/base/wire.h"
#include "formats/log/commit_log_format.h"
#include "formats/log/record_fields.h"

namespace ringscope {
namespace {

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

}  // namespace

Result<std::optional<commit_log::Index>> ReadIndex(ByteSource& source) {
  const std::optional<uint64_t> size = source.size();
  if (!size || !source.CanReadAt()) return std::nullopt;
  RS_ASSIGN_OR_RETURN(const std::optional<Place> place, FindIndex(source, *size));
  if (!place) return std::nullopt;
  RS_ASSIGN_OR_RETURN(
      const std::string content,
      ReadPiece(source, place->offset + kSkippableHeaderSize, place->size - kSkippableHeaderSize));
  Result<commit_log::Index> index = commit_log::DecodeIndex(wire::AsBytes(content));
  if (!index || index->frames.size() != place->data_frames) return std::nullopt;
  if (index->records > 0 && index->sessions.empty()) return std::nullopt;
  // The frames lead from the file's start to the index: the file is not several ones in a row.
  uint64_t offset = commit_log::kStartFrameSize, records = 0;
  for (const commit_log::IndexEntry& frame : index->frames) {
    if (frame.first_record != records || frame.compressed_size > place->offset - offset)
      return std::nullopt;
    offset += frame.compressed_size;
    records += frame.records;
  }
  if (offset != place->offset || records != index->records) return std::nullopt;
  return *std::move(index);
}

}  // namespace ringscope
