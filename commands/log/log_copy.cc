#include "commands/log/log_copy.h"

#include <fmt/format.h>

#include <memory>
#include <utility>

#include "commands/shell/text.h"
#include "core/log/payload_mask.h"

namespace ringscope {
namespace {

/// Copies record by record.
class LogCopier {
 public:
  LogCopier(SessionReader& sessions, CommitLogWriter& writer, const LogCopyOptions& options)
      : sessions_(sessions), writer_(writer), options_(options) {}

  /// Copies the session that the reader is at. @return true if it was cut off
  Result<bool> CopySession() {
    std::optional<InsertedReads> with_reads;
    if (options_.reads)
      with_reads.emplace(static_cast<OpSource&>(sessions_), options_.reads->reads);
    OpSource& records = with_reads ? static_cast<OpSource&>(*with_reads) : sessions_;
    std::optional<uint64_t> last_time_ns;
    for (bool is_first = true;; is_first = false) {
      RS_ASSIGN_OR_RETURN(std::optional<Op> op, records.Next());
      RS_RETURN_IF_ERROR(NoteUnknown(op ? op->time_ns : std::nullopt, last_time_ns));
      if (!op) break;
      if (op->time_ns) last_time_ns = op->time_ns;
      if (auto* const gap = std::get_if<RecorderGap>(&op->body))
        gap->is_damage = false;  // the copy has a record of it
      // Within a session, these are of the parts that become one.
      const auto* const header = std::get_if<LogHeader>(&op->body);
      const auto* const end = std::get_if<RecordingEnded>(&op->body);
      if (header == nullptr && (end == nullptr || end->ending != RecordingEnding::kNextPart)) {
        RS_RETURN_IF_ERROR(Append(*op));
      } else if (header != nullptr && is_first) {
        LogHeader copy = *header;
        copy.first_part = header->part;  // no parts are beside the copy
        RS_RETURN_IF_ERROR(Append({op->time_ns, std::move(copy)}));
      }
    }
    if (options_.reads)  // states where the reads come from
      RS_RETURN_IF_ERROR(Append(
          {std::nullopt, Note{fmt::format("the reads in this log were found by comparison with {}: "
                                          "they explain {} of {} of it",
                                          options_.reads_from, options_.reads->explained,
                                          Count(options_.reads->packets, "packet"))}}));
    // The copy is closed, so that only a record can state that what it is a copy of was not.
    if (sessions_.is_cut_off())
      RS_RETURN_IF_ERROR(
          Append({last_time_ns, RecordingEnded{.ending = RecordingEnding::kCutOff}}));
    return sessions_.is_cut_off();
  }

  /// Gives a log that has no header, or lost it, one.
  Status Start() {
    if (std::exchange(has_header_, true)) return {};
    return writer_.Append(Masked({std::nullopt, ImportHeader()}));
  }

 private:
  const Op& Masked(const Op& op) { return options_.without_payload ? mask_.Apply(op) : op; }

  Status Append(const Op& op) {
    if (std::holds_alternative<LogHeader>(op.body)) has_header_ = true;
    RS_RETURN_IF_ERROR(Start());
    return writer_.Append(Masked(op));
  }

  /// Appends a gap for records that were skipped as their kind is not known.
  Status NoteUnknown(std::optional<uint64_t> until_ns, std::optional<uint64_t> last_time_ns) {
    const uint64_t before = std::exchange(unknown_, sessions_.unknown_records());
    if (unknown_ == before) return {};
    RecorderGap gap{.from_ns = last_time_ns, .to_ns = until_ns};
    gap.reason = "records of a kind that this program does not know were left out of this copy";
    gap.records = unknown_ - before;
    return Append({std::nullopt, std::move(gap)});
  }

  SessionReader& sessions_;
  CommitLogWriter& writer_;
  const LogCopyOptions& options_;
  PayloadMask mask_;
  bool has_header_ = false;
  uint64_t unknown_ = 0;  // unknown records, noted already
};

}  // namespace

std::string LogCopy::LeftOut() const {
  if (left_out == 0) return "";
  return fmt::format("{} of kinds that this version does not know left out",
                     Count(left_out, "record"));
}

Result<LogCopy> CopyLog(SessionReader& sessions, bool more, ByteSink& out,
                        const LogCopyOptions& options) {
  RS_ASSIGN_OR_RETURN(
      const std::unique_ptr<CommitLogWriter> writer,
      CommitLogWriter::Create(out, {.level = options.level, .threads = CompressionThreads()}));
  LogCopier copier(sessions, *writer, options);
  LogCopy copy;
  for (; more; ++copy.sessions) {
    RS_ASSIGN_OR_RETURN(const bool is_cut_off, copier.CopySession());
    copy.is_cut_off |= is_cut_off;
    if (options.reads) RS_RETURN_IF_ERROR(ExpectNoFurtherSession(sessions, "a trace"));
    RS_ASSIGN_OR_RETURN(more, sessions.NextSession());
  }
  RS_RETURN_IF_ERROR(copier.Start());
  RS_RETURN_IF_ERROR(writer->Close());
  copy.records = writer->records();
  copy.bytes = writer->bytes_written();
  copy.left_out = sessions.unknown_records();
  return copy;
}

}  // namespace ringscope
