#include "formats/inputs/log_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/base/wire.h"
#include "core/perfetto/commit_request.h"
#include "formats/inputs/open_log.h"
#include "formats/log/commit_log_format.h"
#include "formats/log/commit_log_index.h"
#include "formats/log/record_codec.h"

namespace ringscope {
namespace {

using commit_log::IndexEntry;
using commit_log::SeekEntry;

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

/// Whether the session has records that a summary keeps as its life.
bool HasLife(const SessionSummary& session) {
  uint64_t others = 0;
  for (const size_t kind : {OpKindOf<LogHeader>(), OpKindOf<Commit>(), OpKindOf<ReadPass>(),
                            OpKindOf<ClockSnapshotRecord>(), OpKindOf<Note>()})
    others += session.counts[kind];
  return session.records > others;
}

/// Damaged places that a check finds, besides those that reading finds.
class Findings {
 public:
  void Add(Damage damage) {
    ++count_;
    if (list_.size() < LogSource::kMaxDamage) list_.push_back(std::move(damage));
  }
  uint64_t count() const { return count_; }
  const std::vector<Damage>& list() const { return list_; }

 private:
  std::vector<Damage> list_;
  uint64_t count_ = 0;
};

/// Whether a service would have understood a commit: its request is well-formed, and its chunks are
/// of a size that chunks have.
class RequestChecker {
 public:
  bool IsSound(const Commit& commit) {
    if (!commit_log::IsWellFormedRequest(commit.request)) return false;
    parser_.Parse(commit.request);
    return std::ranges::all_of(parser_.chunks(), [](const ChunkToMove& chunk) {
      return !chunk.data ||
             (chunk.data->size() >= kChunkHeaderSize && chunk.data->size() <= kMaxChunkData);
    });
  }

 private:
  CommitRequestParser parser_;
};

/// Compares the end of each file, its index and seek table, with the frames and records before it.
/// Memory: about 100 bytes per data frame.
class FileChecker : public CommitLogObserver {
 public:
  explicit FileChecker(Findings& findings) : findings_(findings) {}

  /// The reader whose damage explains what would otherwise be findings of their own.
  void Watch(const LogSource& log) { log_ = &log; }
  const FrameCounter& counter() const { return counter_; }

  void OnDataFrame(const ZstdFrame& frame) override {
    counter_.OnDataFrame(frame);
    if (has_seek_table_ || has_index_) {
      Find(frame.offset, "records after the file's index");
    }
    DataFrame data;
    data.offset = frame.offset;
    data.entry.compressed_size = frame.whole.size();
    data.entry.content_size = frame.content.size();
    data.entry.frame_hash = commit_log::Hash(frame.whole);
    data_.push_back(data);
    // The content's checksum, which decompression has checked, is the frame's last four bytes.
    const auto checksum = wire::LoadLittleEndian<uint32_t>(frame.whole.last(4).data());
    seek_.push_back({.compressed_size = static_cast<uint32_t>(frame.whole.size()),
                     .content_size = static_cast<uint32_t>(frame.content.size()),
                     .content_checksum = checksum});
    end_ = frame.offset + frame.whole.size();
  }

  void OnSkippableFrame(const ZstdFrame& frame) override {
    counter_.OnSkippableFrame(frame);
    if (frame.magic == commit_log::kStartFrameMagic && frame.offset > 0) EndFile();
    if (frame.magic == commit_log::kIndexFrameMagic) CheckIndex(frame);
    if (frame.magic == commit_log::kSeekTableFrameMagic) CheckSeekTable(frame);
    seek_.push_back({.compressed_size = static_cast<uint32_t>(frame.whole.size()),
                     .content_size = 0,
                     .content_checksum = commit_log::ContentChecksum({})});
    end_ = frame.offset + frame.whole.size();
  }

