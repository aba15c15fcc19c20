#include "core/session/replay.h"

#include <utility>

namespace ringscope {
namespace {

/// Bytes of packets after which the service ends a pass for the holder of a clone.
constexpr uint64_t kClonePassBytes = 32 * 1024;

/// Records that a plain stream of operations consists of; any other kind makes it a session's log.
bool IsPlain(const OpBody& body) {
  return std::holds_alternative<Commit>(body) || std::holds_alternative<BufferSetUp>(body) ||
         std::holds_alternative<ReadPass>(body) || std::holds_alternative<CloneRead>(body) ||
         std::holds_alternative<ProtoVmSetUp>(body) ||
         std::holds_alternative<ProtoVmStates>(body) || std::holds_alternative<LogHeader>(body) ||
         std::holds_alternative<Note>(body);
}

}  // namespace

Replay::Replay(ReplayOptions options, ReplayListeners listeners)
    : options_(std::move(options)),
      session_(options_.session, std::move(listeners)),
      service_(options_.reads.mode == ReadsMode::kStreamed, options_.reads.every_ns) {
  // A pass of no bytes would never end.
  if (options_.pass_bytes == 0) options_.pass_bytes = 1;
}

Status Replay::Advance(std::optional<uint64_t> time_ns) {
  if (time_ns) {
    if (options_.reads.mode == ReadsMode::kEvery && first_time_ns_)
      RS_RETURN_IF_ERROR(ReadIfDue(*time_ns));
    if (*time_ns >= service_.due_ns() && service_.TakeDue(*time_ns)) [[unlikely]]
      RS_RETURN_IF_ERROR(ReadForFile(Session::Reach::kOpen));
    if (!first_time_ns_) {
      first_time_ns_ = time_ns;
      service_.Begin(*time_ns);
    } else if (*time_ns < *last_time_ns_) [[unlikely]] {
      latest_ns_ = std::max(latest_ns_, *last_time_ns_);
    }
    last_time_ns_ = time_ns;
  }
  ++records_;
  return {};
}

Status Replay::Apply(const Op& op, std::optional<uint64_t> number) {
  RS_RETURN_IF_ERROR(Advance(op.time_ns));
  session_.BeginRecord(op, number.value_or(records_));
  // Most records are commits, which decide nothing about reads.
  if (std::holds_alternative<Commit>(op.body)) return session_.Apply(op);
  const bool is_damage = IsDamage(op.body);
  if (is_damage) --records_;
  is_plain_ &= is_damage || IsPlain(op.body);
  const ServiceReads::Due due = service_.Take(op, last_time_ns_);
  if (due == ServiceReads::Due::kBefore) RS_RETURN_IF_ERROR(ReadForFile(Session::Reach::kOpen));
  if (const auto* freed = std::get_if<BufferFreed>(&op.body))
    RS_RETURN_IF_ERROR(FinishLastReads(freed->id));
  if (const auto* read = std::get_if<ReadPass>(&op.body)) return ApplyRead(*read);
  if (const auto* clone = std::get_if<CloneRead>(&op.body))
    return session_.ReadClone(clone->buffer);
  RS_RETURN_IF_ERROR(session_.Apply(op));
  return due == ServiceReads::Due::kAfter ? ReadForFile(Session::Reach::kOpen) : Status{};
}

Status Replay::ApplyRead(const ReadPass& read) {
  if (service_.AnswersNothing(read)) {
    ++empty_reads_;
    return {};
  }
  has_recorded_reads_ = true;
  if (options_.reads.mode == ReadsMode::kAuto && streamed_ == true) {
    ++left_out_;
    return {};
  }
  return IsAsRecorded() ? ReadAsRecorded(read) : Status{};
}

Status Replay::ReadAsRecorded(const ReadPass& read) {
  if (read.file_bytes) ++seen_in_file_;
  // For a file the service reads until nothing is left.
  if (read.reason == ReadReason::kFile && !read.buffer && !read.max_packets) {
    return ReadUntilEmpty(
        options_.pass_bytes.value_or(read.max_bytes.value_or(ServiceReads::kFilePassBytes)),
        Session::Reach::kOpen, read.session);
  }
  const bool has_limit = read.max_bytes || read.max_packets;
  if (options_.pass_bytes && !has_limit) {
    return read.buffer ? ReadBufferUntilEmpty(*read.buffer)
                       : ReadUntilEmpty(options_.pass_bytes, Session::Reach::kOpen, read.session);
  }
  ++read_passes_;
  if (read.buffer) return session_.ReadBuffer(*read.buffer, read.max_packets, read.max_bytes);
  RS_ASSIGN_OR_RETURN(const bool at_limit,
                      session_.ReadAllBuffers(read.max_bytes, Session::Reach::kOpen, read.session));
  const size_t pass = finished_.size();
  finished_.push_back(!at_limit);
  std::erase_if(limited_, [&](const ReadPass& other) { return other.session == read.session; });
  if (!at_limit || !ReadsOtherBuffers()) return {};
  RS_ASSIGN_OR_RETURN(const bool was_finished, FinishedInLog(pass));
  if (was_finished) return Continue(read);
  limited_.push_back(read);
  return {};
}

/// Whether the buffers hold other data than the recorded ones did.
bool Replay::ReadsOtherBuffers() const {
  return options_.moves_sequences || session_.differs_from_log();
}

/// Whether the pass left nothing in the recorded buffers; false: that is not known, either.
Result<bool> Replay::FinishedInLog(size_t pass) {
  if (!options_.ahead.finished_reads) return false;
  if (!finished_in_log_) {
    RS_ASSIGN_OR_RETURN(finished_in_log_, options_.ahead.finished_reads());
  }
  return pass < finished_in_log_->size() && (*finished_in_log_)[pass];
}

/// A read that left nothing in the recorded buffers leaves nothing in these.
Status Replay::Continue(const ReadPass& read) {
  for (bool more = true; more;) {
    ++read_passes_;
    ++added_passes_;
    RS_ASSIGN_OR_RETURN(
        more, session_.ReadAllBuffers(read.max_bytes, Session::Reach::kOpen, read.session));
  }
  return {};
}

/// Passes of the service until one does not reach its limit.
Status Replay::ReadBufferUntilEmpty(BufferId buffer) {
  for (bool more = true; more;) {
    ++read_passes_;
    RS_ASSIGN_OR_RETURN(more,
                        session_.ReadBufferPass(buffer, options_.pass_bytes.value_or(UINT64_MAX)));
  }
  return {};
}

Status Replay::ReadUntilEmpty(std::optional<uint64_t> pass_bytes, Session::Reach reach,
                              std::optional<uint64_t> session) {
  for (bool more = true; more;) {
    ++read_passes_;
    RS_ASSIGN_OR_RETURN(more, session_.ReadAllBuffers(pass_bytes, reach, session));
  }
  return {};
}

Status Replay::ReadIfDue(uint64_t now_ns) {
  // Multiples of the period that nothing was committed between are read once: the first read took
  // all there was.
  if (now_ns < *first_time_ns_ || options_.reads.every_ns == 0) return {};
  const uint64_t due = (now_ns - *first_time_ns_) / options_.reads.every_ns;
  if (due <= periods_read_) return {};
  periods_read_ = due;
  return ReadUntilEmpty(options_.pass_bytes, Session::Reach::kFreed);
}

/// Whether the session is read as the service reads it for a file.
Result<bool> Replay::IsStreamed() {
  if (streamed_) return *streamed_;
  bool streamed = options_.reads.mode == ReadsMode::kStreamed;
  if (options_.reads.mode == ReadsMode::kAuto && !has_recorded_reads_ && service_.streams()) {
    streamed = true;
    if (options_.ahead.has_reads) {
      RS_ASSIGN_OR_RETURN(const bool has_reads, options_.ahead.has_reads());
      streamed = !has_reads;
    }
  }
  streamed_ = streamed;
  return streamed;
}

Status Replay::ReadForFile(Session::Reach reach) {
  RS_ASSIGN_OR_RETURN(const bool streamed, IsStreamed());
  if (!streamed) return {};
  return ReadUntilEmpty(options_.pass_bytes.value_or(ServiceReads::kFilePassBytes), reach,
                        service_.session());
}

/// A consumer's last read ends when nothing is left: the service itself continues it, pass by pass.
/// The log need not show that end: its recording may be inexact, or cut off.
/// @param freed the buffer that is about to be; absent: the log ends
Status Replay::FinishLastReads(std::optional<BufferId> freed) {
  if (limited_.empty() || (is_plain_ && options_.plain_streams_as_recorded)) return {};
  std::optional<uint64_t> session;
  if (freed)
    if (const auto found = session_.buffers().find(*freed); found != session_.buffers().end())
      session = found->second.session;
  std::vector<ReadPass> limited;
  limited.swap(limited_);
  for (const ReadPass& read : limited) {
    if (freed && read.session && session && read.session != session) {
      limited_.push_back(read);
    } else if (!options_.ahead.finished_reads || read.reason == ReadReason::kConsumer ||
               read.reason == ReadReason::kFinal) {
      went_on_alone_ |= static_cast<bool>(options_.ahead.finished_reads);
      RS_RETURN_IF_ERROR(Continue(read));
    }
  }
  return {};
}

/// As its holder has; if that is not recorded, until nothing is left.
Status Replay::ReadCloneOf(const CloneView& clone) {
  if (options_.pass_bytes || clone.passes.empty()) {
    return ReadUntilEmpty(options_.pass_bytes.value_or(clone.has_file ? ServiceReads::kFilePassBytes
                                                                      : kClonePassBytes),
                          Session::Reach::kClone);
  }
  for (const uint64_t max_bytes : clone.passes) {
    ++read_passes_;
    RS_RETURN_IF_ERROR(
        session_.ReadAllBuffers(max_bytes, Session::Reach::kClone, std::nullopt).map([](bool) {}));
  }
  return {};
}

Status Replay::Finish() {
  RS_ASSIGN_OR_RETURN(const bool streamed, IsStreamed());
  if (session_.clone() != nullptr) {
    // Nobody reads a clone but its holder.
    session_.BeginCloneReads();
    if (options_.reads.mode != ReadsMode::kNone) RS_RETURN_IF_ERROR(ReadCloneOf(*session_.clone()));
    return session_.EndLog();
  }
  RS_RETURN_IF_ERROR(FinishLastReads({}));
  bool read = options_.reads.mode == ReadsMode::kEnd || options_.reads.mode == ReadsMode::kEvery;
  // A session that ended before the log does was read then, for the last time.
  if (streamed && (service_.is_open() || !service_.streams()))
    RS_RETURN_IF_ERROR(ReadForFile(Session::Reach::kFreed));
  if (options_.reads.mode == ReadsMode::kAuto && !streamed)
    read = !has_recorded_reads_ && !(is_plain_ && options_.plain_streams_as_recorded);
  // Nothing was written to a buffer after it was freed: reading it now or then is the same.
  if (read) RS_RETURN_IF_ERROR(ReadUntilEmpty(options_.pass_bytes, Session::Reach::kFreed));
  return session_.EndLog();
}

ReadsUsed Replay::reads_used() const {
  ReadsUsed used;
  used.mode = options_.reads.mode;
  used.period_ns = options_.reads.every_ns;
  used.added_passes = added_passes_;
  used.went_on_alone = went_on_alone_;
  used.empty_reads = empty_reads_;
  used.seen_in_file = seen_in_file_;
  used.left_out = left_out_;
  if (used.mode == ReadsMode::kAuto) {
    // A clone is read by its holder; the session's own reads before it may be assumed.
    used.assumed = streamed_ == true ||
                   (session_.clone() == nullptr && !has_recorded_reads_ && read_passes_ > 0);
    used.mode = !used.assumed       ? ReadsMode::kRecorded
                : streamed_ == true ? ReadsMode::kStreamed
                                    : ReadsMode::kEnd;
  }
  if (used.mode == ReadsMode::kStreamed) {
    used.period_ns = service_.period_ns();
    used.alignment_assumed = !service_.knows_alignment();
  }
  return used;
}

}  // namespace ringscope
