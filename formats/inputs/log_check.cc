#include <fmt/format.h>

#include <utility>

#include "core/base/wire.h"
#include "formats/inputs/open_log.h"
#include "formats/log/commit_log_format.h"
#include "formats/log/commit_log_index.h"
#include "formats/log/commit_log_reader.h"
#include "formats/log/record_codec.h"

namespace ringscope {
namespace {

using commit_log::IndexEntry;
using commit_log::SeekEntry;

/// Input bytes between two reports of progress.
constexpr uint64_t kProgressBytes = uint64_t{1} << 20;

/// Counts the frames of a commit log while it is read.
class FrameCounter : public CommitLogObserver {
 public:
  void OnDataFrame(const ZstdFrame& frame) override {
    ++data_frames_;
    raw_bytes_ += frame.content.size();
    ended_ = false;
  }
  void OnSkippableFrame(const ZstdFrame& frame) override {
    if (frame.magic == commit_log::kStartFrameMagic && frame.offset > 0)
      others_ended_ = others_ended_ && ended_;
    if (frame.magic == commit_log::kStartFrameMagic || frame.magic == commit_log::kIndexFrameMagic)
      ended_ = false;
    if (frame.magic == commit_log::kSeekTableFrameMagic) ended_ = commit_log::IsOwnFrame(frame);
  }
  void OnRecord(const Op*, Bytes) override {}

  /// Puts what was counted into `info`.
  void Fill(LogInfo& info) const {
    info.data_frames = data_frames_;
    info.raw_bytes = raw_bytes_;
    info.cleanly_closed =
        info.format == LogFormat::kCommitLog && info.closed && others_ended_ && ended_;
  }

 private:
  uint64_t data_frames_ = 0;
  uint64_t raw_bytes_ = 0;
  bool ended_ = false;        // the last frame is a seek table
  bool others_ended_ = true;  // so are those of the files before, if several are concatenated
};

/// Compares the end of each file, its index and seek table, with the frames and records before it.
/// Memory: about 100 bytes per data frame.
class FileChecker : public FrameCounter {
 public:
  /// Sets the reader whose damage explains what would otherwise be findings of their own.
  void Watch(const LogSource& log) { log_ = &log; }

  void OnDataFrame(const ZstdFrame& frame) override {
    FrameCounter::OnDataFrame(frame);
    if (file_.has_seek_table || file_.has_index)
      Find(frame.offset, "records after the file's index");
    file_.offsets.push_back(frame.offset);
    file_.frames.push_back({.compressed_size = frame.whole.size(),
                            .content_size = frame.content.size(),
                            .frame_hash = commit_log::Hash(frame.whole)});
    // The content's checksum, which decompression has checked, is the frame's last four bytes.
    AddToSeekTable(frame, frame.content.size(),
                   wire::LoadLittleEndian<uint32_t>(frame.whole.last(4).data()));
  }

  void OnSkippableFrame(const ZstdFrame& frame) override {
    FrameCounter::OnSkippableFrame(frame);
    if (frame.magic == commit_log::kStartFrameMagic && frame.offset > 0) EndFile();
    if (frame.magic == commit_log::kIndexFrameMagic) CheckIndex(frame);
    if (frame.magic == commit_log::kSeekTableFrameMagic) CheckSeekTable(frame);
    AddToSeekTable(frame, 0, commit_log::ContentChecksum({}));
  }

  void OnRecord(const Op* op, Bytes encoded) override {
    IndexEntry& entry = file_.frames.back();
    const std::optional<uint64_t> number = commit_log::RecordNumber(encoded);
    if (entry.records == 0) {
      if (!number) Find(file_.offsets.back(), "the frame's first record has no number");
      file_.next_number = number.value_or(file_.next_number);
      entry.first_record = file_.next_number;
    } else if (number && *number != file_.next_number) {
      Find(file_.offsets.back(),
           fmt::format("a record has the number {}, expected {}", *number, file_.next_number));
    }
    entry.AddRecord(op == nullptr ? std::nullopt : op->time_ns);
    if (op != nullptr) file_.sessions.Add(*op, file_.next_number);
    ++file_.next_number;
  }

  /// Call at a file's end.
  void EndFile() {
    // Without an index the log was not closed, which is no damage.
    if (file_.has_index && !file_.has_seek_table && !IsDamaged())
      Find(file_.end, "no seek table here: the log is cut off");
    file_ = {.unknown_before = log_->unknown_records(),
             .damage_before = log_->damage_count(),
             .found_before = found_count_};
  }

  /// Adds the damaged places that were found.
  void AddTo(LogInfo& info) const {
    info.damage.insert(info.damage.end(), found_.begin(), found_.end());
    info.damage_count += found_count_;
    std::ranges::stable_sort(info.damage, {}, &Damage::offset);
    if (info.damage.size() > LogSource::kMaxDamage) info.damage.resize(LogSource::kMaxDamage);
  }

 private:
  /// The current one of several concatenated files.
  struct File {
    uint64_t unknown_before = 0;
    uint64_t damage_before = 0;
    uint64_t found_before = 0;
    uint64_t end = 0;  // of the last frame
    std::vector<IndexEntry> frames = {};
    std::vector<uint64_t> offsets = {};  // of `frames`
    std::vector<SeekEntry> seek = {};
    uint64_t next_number = 0;
    bool has_index = false;
    bool has_seek_table = false;
    LogSummaryBuilder sessions = {};
  };

