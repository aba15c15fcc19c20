#include "formats/inputs/log_scan.h"

#include "formats/log/commit_log_format.h"
#include "formats/log/commit_log_index.h"

namespace ringscope {
namespace {

/// Input bytes between two reports of progress.
constexpr uint64_t kProgressBytes = uint64_t{1} << 20;

/// Whether a seek table's frames lead from the start of its file to the table itself.
bool AddsUp(const ZstdFrame& table, uint64_t file_offset) {
  const auto entries = commit_log::DecodeSeekTable(table.content);
  if (!entries) return false;
  uint64_t end = file_offset;
  for (const commit_log::SeekEntry& entry : *entries) end += entry.compressed_size;
  return end == table.offset;
}

}  // namespace

void FrameCounter::OnDataFrame(const ZstdFrame& frame) {
  ++data_frames_;
  raw_bytes_ += frame.content.size();
  stage_ = Stage::kRecords;
}

void FrameCounter::OnSkippableFrame(const ZstdFrame& frame) {
  switch (frame.magic) {
    case commit_log::kStartFrameMagic:
      if (frame.offset > 0) others_closed_ = others_closed_ && stage_ == Stage::kClosed;
      file_offset_ = frame.offset;
      stage_ = Stage::kRecords;
      break;
    case commit_log::kIndexFrameMagic:
      stage_ = commit_log::IsOwnFrame(frame) ? Stage::kIndex : Stage::kRecords;
      break;
    case commit_log::kSeekTableFrameMagic:
      stage_ =
          stage_ == Stage::kIndex && AddsUp(frame, file_offset_) ? Stage::kClosed : Stage::kRecords;
      break;
    default:
      break;
  }
}

void FrameCounter::OnRecord(const Op* op, Bytes) {
  if (op == nullptr) ++unknown_records_;
}

void FrameCounter::Fill(LogInfo& info) const {
  info.data_frames = data_frames_;
  info.raw_bytes = raw_bytes_;
  info.unknown_records = unknown_records_;
  info.cleanly_closed =
      info.format == LogFormat::kCommitLog && others_closed_ && stage_ == Stage::kClosed;
}

Status ScanLog(LogSource& log, const ProgressFn& progress,
               const std::function<Status(const Op&)>& each) {
  uint64_t reported = 0;
  for (;;) {
    RS_ASSIGN_OR_RETURN(const std::optional<Op> op, log.Next());
    if (progress && (!op || log.position() - reported >= kProgressBytes)) {
      reported = log.position();
      progress(reported, log.size().value_or(0));
    }
    if (!op) return {};
    RS_RETURN_IF_ERROR(each(*op));
  }
}

LogInfo InfoOf(const LogSource& log, const FrameCounter& frames) {
  LogInfo info;
  info.format = log.format();
  info.file_bytes = log.size().value_or(log.position());
  info.damage = log.damage();
  info.damage_count = log.damage_count();
  info.closed = log.closed();
  frames.Fill(info);
  return info;
}

}  // namespace ringscope
