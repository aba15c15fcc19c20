#include "core/session/read_policy.h"

#include <utility>

namespace ringscope {
namespace {

/// Bytes of packets after which the service ends a pass for the holder of a clone.
constexpr uint64_t kClonePassBytes = 32 * 1024;

}  // namespace

Result<bool> ReplayReader::Pass(std::optional<uint64_t> max_bytes,
                                std::optional<uint64_t> session) {
  ++passes_;
  return session_.ReadAllBuffers(max_bytes, Session::Reach::kOpen, session);
}

Status ReplayReader::ReadAll(std::optional<uint64_t> pass_bytes, Session::Reach reach,
                             std::optional<uint64_t> session) {
  for (bool more = true; more;) {
    ++passes_;
    RS_ASSIGN_OR_RETURN(more, session_.ReadAllBuffers(pass_bytes, reach, session));
  }
  return {};
}

Status ReplayReader::ReadBuffer(BufferId buffer) {
  for (bool more = true; more;) {
    ++passes_;
    RS_ASSIGN_OR_RETURN(more, session_.ReadBufferPass(buffer, pass_bytes_.value_or(UINT64_MAX)));
  }
  return {};
}

Status ReplayReader::ReadBufferOnce(const ReadPass& read) {
  ++passes_;
  return session_.ReadBuffer(*read.buffer, read.max_packets, read.max_bytes);
}

Status ReplayReader::ReadClone(const CloneView& clone) {
  if (pass_bytes_ || clone.passes.empty()) {
    return ReadAll(
        pass_bytes_.value_or(clone.has_file ? ServiceReads::kFilePassBytes : kClonePassBytes),
        Session::Reach::kClone);
  }
  for (const uint64_t max_bytes : clone.passes) {
    ++passes_;
    RS_RETURN_IF_ERROR(
        session_.ReadAllBuffers(max_bytes, Session::Reach::kClone, std::nullopt).map([](bool) {}));
  }
  return {};
}

Status RecordedReads::OnRecordedRead(const ReadPass& read) {
  if (read.file_bytes) ++seen_in_file_;
  const std::optional<uint64_t> pass_bytes = reader_.pass_bytes();
  // For a file the service reads until nothing is left.
  if (read.reason == ReadReason::kFile && !read.buffer && !read.max_packets) {
    return reader_.ReadAll(
        pass_bytes.value_or(read.max_bytes.value_or(ServiceReads::kFilePassBytes)),
        Session::Reach::kOpen, read.session);
  }
  const bool has_limit = read.max_bytes || read.max_packets;
  if (pass_bytes && !has_limit) {
    return read.buffer ? reader_.ReadBuffer(*read.buffer)
                       : reader_.ReadAll(pass_bytes, Session::Reach::kOpen, read.session);
  }
  if (read.buffer) return reader_.ReadBufferOnce(read);
  RS_ASSIGN_OR_RETURN(const bool at_limit, reader_.Pass(read.max_bytes, read.session));
  const size_t pass = finished_.size();
  finished_.push_back(!at_limit);
  std::erase_if(limited_, [&](const ReadPass& other) { return other.session == read.session; });
  const bool other_buffers = moves_sequences_ || reader_.session().differs_from_log();
  if (!at_limit || !other_buffers) return {};
  bool was_finished = false;
  if (LogReads* const log = reader_.log()) {
    RS_ASSIGN_OR_RETURN(was_finished, log->IsFinished(pass));
  }
  if (was_finished) return Continue(read);
  limited_.push_back(read);
  return {};
}

Status RecordedReads::Continue(const ReadPass& read) {
  for (bool more = true; more;) {
    ++added_passes_;
    RS_ASSIGN_OR_RETURN(more, reader_.Pass(read.max_bytes, read.session));
  }
  return {};
}

/// Continues a consumer's last read until nothing is left, as the service does. The log need not
/// show that end: its recording may be inexact, or cut off.
/// @param freed the buffer that is about to be freed; absent: the log ends
Status RecordedReads::FinishLastReads(std::optional<BufferId> freed) {
  if (limited_.empty()) return {};
  std::optional<uint64_t> session;
  const std::map<BufferId, SessionBuffer>& buffers = reader_.session().buffers();
  if (freed)
    if (const auto found = buffers.find(*freed); found != buffers.end())
      session = found->second.session;
  std::vector<ReadPass> limited;
  limited.swap(limited_);
  const bool knows_log = reader_.log() != nullptr;
  for (const ReadPass& read : limited) {
    if (freed && read.session && session && read.session != session) {
      limited_.push_back(read);
    } else if (!knows_log || read.reason == ReadReason::kConsumer ||
               read.reason == ReadReason::kFinal) {
      recorded_end_unknown_ |= knows_log;
      RS_RETURN_IF_ERROR(Continue(read));
    }
  }
  return {};
}

void RecordedReads::Describe(ReadsUsed& used) const {
  used.finished = finished_;
  used.added_passes = added_passes_;
  used.recorded_end_unknown = recorded_end_unknown_;
  used.seen_in_file = seen_in_file_;
}

Status EndReads::AtEnd(bool is_clone, bool /*is_plain*/) {
  // Nothing was written to a buffer after it was freed: reading it now or then is the same.
  return is_clone ? Status{} : reader_.ReadAll(reader_.pass_bytes(), Session::Reach::kFreed);
}

Status PeriodicReads::BeforeTime(uint64_t time_ns) {
  if (time_ns < first_ns_ || period_ns_ == 0) return {};
  const uint64_t due = (time_ns - first_ns_) / period_ns_;
  // Several periods without a commit are read once: the first read took all there was.
  if (due <= periods_read_) return {};
  periods_read_ = due;
  return reader_.ReadAll(reader_.pass_bytes(), Session::Reach::kFreed);
}

void FileReads::BeginAt(uint64_t time_ns) { reader_.service().Begin(time_ns); }

Status FileReads::BeforeTime(uint64_t time_ns) {
  return reader_.service().TakeDue(time_ns) ? OnFileRead() : Status{};
}

Status FileReads::Read(Session::Reach reach) {
  return reader_.ReadAll(reader_.pass_bytes().value_or(ServiceReads::kFilePassBytes), reach,
                         reader_.service().session());
}

Status FileReads::AtEnd(bool is_clone, bool /*is_plain*/) {
  // A session that ended before the log was read at its end, for the last time.
  const ServiceReads& service = reader_.service();
  return !is_clone && (service.is_open() || !service.streams()) ? Read(Session::Reach::kFreed)
                                                                : Status{};
}

void FileReads::Describe(ReadsUsed& used) const {
  used.period_ns = reader_.service().period_ns();
  used.alignment_assumed = !reader_.service().knows_alignment();
}

Result<bool> AutoReads::IsForFile() {
  if (for_file_) return *for_file_;
  bool for_file = !has_recorded_reads_ && reader_.service().streams();
  if (LogReads* const log = reader_.log(); log != nullptr && for_file) {
    RS_ASSIGN_OR_RETURN(const bool has_reads, log->HasAny());
    for_file = !has_reads;
  }
  for_file_ = for_file;
  return for_file;
}

Status AutoReads::OnFileRead() {
  RS_ASSIGN_OR_RETURN(const bool for_file, IsForFile());
  return for_file ? FileReads::OnFileRead() : Status{};
}

Status AutoReads::OnRecordedRead(const ReadPass& read) {
  has_recorded_reads_ = true;
  if (for_file_ != true) return recorded_.OnRecordedRead(read);
  ++left_out_;
  return {};
}

Status AutoReads::AtEnd(bool is_clone, bool is_plain) {
  is_clone_ = is_clone;
  RS_ASSIGN_OR_RETURN(const bool for_file, IsForFile());
  if (for_file) return FileReads::AtEnd(is_clone, is_plain);
  RS_RETURN_IF_ERROR(recorded_.AtEnd(is_clone, is_plain));
  return has_recorded_reads_ || is_plain ? Status{} : end_.AtEnd(is_clone, is_plain);
}

void AutoReads::Describe(ReadsUsed& used) const {
  recorded_.Describe(used);
  used.left_out = left_out_;
  // A clone is read by its holder; the session's own reads before it may be assumed.
  used.assumed = for_file_ == true || (!is_clone_ && !has_recorded_reads_ && reader_.passes() > 0);
  used.mode = !used.assumed       ? ReadsMode::kRecorded
              : for_file_ == true ? ReadsMode::kStreamed
                                  : ReadsMode::kEnd;
  if (for_file_ == true) FileReads::Describe(used);
}

}  // namespace ringscope