  void Find(uint64_t offset, std::string what) {
    ++found_count_;
    if (found_.size() < LogSource::kMaxDamage)
      found_.push_back({offset, 0, {}, 0, std::move(what)});
  }
  /// Returns true if something was wrong with this file before.
  bool IsDamaged() const {
    return log_->damage_count() > file_.damage_before || found_count_ > file_.found_before;
  }

  void AddToSeekTable(const ZstdFrame& frame, size_t content_size, uint32_t checksum) {
    file_.seek.push_back({.compressed_size = static_cast<uint32_t>(frame.whole.size()),
                          .content_size = static_cast<uint32_t>(content_size),
                          .content_checksum = checksum});
    file_.end = frame.offset + frame.whole.size();
  }

  void CheckIndex(const ZstdFrame& frame) {
    if (std::exchange(file_.has_index, true)) Find(frame.offset, "a second index");
    const Result<commit_log::Index> index = commit_log::DecodeIndex(frame.content);
    // A wrong checksum is damage that the reader reports.
    if (!index && commit_log::IsOwnFrame(frame))
      Find(frame.offset, "the index is malformed: " + index.error().message);
    if (!index || IsDamaged()) return;
    const auto [listed, own] = std::ranges::mismatch(index->frames, file_.frames);
    if (listed != index->frames.end() || own != file_.frames.end())
      Find(own == file_.frames.end()
               ? frame.offset
               : file_.offsets[static_cast<size_t>(own - file_.frames.begin())],
           "the index's entry does not match the frame");
    if (index->records != file_.next_number)
      Find(frame.offset, fmt::format("the index has {} records, the file has {}", index->records,
                                     file_.next_number));
    if (log_->unknown_records() > file_.unknown_before) return;  // they count, unknown how
    std::vector<SessionSummary> sessions = file_.sessions.Sessions();
    for (size_t i = 0; i < std::min(sessions.size(), index->sessions.size()); ++i) {
      // An older version kept no start, and an even older one no events.
      if (!index->sessions[i].start_ns) sessions[i].start_ns.reset();
      if (index->sessions[i].has_life) continue;
      sessions[i].life.clear();
      sessions[i].has_life = false;
    }
    const bool left_out = index->sessions.empty() && !commit_log::SummariesFit(sessions);
    if (index->sessions != sessions && !left_out)
      Find(frame.offset, "the index's summary does not match the records");
  }

  void CheckSeekTable(const ZstdFrame& frame) {
    if (std::exchange(file_.has_seek_table, true)) Find(frame.offset, "a second seek table");
    const auto table = commit_log::DecodeSeekTable(frame.content);
    if (!table || IsDamaged()) return;  // a malformed table is damage that the reader reports
    if (*table != file_.seek) Find(frame.offset, "the seek table does not match the frames");
  }

  const LogSource* log_ = nullptr;
  std::vector<Damage> found_;
  uint64_t found_count_ = 0;

  File file_;
};

/// Reads a log to its end. @param frames observes the log
Result<LogInfo> ScanLog(LogSource& log, const FrameCounter& frames, const ProgressFn& progress) {
  LogSummaryBuilder summaries;
  for (uint64_t reported = 0;;) {
    RS_ASSIGN_OR_RETURN(const std::optional<Op> op, log.Next());
    if (progress && (!op || log.position() - reported >= kProgressBytes)) {
      reported = log.position();
      progress(reported, log.size().value_or(0));
    }
    if (!op) break;
    summaries.Add(*op, log.record_number());
  }
  LogInfo info;
  info.format = log.format();
  info.sessions = summaries.Sessions();
  info.file_bytes = log.size().value_or(log.position());
  info.damage = log.damage();
  info.damage_count = log.damage_count();
  info.closed = log.closed();
  frames.Fill(info);
  return info;
}

}  // namespace

Result<std::optional<LogInfo>> ReadIndexedInfo(ByteSource& source) {
  RS_ASSIGN_OR_RETURN(std::optional<commit_log::Index> index, commit_log::ReadIndex(source));
  if (!index) return std::nullopt;
  LogInfo info;
  info.sessions = std::move(index->sessions);
  for (const SessionSummary& session : info.sessions)
    if (!session.has_life) return std::nullopt;  // by an older version

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
  return ScanLog(*log, frames, progress);
}

Result<LogInfo> VerifyLog(std::unique_ptr<ByteSource> source, const ProgressFn& progress) {
  RS_ASSIGN_OR_RETURN(const std::string start, source->Peek(1));
  if (start.empty()) {
    LogInfo nothing;
    nothing.damage.push_back({0, 0, {}, {}, "the file is empty"});
    nothing.damage_count = 1;
    return nothing;
  }
  FileChecker files;
  RS_ASSIGN_OR_RETURN(std::unique_ptr<LogSource> log, OpenLog(std::move(source), &files));
  files.Watch(*log);

  RS_ASSIGN_OR_RETURN(LogInfo info, ScanLog(*log, files, progress));
  if (log->format() == LogFormat::kCommitLog) files.EndFile();
  files.AddTo(info);
  return info;
}

}  // namespace ringscope
