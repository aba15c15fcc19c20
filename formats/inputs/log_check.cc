#include "formats/inputs/log_check.h"

#include <utility>

#include "core/base/wire.h"
#include "formats/inputs/log_scan.h"
#include "formats/inputs/open_log.h"
#include "formats/log/commit_log_format.h"
#include "formats/log/commit_log_index.h"

namespace ringscope {
namespace {

using commit_log::Index;
using commit_log::SeekEntry;

/// A part of a file; shorter if the file ends before.
Result<std::string> ReadPiece(ByteSource& source, uint64_t offset, uint64_t size) {
  std::string bytes(static_cast<size_t>(size), '\0');
  RS_ASSIGN_OR_RETURN(
      const size_t got,
      source.ReadAt(offset, {reinterpret_cast<uint8_t*>(bytes.data()), bytes.size()}));
  bytes.resize(got);
  return bytes;
}

/// The content of the skippable frame that is exactly this part of the file; nullopt: it is not.
Result<std::optional<std::string>> ReadSkippable(ByteSource& source, uint32_t magic,
                                                 uint64_t offset, uint64_t size) {
  if (size < commit_log::kSkippableHeaderSize || size > commit_log::kMaxIndexBytes) {
    return std::nullopt;
  }
  RS_ASSIGN_OR_RETURN(std::string frame, ReadPiece(source, offset, size));
  const auto* header = reinterpret_cast<const uint8_t*>(frame.data());
  if (frame.size() != size || wire::LoadLittleEndian<uint32_t>(header) != magic ||
      wire::LoadLittleEndian<uint32_t>(header + 4) != size - commit_log::kSkippableHeaderSize) {
    return std::nullopt;
  }
  frame.erase(0, commit_log::kSkippableHeaderSize);
  return frame;
}

/// The seek table at the file's end, if its sizes and its own add up to the file's. (After two logs
/// were concatenated the last table covers only the second.)
Result<std::optional<std::vector<SeekEntry>>> ReadSeekTable(ByteSource& source, uint64_t size) {
  if (size < commit_log::kStartFrameSize + commit_log::kSeekTableFooterSize) return std::nullopt;
  RS_ASSIGN_OR_RETURN(
      const std::string footer,
      ReadPiece(source, size - commit_log::kSeekTableFooterSize, commit_log::kSeekTableFooterSize));
  if (footer.size() < commit_log::kSeekTableFooterSize) return std::nullopt;
  const uint64_t entries =
      wire::LoadLittleEndian<uint32_t>(reinterpret_cast<const uint8_t*>(footer.data()));
  const uint64_t frame_size = commit_log::kSkippableHeaderSize +
                              entries * commit_log::kSeekTableEntrySize +
                              commit_log::kSeekTableFooterSize;
  if (frame_size > size) return std::nullopt;
  RS_ASSIGN_OR_RETURN(const auto content, ReadSkippable(source, commit_log::kSeekTableFrameMagic,
                                                        size - frame_size, frame_size));
  if (!content) return std::nullopt;
  auto table = commit_log::DecodeSeekTable(wire::AsBytes(*content));
  if (!table) return std::nullopt;
  uint64_t sum = frame_size;
  for (const SeekEntry& entry : *table) sum += entry.compressed_size;
  if (sum != size) return std::nullopt;
  return std::move(*table);
}

/// Whether index and seek table speak of the same frames: start, data frames, index.
bool Agree(const Index& index, const std::vector<SeekEntry>& table) {
  if (table.size() != index.frames.size() + 2) return false;
  uint64_t records = 0;
  for (size_t i = 0; i < index.frames.size(); ++i) {
    const commit_log::IndexEntry& frame = index.frames[i];
    if (frame.compressed_size != table[i + 1].compressed_size ||
        frame.content_size != table[i + 1].content_size || frame.first_record != records) {
      return false;
    }
    records += frame.records;
  }
  return records == index.records && (records == 0 || !index.sessions.empty());
}

/// Whether the session has records that a summary keeps as its life.
bool HasLife(const SessionSummary& session) {
  uint64_t others = 0;
  for (const size_t kind : {OpKindOf<LogHeader>(), OpKindOf<Commit>(), OpKindOf<ReadPass>(),
                            OpKindOf<ClockSnapshotRecord>(), OpKindOf<Note>()})
    others += session.counts[kind];
  return session.records > others;
}

}  // namespace

Result<std::optional<Index>> ReadLogIndex(ByteSource& source) {
  const std::optional<uint64_t> size = source.size();
  if (!size || !source.CanReadAt()) return std::nullopt;
  const std::string expected = commit_log::StartFrame();
  RS_ASSIGN_OR_RETURN(const std::string start, ReadPiece(source, 0, expected.size()));
  if (start != expected) return std::nullopt;
  RS_ASSIGN_OR_RETURN(const auto table, ReadSeekTable(source, *size));
  if (!table || table->size() < 2) return std::nullopt;

  const uint64_t table_size = commit_log::kSkippableHeaderSize +
                              table->size() * commit_log::kSeekTableEntrySize +
                              commit_log::kSeekTableFooterSize;
  const uint64_t index_size = table->back().compressed_size;
  RS_ASSIGN_OR_RETURN(const auto content,
                      ReadSkippable(source, commit_log::kIndexFrameMagic,
                                    *size - table_size - index_size, index_size));
  if (!content) return std::nullopt;
  Result<Index> index = commit_log::DecodeIndex(wire::AsBytes(*content));
  if (!index || !Agree(*index, *table)) return std::nullopt;
  return std::move(*index);
}

Result<std::optional<LogInfo>> ReadIndexedInfo(ByteSource& source) {
  RS_ASSIGN_OR_RETURN(std::optional<Index> index, ReadLogIndex(source));
  if (!index) return std::nullopt;
  for (const SessionSummary& session : index->sessions)
    if (!session.has_life && HasLife(session)) return std::nullopt;

  LogInfo info;
  info.format = LogFormat::kCommitLog;
  info.sessions = std::move(index->sessions);
  info.file_bytes = *source.size();
  for (const commit_log::IndexEntry& frame : index->frames) info.raw_bytes += frame.content_size;
  info.data_frames = index->frames.size();
  info.from_index = true;
  info.closed = true;
  info.cleanly_closed = true;
  return info;
}

Result<LogInfo> ReadLogInfo(std::unique_ptr<ByteSource> source, const ProgressFn& progress) {
  RS_ASSIGN_OR_RETURN(std::optional<LogInfo> indexed, ReadIndexedInfo(*source));
  if (indexed) return std::move(*indexed);

  FrameCounter frames;
  RS_ASSIGN_OR_RETURN(std::unique_ptr<LogSource> log, OpenLog(std::move(source), &frames));
  LogSummaryBuilder summaries;
  RS_RETURN_IF_ERROR(ScanLog(*log, progress, [&](const Op& op) -> Status {
    summaries.Add(op, log->record_number());
    return {};
  }));
  LogInfo info = InfoOf(*log, frames);
  info.sessions = summaries.Sessions();
  return info;
}

}  // namespace ringscope
