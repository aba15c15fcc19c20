#include "formats/inputs/log_check.h"

#include <utility>

#include "formats/inputs/log_scan.h"
#include "formats/inputs/open_log.h"
#include "formats/log/log_index.h"

namespace ringscope {
namespace {

/// Whether the session has records that a summary keeps as its life.
bool HasLife(const SessionSummary& session) {
  uint64_t others = 0;
  for (const size_t kind : {OpKindOf<LogHeader>(), OpKindOf<Commit>(), OpKindOf<ReadPass>(),
                            OpKindOf<ClockSnapshotRecord>(), OpKindOf<Note>()})
    others += session.counts[kind];
  return session.records > others;
}

}  // namespace

Result<std::optional<LogInfo>> ReadIndexedInfo(ByteSource& source) {
  RS_ASSIGN_OR_RETURN(std::optional<commit_log::Index> index, ReadIndex(source));
  if (!index) return std::nullopt;
  LogInfo info;
  info.sessions = std::move(index->sessions);
  for (const SessionSummary& session : info.sessions)
    if (!session.has_life && HasLife(session)) return std::nullopt;

  info.format = LogFormat::kCommitLog;
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
