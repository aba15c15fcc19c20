#include "formats/inputs/log_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/base/wire.h"
#include "formats/inputs/open_log.h"
#include "formats/log/commit_log_format.h"
#include "formats/log/commit_log_index.h"
#include "formats/log/commit_log_writer.h"
#include "formats/log/record_codec.h"

namespace ringscope {
namespace {

using commit_log::IndexEntry;
using commit_log::SeekEntry;

/// Input bytes between two reports of progress.
constexpr uint64_t kProgressBytes = uint64_t{1} << 20;

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
    FrameCounter::OnRecord(op, encoded);
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
    file_ = {.unknown_before = unknown_records(),
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
    if (unknown_records() > file_.unknown_before) return;  // they count, unknown how
    std::vector<SessionSummary> sessions = file_.sessions.Sessions();
    for (size_t i = 0; i < std::min(sessions.size(), index->sessions.size()); ++i) {
      if (index->sessions[i].has_life) continue;  // by an older version
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

}  // namespace

void FrameCounter::OnDataFrame(const ZstdFrame& frame) {
  ++data_frames_;
  raw_bytes_ += frame.content.size();
  ended_ = false;
}

void FrameCounter::OnSkippableFrame(const ZstdFrame& frame) {
  if (frame.magic == commit_log::kStartFrameMagic && frame.offset > 0)
    others_ended_ = others_ended_ && ended_;
  if (frame.magic == commit_log::kStartFrameMagic || frame.magic == commit_log::kIndexFrameMagic)
    ended_ = false;
  if (frame.magic == commit_log::kSeekTableFrameMagic) ended_ = commit_log::IsOwnFrame(frame);
}

void FrameCounter::OnRecord(const Op* op, Bytes) {
  if (op == nullptr) ++unknown_records_;
}

void FrameCounter::Fill(LogInfo& info) const {
  info.data_frames = data_frames_;
  info.raw_bytes = raw_bytes_;
  info.cleanly_closed =
      info.format == LogFormat::kCommitLog && info.closed && others_ended_ && ended_;
}

Result<LogInfo> ScanLog(LogSource& log, const FrameCounter& frames, const ProgressFn& progress,
                        const std::function<Status(const Op&)>& each) {
  LogSummaryBuilder summaries;
  for (uint64_t reported = 0;;) {
    RS_ASSIGN_OR_RETURN(const std::optional<Op> op, log.Next());
    if (progress && (!op || log.position() - reported >= kProgressBytes)) {
      reported = log.position();
      progress(reported, log.size().value_or(0));
    }
    if (!op) break;
    summaries.Add(*op, log.record_number());
    if (each) RS_RETURN_IF_ERROR(each(*op));
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

namespace {

/// Copies a log record by record, with a gap record where something is missing.
class Copier {
 public:
  Copier(LogSource& log, const FrameCounter& frames, CommitLogWriter& writer)
      : log_(log), frames_(frames), writer_(writer) {}

  Status Copy(const Op& op) {
    const SessionBounds::Place place = bounds_.Add(op, log_.record_number());
    if (place == SessionBounds::Place::kRepeated) return {};
    if (const auto* end = std::get_if<RecordingEnded>(&op.body)) {
      continues_ = end->ending == RecordingEnding::kNextPart;
      if (continues_) return {};
    }
    const auto* header = std::get_if<LogHeader>(&op.body);
    if (header == nullptr || started_) {
      if (header == nullptr) RS_RETURN_IF_ERROR(Start());
      // Losses before a header belong to the session before it.
      RS_RETURN_IF_ERROR(WriteGaps(op.time_ns));
    }
    if (header == nullptr) {
      if (op.time_ns) last_time_ns_ = op.time_ns;
      return writer_.Append(op);
    }
    continues_ = false;
    // The parts of a recording become one file.
    if (place == SessionBounds::Place::kWithin) return {};
    if (started_ && op.time_ns) last_time_ns_ = op.time_ns;
    started_ = true;
    LogHeader copy = *header;
    copy.first_part = header->part;  // no parts are beside the copy
    RS_RETURN_IF_ERROR(writer_.Append(Op{op.time_ns, std::move(copy)}));
    return WriteGaps(op.time_ns);
  }

  Status Finish() {
    const bool lost = log_.damage_count() > 0 || frames_.unknown_records() > 0;
    if (lost) RS_RETURN_IF_ERROR(Start());
    RS_RETURN_IF_ERROR(WriteGaps(std::nullopt));
    // The copy is closed, so that only a record can state that what it is a copy of was not.
    if ((continues_ || !log_.closed()) && started_) {
      RS_RETURN_IF_ERROR(
          writer_.Append(Op{last_time_ns_, RecordingEnded{.ending = RecordingEnding::kCutOff}}));
    }
    return writer_.Close();
  }

 private:
  /// A log whose header is lost, or a text that has none, gets one.
  Status Start() {
    if (started_) return {};
    started_ = true;
    LogHeader header = ImportHeader();
    header.description = "copied from a log without a header";
    return writer_.Append(Op{std::nullopt, std::move(header)});
  }

  Status WriteGaps(std::optional<uint64_t> until_ns) {
    if (damage_.Has(log_))
      for (DamageGaps::Gap& missing : damage_.Take(log_))
        RS_RETURN_IF_ERROR(WriteGap(std::move(missing.gap), until_ns));
    if (frames_.unknown_records() > unknown_) {
      RecorderGap gap;
      gap.reason = "records of a kind that this program does not know were left out of this copy";
      gap.records = frames_.unknown_records() - unknown_;
      unknown_ = frames_.unknown_records();
      RS_RETURN_IF_ERROR(WriteGap(std::move(gap), until_ns));
    }
    return {};
  }

  Status WriteGap(RecorderGap gap, std::optional<uint64_t> until_ns) {
    gap.is_damage = false;  // the copy has a record of it
    gap.from_ns = last_time_ns_;
    gap.to_ns = until_ns;
    return writer_.Append(Op{std::nullopt, std::move(gap)});
  }

  LogSource& log_;
  const FrameCounter& frames_;
  CommitLogWriter& writer_;
  SessionBounds bounds_;
  bool started_ = false;
  bool continues_ = false;  // in a part that was not read so far
  DamageGaps damage_{"damage in the log that this is a copy of"};
  uint64_t unknown_ = 0;  // unknown records, noted already
  std::optional<uint64_t> last_time_ns_;
};

}  // namespace

Result<LogInfo> RepairLog(std::unique_ptr<ByteSource> source, ByteSink& out,
                          const ProgressFn& progress) {
  FrameCounter frames;
  RS_ASSIGN_OR_RETURN(std::unique_ptr<LogSource> log, OpenLog(std::move(source), &frames));
  RS_ASSIGN_OR_RETURN(std::unique_ptr<CommitLogWriter> writer,
                      CommitLogWriter::Create(out, {.threads = CompressionThreads()}));

  Copier copier(*log, frames, *writer);
  RS_ASSIGN_OR_RETURN(
      LogInfo info, ScanLog(*log, frames, progress, [&](const Op& op) { return copier.Copy(op); }));
  RS_RETURN_IF_ERROR(copier.Finish());
  return info;
}

}  // namespace ringscope
