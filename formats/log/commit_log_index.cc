#include "formats/log/commit_log_index.h"

#include <xxhash.h>

#include "formats/log/commit_log_format.h"
#include "formats/log/record_fields.h"

namespace ringscope::commit_log {
namespace {

/// Numbers of Index's fields. 4 was a directory of the entries, by which parts of them were read.
enum IndexField : uint32_t { kIndexRecords = 1, kIndexFrame = 2, kIndexSession = 3 };

template <typename T>
void AppendLittleEndian(std::string& out, T value) {
  for (size_t i = 0; i < sizeof(T); ++i) out.push_back(static_cast<char>(value >> (8 * i)));
}

void AppendSkippableHeader(std::string& out, uint32_t magic, size_t content_bytes) {
  AppendLittleEndian(out, magic);
  AppendLittleEndian(out, static_cast<uint32_t>(content_bytes));
}

/// Returns the Index message of an index frame's content, if its checksum is right.
std::optional<Bytes> IndexMessage(Bytes content) {
  if (content.size() < kIndexChecksumSize) return std::nullopt;
  const Bytes message = content.subspan(kIndexChecksumSize);
  if (wire::LoadLittleEndian<uint64_t>(content.data()) != Hash(message)) return std::nullopt;
  return message;
}

}  // namespace

uint64_t Hash(Bytes bytes) { return XXH64(bytes.data(), bytes.size(), /*seed=*/0); }

std::string StartFrame() {
  std::string frame;
  AppendSkippableHeader(frame, kStartFrameMagic, kStartText.size());
  frame += kStartText;
  return frame;
}

std::optional<std::string> EncodeSessions(const std::vector<SessionSummary>& sessions) {
  std::string encoded;
  for (const SessionSummary& session : sessions) {
    MessageEncoder{encoded}(kIndexSession, session);
    if (encoded.size() > kMaxSummaryBytes) return std::nullopt;
  }
  return encoded;
}

void SeekTableBuilder::AddDataFrame(uint64_t frame_bytes, uint64_t content_bytes,
                                    uint32_t checksum) {
  for (const uint64_t value : {frame_bytes, content_bytes, uint64_t{checksum}})
    AppendLittleEndian(entries_, static_cast<uint32_t>(value));
}

void SeekTableBuilder::AddSkippableFrame(uint64_t frame_bytes) {
  AddDataFrame(frame_bytes, 0, static_cast<uint32_t>(Hash({})));
}

std::string SeekTableBuilder::Content() const {
  std::string content = entries_;
  AppendLittleEndian(content, static_cast<uint32_t>(entries_.size() / kSeekTableEntrySize));
  content.push_back(static_cast<char>(kSeekTableDescriptor));
  AppendLittleEndian(content, kSeekTableFooterMagic);
  return content;
}

void IndexBuilder::AddDataFrame(const IndexEntry& entry, uint32_t content_checksum) {
  MessageEncoder{entries_}(kIndexFrame, entry);
  seek_.AddDataFrame(entry.compressed_size, entry.content_size, content_checksum);
}

std::string IndexBuilder::Finish(uint64_t records, const std::vector<SessionSummary>& sessions) {
  std::string message;
  MessageEncoder{message}(kIndexRecords, records);
  message += entries_;
  message += EncodeSessions(sessions).value_or("");
  std::string frames;
  AppendSkippableHeader(frames, kIndexFrameMagic, kIndexChecksumSize + message.size());
  AppendLittleEndian(frames, Hash(wire::AsBytes(message)));
  frames += message;
  AddSkippableFrame(frames.size());

  const std::string seek_table = seek_.Content();
  AppendSkippableHeader(frames, kSeekTableFrameMagic, seek_table.size());
  return frames + seek_table;
}

Result<Index> DecodeIndex(Bytes content) {
  const std::optional<Bytes> message = IndexMessage(content);
  if (!message) return Fail(ErrorCode::kCorrupt, "the index does not match its checksum");
  Index index;
  RS_RETURN_IF_ERROR(DecodeMessage(*message, index));
  return index;
}

Result<std::optional<Index>> ReadIndex(ByteSource& source) {
  const auto read = [&](uint64_t offset, uint64_t size) -> Result<std::string> {
    std::string bytes(static_cast<size_t>(size), '\0');
    RS_ASSIGN_OR_RETURN(
        const size_t got,
        source.ReadAt(offset, {reinterpret_cast<uint8_t*>(bytes.data()), bytes.size()}));
    bytes.resize(got);
    return bytes;
  };
  // The entry of the index frame is the last one of the seek table.
  constexpr size_t kEnd = kSeekTableEntrySize + kSeekTableFooterSize;
  const std::string start = StartFrame();
  const uint64_t file_size = source.CanReadAt() ? source.size().value_or(0) : 0;
  if (file_size < start.size() + kEnd) return std::nullopt;
  RS_ASSIGN_OR_RETURN(const std::string begin, read(0, start.size()));
  RS_ASSIGN_OR_RETURN(const std::string end, read(file_size - kEnd, kEnd));
  if (begin != start || end.size() < kEnd) return std::nullopt;
  const uint8_t* const entry = wire::AsBytes(end).data();
  const uint8_t* const footer = entry + kSeekTableEntrySize;
  const uint64_t entries = wire::LoadLittleEndian<uint32_t>(footer);
  const uint64_t table_size =
      kSkippableHeaderSize + entries * kSeekTableEntrySize + kSeekTableFooterSize;
  const uint64_t index_size = wire::LoadLittleEndian<uint32_t>(entry);
  if (wire::LoadLittleEndian<uint32_t>(footer + 5) != kSeekTableFooterMagic ||
      index_size < kSkippableHeaderSize || index_size > kSkippableHeaderSize + kMaxIndexBytes ||
      start.size() + index_size + table_size > file_size)
    return std::nullopt;
  const uint64_t index_at = file_size - table_size - index_size;
  RS_ASSIGN_OR_RETURN(const std::string frame, read(index_at, index_size));
  const Bytes bytes = wire::AsBytes(frame);
  if (bytes.size() < index_size ||
      wire::LoadLittleEndian<uint32_t>(bytes.data()) != kIndexFrameMagic ||
      wire::LoadLittleEndian<uint32_t>(bytes.data() + 4) != index_size - kSkippableHeaderSize)
    return std::nullopt;
  Result<Index> index = DecodeIndex(bytes.subspan(kSkippableHeaderSize));
  if (!index || index->frames.size() + 2 != entries) return std::nullopt;
  if (index->records > 0 && index->sessions.empty()) return std::nullopt;
  // The frames lead from the file's start to the index: the file is not several ones in a row.
  uint64_t offset = start.size(), records = 0;
  for (const IndexEntry& data : index->frames) {
    if (data.first_record != records || data.compressed_size > index_at - offset)
      return std::nullopt;
    offset += data.compressed_size;
    records += data.records;
  }
  if (offset != index_at || records != index->records) return std::nullopt;
  return *std::move(index);
}

std::optional<uint64_t> IndexRecords(Bytes content) {
  const std::optional<Bytes> message = IndexMessage(content);
  if (!message) return std::nullopt;
  const auto first = wire::FieldReader(*message).Next();  // it, unless it is 0 and left out
  return first && first->number == kIndexRecords ? first->value : 0;
}

bool IsSeekTable(Bytes content) {
  if (content.size() < kSeekTableFooterSize) return false;
  const uint8_t* const footer = content.last(kSeekTableFooterSize).data();
  const uint64_t entries = wire::LoadLittleEndian<uint32_t>(footer);
  return entries * kSeekTableEntrySize + kSeekTableFooterSize == content.size() &&
         footer[4] == kSeekTableDescriptor &&
         wire::LoadLittleEndian<uint32_t>(footer + 5) == kSeekTableFooterMagic;
}

}  // namespace ringscope::commit_log
