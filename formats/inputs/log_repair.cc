
#include "formats/inputs/log_check.h"
#include "formats/inputs/open_log.h"
#include "formats/log/commit_log_writer.h"

namespace ringscope {
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