  void OnRecord(const Op* op, Bytes encoded) override {
    counter_.OnRecord(op, encoded);
    DataFrame& frame = data_.back();
    const std::optional<uint64_t> number = commit_log::RecordNumber(encoded);
    if (frame.entry.records == 0) {
      if (!number) Find(frame.offset, "the frame's first record has no number");
      next_number_ = number.value_or(next_number_);
      frame.entry.first_record = next_number_;
    } else if (number && *number != next_number_) {
      Find(frame.offset,
           fmt::format("a record has the number {}, expected {}", *number, next_number_));
    }
    ++frame.entry.records;
    if (op != nullptr) {
      if (op->time_ns) {
        IndexEntry& entry = frame.entry;
        entry.first_time_ns = std::min(entry.first_time_ns.value_or(*op->time_ns), *op->time_ns);
        entry.last_time_ns = std::max(entry.last_time_ns.value_or(*op->time_ns), *op->time_ns);
      }
      sessions_.Add(*op, next_number_);
    }
    ++next_number_;
  }

  /// Call at a file's end.
  void EndFile() {
    if (!has_index_ && !IsDamaged()) {
      Find(end_, "no index here: the log was not closed, or is cut off; records may be missing");
    } else if (!has_seek_table_ && !IsDamaged()) {
      Find(end_, "no seek table here: the log is cut off");
    }
    data_.clear();
    seek_.clear();
    next_number_ = 0;
    has_index_ = has_seek_table_ = false;
    sessions_ = {};
    unknown_before_ = counter_.unknown_records();
    damage_before_ = log_->damage_count();
    findings_before_ = findings_.count();
  }

 private:
  struct DataFrame {
    uint64_t offset = 0;
    IndexEntry entry;
  };

  void Find(uint64_t offset, std::string what, uint64_t bytes = 0) {
    findings_.Add({offset, bytes, {}, 0, std::move(what)});
  }
  /// Whether something was wrong with this file before.
  bool IsDamaged() const {
    return log_->damage_count() > damage_before_ || findings_.count() > findings_before_;
  }

  void CheckIndex(const ZstdFrame& frame) {
    if (std::exchange(has_index_, true)) Find(frame.offset, "a second index");
    const Result<commit_log::Index> index = commit_log::DecodeIndex(frame.content);
    if (!index) {
      // A wrong checksum is damage that the reader reports.
      if (commit_log::IsOwnFrame(frame)) {
        Find(frame.offset, "the index is malformed: " + index.error().message);
      }
      return;
    }
    if (IsDamaged()) return;
    CheckEntries(*index, frame.offset);
    if (index->records != next_number_) {
      Find(frame.offset,
           fmt::format("the index has {} records, the file has {}", index->records, next_number_));
    }
    if (counter_.unknown_records() > unknown_before_) return;  // they count, unknown how
    std::vector<SessionSummary> sessions = sessions_.Sessions();
    for (size_t i = 0; i < std::min(sessions.size(), index->sessions.size()); ++i) {
      if (index->sessions[i].has_life) continue;  // by an older version
      sessions[i].life.clear();
      sessions[i].has_life = false;
    }
    const bool left_out = index->sessions.empty() && !commit_log::SummariesFit(sessions);
    if (index->sessions != sessions && !left_out) {
      Find(frame.offset, "the index's summary does not match the records");
    }
  }

  /// Compares the index's entries with the frames.
  void CheckEntries(const commit_log::Index& index, uint64_t index_offset) {
    for (size_t i = 0; i < std::min(index.frames.size(), data_.size()); ++i)
      if (index.frames[i] != data_[i].entry)
        return Find(data_[i].offset, "the index's entry does not match the frame",
                    index.frames[i].compressed_size);
    if (index.frames.size() != data_.size())
      Find(index_offset, fmt::format("the index lists {} frames, there are {}", index.frames.size(),
                                     data_.size()));
  }

