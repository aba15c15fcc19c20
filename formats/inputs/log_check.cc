#include <fmt/format.h>

#include "core/base/wire.h"
#include "formats/inputs/open_log.h"
#include "formats/log/commit_log_format.h"
#include "formats/log/commit_log_index.h"
#include "formats/log/commit_log_reader.h"

namespace ringscope {
namespace {

using commit_log::IndexEntry;

/// Input bytes between two reports of progress.
constexpr uint64_t kProgressBytes = uint64_t{1} << 20;

/// Compares the end of each file, its index and seek table, with the frames and records before it.
/// Memory: about 100 bytes per data frame.
class FileChecker : public CommitLogObserver {
 public:
  /// Sets the reader whose damage explains what would otherwise be findings of their own.
  void Watch(const LogSource& log) { log_ = &log; }

  void OnFrame(const ZstdFrame& frame) override {
    if (frame.magic == commit_log::kStartFrameMagic && frame.offset > 0) EndFile();
    if (frame.magic == commit_log::kIndexFrameMagic) CheckIndex(frame);
    if (frame.magic == commit_log::kSeekTableFrameMagic) CheckSeekTable(frame);
    if (frame.skippable())
      file_.seek_table.AddSkippableFrame(frame.whole.size());
    else
      AddData(frame);
    file_.end = frame.offset + frame.whole.size();
  }

  void OnRecord(const Op* op, Bytes encoded) override {
    IndexEntry& entry = file_.frames.back();
    const std::optional<uint64_t> number = wire::FirstVarint(encoded, commit_log::kNumber);
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

  /// Adds the damaged places that were found.
  void Finish(LogInfo& info) {
    if (info.format == LogFormat::kCommitLog) EndFile();
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
    commit_log::SeekTableBuilder seek_table = {};
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

  void AddData(const ZstdFrame& frame) {
    if (file_.has_seek_table || file_.has_index)
      Find(frame.offset, "records after the file's index");
    file_.offsets.push_back(frame.offset);
    file_.frames.push_back({.compressed_size = frame.whole.size(),
                            .content_size = frame.content.size(),
                            .frame_hash = commit_log::Hash(frame.whole)});
    // The content's checksum, which decompression has checked, is the frame's last four bytes.
    file_.seek_table.AddDataFrame(frame.whole.size(), frame.content.size(),
                                  wire::LoadLittleEndian<uint32_t>(frame.whole.last(4).data()));
  }

  void EndFile() {
    // Without an index the log was not closed, which is no damage.
    if (file_.has_index && !file_.has_seek_table && !IsDamaged())
      Find(file_.end, "no seek table here: the log is cut off");
    file_ = {.unknown_before = log_->unknown_records(),
             .damage_before = log_->damage_count(),
             .found_before = found_count_};
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
    const bool left_out = index->sessions.empty() && !commit_log::EncodeSessions(sessions);
    if (index->sessions != sessions && !left_out)
      Find(frame.offset, "the index's summary does not match the records");
  }

  void CheckSeekTable(const ZstdFrame& frame) {
    if (std::exchange(file_.has_seek_table, true)) Find(frame.offset, "a second seek table");
    // A malformed table is damage that the reader reports.
    if (commit_log::IsSeekTable(frame.content) && !IsDamaged() &&
        wire::AsText(frame.content) != file_.seek_table.Content())
      Find(frame.offset, "the seek table does not match the frames");
  }

  const LogSource* log_ = nullptr;
  std::vector<Damage> found_;
  uint64_t found_count_ = 0;

  File file_;
};

/// Reads a log to its end.
Result<LogInfo> ScanLog(LogSource& log, const ProgressFn& progress) {
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
  return LogInfo{.format = log.format(),
                 .sessions = summaries.Sessions(),
                 .file_bytes = log.size().value_or(log.position()),
                 .raw_bytes = log.raw_bytes(),
                 .data_frames = log.data_frames(),
                 .cleanly_closed = log.cleanly_closed(),
                 .closed = log.closed(),
                 .damage = log.damage(),
                 .damage_count = log.damage_count()};
}

}  // namespace

Result<std::optional<LogInfo>> ReadIndexedInfo(ByteSource& source) {
  RS_ASSIGN_OR_RETURN(std::optional<commit_log::Index> index, commit_log::ReadIndex(source));
  if (!index) return std::nullopt;
  for (const SessionSummary& session : index->sessions)
    if (!session.has_life) return std::nullopt;  // by an older version
  LogInfo info{.sessions = std::move(index->sessions),
               .file_bytes = *source.size(),
               .data_frames = index->frames.size(),
               .from_index = true,
               .cleanly_closed = true,
               .closed = true};
  for (const IndexEntry& frame : index->frames) info.raw_bytes += frame.content_size;
  return info;
}

Result<LogInfo> ReadLogInfo(std::unique_ptr<ByteSource> source, const ProgressFn& progress) {
  RS_ASSIGN_OR_RETURN(std::optional<LogInfo> indexed, ReadIndexedInfo(*source));
  if (indexed) return std::move(*indexed);
  RS_ASSIGN_OR_RETURN(const std::unique_ptr<LogSource> log, OpenLog(std::move(source)));
  return ScanLog(*log, progress);
}

Result<LogInfo> VerifyLog(std::unique_ptr<ByteSource> source, const ProgressFn& progress) {
  RS_ASSIGN_OR_RETURN(const std::string start, source->Peek(1));
  if (start.empty()) return LogInfo{.damage = {{.what = "the file is empty"}}, .damage_count = 1};
  FileChecker files;
  RS_ASSIGN_OR_RETURN(std::unique_ptr<LogSource> log, OpenLog(std::move(source), &files));
  files.Watch(*log);
  RS_ASSIGN_OR_RETURN(LogInfo info, ScanLog(*log, progress));
  files.Finish(info);
  return info;
}

}  // namespace ringscope
