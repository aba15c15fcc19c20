#include "formats/log/commit_log_index.h"

#include <xxhash.h>

#include "formats/log/commit_log_format.h"
#include "formats/log/record_fields.h"

namespace ringscope::commit_log {
namespace {

enum IndexField : uint32_t { kIndexRecords = 1, kIndexFrame = 2, kIndexSession = 3 };

template <typename T>
void AppendLittleEndian(std::string& out, T value) {
  for (size_t i = 0; i < sizeof(T); ++i) out.push_back(static_cast<char>(value >> (8 * i)));
}

void AppendSkippableHeader(std::string& out, uint32_t magic, size_t content_bytes) {
  AppendLittleEndian(out, magic);
  AppendLittleEndian(out, static_cast<uint32_t>(content_bytes));
}

void AppendSeekEntry(std::string& out, const SeekEntry& entry) {
  AppendLittleEndian(out, entry.compressed_size);
  AppendLittleEndian(out, entry.content_size);
  AppendLittleEndian(out, entry.content_checksum);
}

/// The Index message, if the checksum before it is right.
std::optional<Bytes> IndexMessage(Bytes content) {
  if (content.size() < kIndexChecksumSize) return std::nullopt;
  const Bytes message = content.subspan(kIndexChecksumSize);
  if (wire::LoadLittleEndian<uint64_t>(content.data()) != Hash(message)) return std::nullopt;
  return message;
}

/// The summaries as fields of Index; nullopt if they are too large.
std::optional<std::string> EncodeSessions(const std::vector<SessionSummary>& sessions) {
  std::string encoded;
  for (const SessionSummary& session : sessions) {
    MessageEncoder{encoded}(kIndexSession, session);
    if (encoded.size() > kMaxSummaryBytes) return std::nullopt;
  }
  return encoded;
}

}  // namespace

uint64_t Hash(Bytes bytes) { return XXH64(bytes.data(), bytes.size(), /*seed=*/0); }

std::string StartFrame() {
  std::string frame;
  AppendSkippableHeader(frame, kStartFrameMagic, kStartText.size());
  frame += kStartText;
  return frame;
}

bool SummariesFit(const std::vector<SessionSummary>& sessions) {
  return EncodeSessions(sessions).has_value();
}

void IndexBuilder::AddSkippableFrame(size_t frame_bytes) {
  AppendSeekEntry(seek_, {.compressed_size = static_cast<uint32_t>(frame_bytes),
                          .content_size = 0,
                          .content_checksum = ContentChecksum({})});
}

void IndexBuilder::AddDataFrame(const IndexEntry& entry, uint32_t content_checksum) {
  MessageEncoder{entries_}(kIndexFrame, entry);
  AppendSeekEntry(seek_, {.compressed_size = static_cast<uint32_t>(entry.compressed_size),
                          .content_size = static_cast<uint32_t>(entry.content_size),
                          .content_checksum = content_checksum});
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

  AppendSkippableHeader(frames, kSeekTableFrameMagic, seek_.size() + kSeekTableFooterSize);
  frames += seek_;
  AppendLittleEndian(frames, static_cast<uint32_t>(seek_.size() / kSeekTableEntrySize));
  frames.push_back(static_cast<char>(kSeekTableDescriptor));
  AppendLittleEndian(frames, kSeekTableFooterMagic);
  return frames;
}

Result<Index> DecodeIndex(Bytes content) {
  const std::optional<Bytes> message = IndexMessage(content);
  if (!message) return Fail(ErrorCode::kCorrupt, "the index does not match its checksum");
  Index index;
  RS_RETURN_IF_ERROR(DecodeMessage(*message, index));
  return index;
}

std::optional<uint64_t> IndexRecords(Bytes content) {
  const std::optional<Bytes> message = IndexMessage(content);
  if (!message) return std::nullopt;
  wire::FieldReader reader(*message);
  const auto first = reader.Next();  // it comes first, unless it is 0 and left out
  return first && first->number == kIndexRecords ? first->value : 0;
}

Result<std::vector<SeekEntry>> DecodeSeekTable(Bytes content) {
  const auto refuse = [](const char* why) { return Fail(ErrorCode::kCorrupt, why); };
  if (content.size() < kSeekTableFooterSize) return refuse("the seek table is too short");
  const Bytes footer = content.last(kSeekTableFooterSize);
  const Bytes table = content.first(content.size() - kSeekTableFooterSize);
  const uint64_t entries = wire::LoadLittleEndian<uint32_t>(footer.data());
  if (wire::LoadLittleEndian<uint32_t>(footer.data() + 5) != kSeekTableFooterMagic) {
    return refuse("the seek table does not end with its magic number");
  }
  if (footer[4] != kSeekTableDescriptor) {
    return refuse("the seek table's descriptor is not 0x80");
  }
  if (entries * kSeekTableEntrySize != table.size()) {
    return refuse("the seek table's number of entries does not match its size");
  }
  std::vector<SeekEntry> decoded(static_cast<size_t>(entries));
  for (size_t i = 0; i < decoded.size(); ++i) {
    const uint8_t* at = table.data() + i * kSeekTableEntrySize;
    decoded[i] = {.compressed_size = wire::LoadLittleEndian<uint32_t>(at),
                  .content_size = wire::LoadLittleEndian<uint32_t>(at + 4),
                  .content_checksum = wire::LoadLittleEndian<uint32_t>(at + 8)};
  }
  return decoded;
}

}  // namespace ringscope::commit_log
