#include "formats/inputs/log_excerpt.h"

#include <algorithm>
#include <utility>

#include "core/log/life_event.h"
#include "formats/inputs/log_check.h"
#include "formats/log/commit_log_format.h"
#include "formats/log/commit_log_reader.h"

namespace ringscope {
namespace {

using commit_log::Index;
using commit_log::IndexEntry;

/// Frames, by their numbers.
struct FrameRange {
  size_t first = 0;
  size_t end = 0;
};

/// The frames that can have records that are wanted. Times need not ascend; a record without one
/// has that of the record before it.
FrameRange FindFrames(const Index& index, const WantedRecords& wanted) {
  const std::vector<IndexEntry>& frames = index.frames;
  // The session starts with the first record that has a time, which is in this frame.
  const IndexEntry& head = frames.front();
  FrameRange found{0, frames.size()};
  if (wanted.records) {
    const auto ends_before = [](const IndexEntry& frame, uint64_t number) {
      return frame.first_record + frame.records <= number;
    };
    const auto begins_after = [](uint64_t number, const IndexEntry& frame) {
      return number < frame.first_record;
    };
    found.first = static_cast<size_t>(
        std::lower_bound(frames.begin(), frames.end(), wanted.records->first, ends_before) -
        frames.begin());
    found.end = static_cast<size_t>(
        std::upper_bound(frames.begin(), frames.end(), wanted.records->last, begins_after) -
        frames.begin());
  }
  if (wanted.from) {
    const uint64_t from = wanted.from->Absolute(*head.first_time_ns);
    while (found.first < found.end &&
           (!frames[found.first].last_time_ns || *frames[found.first].last_time_ns < from))
      ++found.first;
  }
  // A record without a time has that of the last record before it that has one.
  if (wanted.from || wanted.to)
    while (found.first > 0 && !frames[--found.first].first_time_ns) {
    }
  if (wanted.to) {
    const uint64_t to = wanted.to->Absolute(*head.last_time_ns);
    size_t last = found.end;  // after the last frame with a time that is wanted
    while (last > found.first &&
           (!frames[last - 1].first_time_ns || *frames[last - 1].first_time_ns > to))
      --last;
    // Records without a time may follow it, up to the first of the next frame that have one.
    while (last < found.end && !frames[last].first_time_ns) ++last;
    found.end = std::min(found.end, last + 1);
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

}  // namespace

Result<std::optional<LogExcerpt>> OpenLogExcerpt(std::unique_ptr<ByteSource>& source,
                                                 const WantedRecords& wanted) {
  if (!wanted.records && !wanted.from && !wanted.to) return std::nullopt;
  RS_ASSIGN_OR_RETURN(const std::optional<Index> index, ReadLogIndex(*source));
  if (!index || index->sessions.size() != 1) return std::nullopt;
  const SessionSummary& session = index->sessions.front();
  // A time since the start needs the first record that has one: it is read, too.
  const IndexEntry& head = index->frames.front();
  if (!session.has_life || session.truncated || !head.first_time_ns) return std::nullopt;

  const FrameRange frames = FindFrames(*index, wanted);
  CommitLogExcerpt excerpt;
  uint64_t offset = commit_log::kStartFrameSize;
  excerpt.head_end = offset + head.compressed_size;
  excerpt.begin = excerpt.end = excerpt.head_end;
  excerpt.first_record = head.records;
  for (size_t i = 0; i < frames.end; ++i) {
    const IndexEntry& frame = index->frames[i];
    if (i == std::max<size_t>(frames.first, 1)) {
      excerpt.begin = offset;
      excerpt.first_record = frame.first_record;
    }
    offset += frame.compressed_size;
    if (i >= std::max<size_t>(frames.first, 1)) excerpt.end = offset;
  }
  LogExcerpt found;
  found.skipped_producers = ProducersIn(session, head.records, excerpt.first_record);
  found.log = MakeCommitLogReader(std::move(source), excerpt);
  return found;
}

}  // namespace ringscope
