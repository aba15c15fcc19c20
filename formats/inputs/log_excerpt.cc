#include "formats/inputs/log_excerpt.h"

#include <algorithm>
#include <utility>

#include "core/log/life_event.h"
#include "formats/log/commit_log_reader.h"
#include "formats/log/log_index.h"

namespace ringscope {
namespace {

using commit_log::IndexEntry;

/// Frames, by their numbers.
struct FrameRange {
  uint64_t first = 0;
  uint64_t end = 0;
};

bool HasTime(const IndexEntry& frame) { return frame.first_time_ns.has_value(); }

/// The frames that can have records that are wanted. Times need not ascend; a record without one
/// has that of the record before it.
/// @param head the first frame
Result<FrameRange> FindFrames(LogIndex& index, const IndexEntry& head,
                              const WantedRecords& wanted) {
  FrameRange found{0, index.frames()};
  if (wanted.records) {
    const RecordRange& records = *wanted.records;
    RS_ASSIGN_OR_RETURN(found.first, index.FindFirst(0, [&](const IndexEntry& frame) {
      return frame.first_record + frame.records > records.first;
    }));
    RS_ASSIGN_OR_RETURN(const auto last, index.FindLast(found.end, [&](const IndexEntry& frame) {
      return frame.first_record <= records.last;
    }));
    found.end = last ? *last + 1 : 0;
  }
  // The session starts with the first record that has a time, which is in the first frame.
  if (wanted.from) {
    const uint64_t from = wanted.from->Absolute(*head.first_time_ns);
    RS_ASSIGN_OR_RETURN(const uint64_t first,
                        index.FindFirst(found.first, [&](const IndexEntry& frame) {
                          return frame.last_time_ns && *frame.last_time_ns >= from;
                        }));
    found.first = std::max(found.first, std::min(first, found.end));
  }
  // A record without a time has that of the last record before it that has one.
  if (wanted.from || wanted.to) {
    RS_ASSIGN_OR_RETURN(const auto before, index.FindLast(found.first, HasTime));
    found.first = before.value_or(0);
  }
  if (wanted.to) {
    const uint64_t to = wanted.to->Absolute(*head.last_time_ns);
    RS_ASSIGN_OR_RETURN(const auto last, index.FindLast(found.end, [&](const IndexEntry& frame) {
      return HasTime(frame) && *frame.first_time_ns <= to;
    }));
    // Records without a time may follow it, up to the first of the next frame that have one.
    const uint64_t after = std::max(found.first, last ? *last + 1 : 0);
    RS_ASSIGN_OR_RETURN(const uint64_t next, index.FindFirst(after, HasTime));
    found.end = std::min(found.end, next + 1);
  }
  return found;
}

/// The producers that connect in the records [first, end).
std::vector<ProducerConnected> ProducersIn(const SessionSummary& session, uint64_t first,
                                           uint64_t end) {
  std::vector<ProducerConnected> found;
  auto producer = session.producers.begin();
  for (const LifeEvent& event : session.life) {
    if (!event.Is<ProducerConnected>()) continue;
    if (producer == session.producers.end()) break;
    if (event.record >= first && event.record < end) found.push_back(*producer);
    ++producer;
  }
  return found;
}

/// Where the records that are wanted are.
/// @return nullopt: the index does not show it
Result<std::optional<CommitLogExcerpt>> FindExcerpt(LogIndex& index, const WantedRecords& wanted) {
  RS_ASSIGN_OR_RETURN(const LogIndex::Frame head, index.At(0));
  // A time since the start needs the first record that has one: it is read, too.
  if (!HasTime(head.entry)) return std::nullopt;
  RS_ASSIGN_OR_RETURN(const FrameRange frames, FindFrames(index, head.entry, wanted));
  CommitLogExcerpt excerpt;
  excerpt.head_end = head.offset + head.entry.compressed_size;
  excerpt.begin = excerpt.end = excerpt.head_end;
  excerpt.first_record = head.entry.records;
  const uint64_t first = std::max<uint64_t>(frames.first, 1);
  if (first < frames.end) {
    RS_ASSIGN_OR_RETURN(const LogIndex::Frame begin, index.At(first));
    RS_ASSIGN_OR_RETURN(const LogIndex::Frame last, index.At(frames.end - 1));
    excerpt.begin = begin.offset;
    excerpt.first_record = begin.entry.first_record;
    excerpt.end = last.offset + last.entry.compressed_size;
  }
  return excerpt;
}

}  // namespace

Result<std::optional<LogExcerpt>> OpenLogExcerpt(std::unique_ptr<ByteSource>& source,
                                                 const WantedRecords& wanted) {
  if (!wanted.records && !wanted.from && !wanted.to) return std::nullopt;
  RS_ASSIGN_OR_RETURN(std::optional<LogIndex> index, LogIndex::Open(*source));
  if (!index || index->frames() == 0) return std::nullopt;
  const auto find = [&]() -> Result<std::optional<LogExcerpt>> {
    RS_ASSIGN_OR_RETURN(const std::vector<SessionSummary> sessions, index->Sessions());
    if (sessions.size() != 1 || !sessions[0].has_life || sessions[0].truncated) return std::nullopt;
    RS_ASSIGN_OR_RETURN(const auto excerpt, FindExcerpt(*index, wanted));
    if (!excerpt) return std::nullopt;
    LogExcerpt found;
    RS_ASSIGN_OR_RETURN(const LogIndex::Frame head, index->At(0));
    found.skipped_producers = ProducersIn(sessions[0], head.entry.records, excerpt->first_record);
    found.log = MakeCommitLogReader(std::move(source), *excerpt);
    return found;
  };
  auto found = find();
  // An index that is damaged somewhere is not used.
  if (!found && found.error().code == ErrorCode::kCorrupt) return std::nullopt;
  return found;
}

}  // namespace ringscope