  void CheckSeekTable(const ZstdFrame& frame) {
    if (std::exchange(has_seek_table_, true)) Find(frame.offset, "a second seek table");
    const auto table = commit_log::DecodeSeekTable(frame.content);
    if (!table || IsDamaged()) return;  // a malformed table is damage that the reader reports
    if (table->size() != seek_.size()) {
      Find(frame.offset, fmt::format("the seek table has {} entries, there are {} frames",
                                     table->size(), seek_.size()));
      return;
    }
    for (size_t i = 0; i < seek_.size(); ++i) {
      if ((*table)[i] == seek_[i]) continue;
      Find(frame.offset, fmt::format("entry {} of the seek table does not match its frame", i));
    }
  }

  Findings& findings_;
  const LogSource* log_ = nullptr;
  FrameCounter counter_;

  // Of the current one of several concatenated files.
  uint64_t end_ = 0;  // of the last frame
  std::vector<DataFrame> data_;
  std::vector<SeekEntry> seek_;
  uint64_t next_number_ = 0;
  bool has_index_ = false;
  bool has_seek_table_ = false;
  LogSummaryBuilder sessions_;
  uint64_t unknown_before_ = 0;
  uint64_t damage_before_ = 0;
  uint64_t findings_before_ = 0;
};

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

Result<std::optional<LogInfo>> ReadIndexedInfo(ByteSource& source) {
  RS_ASSIGN_OR_RETURN(std::optional<commit_log::Index> index, commit_log::ReadIndex(source));
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

Result<LogInfo> VerifyLog(std::unique_ptr<ByteSource> source, const ProgressFn& progress) {
  Findings structure;
  FileChecker files(structure);
  RS_ASSIGN_OR_RETURN(std::string start, ReadStart(*source, 1));
  if (start.empty()) {
    LogInfo nothing;
    nothing.damage.push_back({0, 0, {}, {}, "the file is empty"});
    nothing.damage_count = 1;
    return nothing;
  }
  source = MakePrefixedSource(std::move(start), std::move(source));
  RS_ASSIGN_OR_RETURN(std::unique_ptr<LogSource> log, OpenLog(std::move(source), &files));
  files.Watch(*log);

  uint64_t unsound_requests = 0;
  RequestChecker checker;
  LogSummaryBuilder summaries;
  RS_RETURN_IF_ERROR(ScanLog(*log, progress, [&](const Op& op) -> Status {
    summaries.Add(op, log->record_number());
    const auto* commit = std::get_if<Commit>(&op.body);
    if (commit != nullptr && !checker.IsSound(*commit)) ++unsound_requests;
    return {};
  }));
  if (log->format() == LogFormat::kCommitLog) files.EndFile();

  LogInfo info = InfoOf(*log, files.counter());
  info.sessions = summaries.Sessions();
  info.unsound_requests = unsound_requests;
  info.damage.insert(info.damage.end(), structure.list().begin(), structure.list().end());
  info.damage_count += structure.count();
  std::ranges::stable_sort(info.damage, {}, &Damage::offset);
  if (info.damage.size() > LogSource::kMaxDamage) info.damage.resize(LogSource::kMaxDamage);
  return info;
}

std::vector<DamageGaps::Gap> DamageGaps::Take(const LogSource& log) {
  std::vector<Gap> gaps;
  const std::vector<Damage>& list = log.damage();
  for (uint64_t i = seen_; i < list.size(); ++i) {
    const Damage& damage = list[i];
    if (damage.records == 0) continue;
    Gap& gap = gaps.emplace_back();
    gap.first_record = damage.first_record;
    gap.gap.reason = fmt::format("{}: {}", where_, damage.ToString());
    gap.gap.records = damage.records;
    if (damage.bytes > 0) gap.gap.bytes = damage.bytes;
    gap.gap.is_damage = true;
  }
  // The list is limited.
  const uint64_t count = log.damage_count();
  const uint64_t unlisted = count - std::max<uint64_t>(std::min(seen_, count), list.size());
  if (unlisted > 0) {
    RecorderGap& gap = gaps.emplace_back().gap;
    gap.reason = fmt::format("further {} ({} places)", where_, unlisted);
    gap.is_damage = true;
  }
  seen_ = count;
  return gaps;
}

}  // namespace ringscope
