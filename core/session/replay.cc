#include "core/session/replay.h"

namespace ringscope {
namespace {

/// Records that a plain stream of operations consists of; any other kind makes it a session's log.
bool IsPlain(const OpBody& body) {
  return std::holds_alternative<Commit>(body) || std::holds_alternative<BufferSetUp>(body) ||
         std::holds_alternative<ReadPass>(body) || std::holds_alternative<CloneRead>(body) ||
         std::holds_alternative<LogHeader>(body) || std::holds_alternative<Note>(body);
}

}  // namespace

Replay::Replay(ReplayOptions options, ReplayListeners listeners)
    : options_(std::move(options)), session_(options_.session, std::move(listeners)) {
  // A pass of no bytes would never end.
  if (options_.pass_bytes == 0) options_.pass_bytes = 1;
}

Status Replay::Advance(std::optional<uint64_t> time_ns) {
  if (time_ns) {
    if (options_.reads.mode == ReadsMode::kEvery && first_time_ns_)
      RS_RETURN_IF_ERROR(ReadIfDue(*time_ns));
    if (!first_time_ns_) first_time_ns_ = time_ns;
    last_time_ns_ = time_ns;
  }
  ++records_;
  return {};
}

Status Replay::Apply(const Op& op, std::optional<uint64_t> number) {
  RS_RETURN_IF_ERROR(Advance(op.time_ns));
  session_.BeginRecord(op, number.value_or(records_));
  is_plain_ &= IsPlain(op.body);
  const bool as_recorded =
      options_.reads.mode == ReadsMode::kRecorded || options_.reads.mode == ReadsMode::kAuto;
  if (const auto* read = std::get_if<ReadPass>(&op.body)) {
    has_recorded_reads_ = true;
    return as_recorded ? ReadAsRecorded(*read) : Status{};
  }
  if (const auto* clone = std::get_if<CloneRead>(&op.body))
    return session_.ReadClone(clone->buffer);
  return session_.Apply(op);
}

Status Replay::ReadAsRecorded(const ReadPass& read) {
  const bool has_limit = read.max_bytes || read.max_packets;
  if (options_.pass_bytes && !has_limit)
    return read.buffer ? ReadBufferUntilEmpty(*read.buffer) : ReadUntilEmpty(Session::Reach::kOpen);
  ++read_passes_;
  if (read.buffer) return session_.ReadBuffer(*read.buffer, read.max_packets, read.max_bytes);
  RS_RETURN_IF_ERROR(session_.ReadAllBuffers(read.max_bytes, Session::Reach::kOpen, read.session));
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

Status Replay::ReadUntilEmpty(Session::Reach reach) {
  for (bool more = true; more;) {
    ++read_passes_;
    RS_ASSIGN_OR_RETURN(more, session_.ReadAllBuffers(options_.pass_bytes, reach));
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
  return ReadUntilEmpty(Session::Reach::kFreed);
}

Status Replay::Finish() {
  bool read = options_.reads.mode == ReadsMode::kEnd || options_.reads.mode == ReadsMode::kEvery;
  if (options_.reads.mode == ReadsMode::kAuto)
    read = !has_recorded_reads_ && !(is_plain_ && options_.plain_streams_as_recorded);
  if (session_.clone() != nullptr) {
    // Nobody reads a clone but its holder.
    session_.BeginCloneReads();
    if (options_.reads.mode != ReadsMode::kNone)
      RS_RETURN_IF_ERROR(ReadUntilEmpty(Session::Reach::kClone));
    return session_.EndLog();
  }
  // Nothing was written to a buffer after it was freed: reading it now or then is the same.
  if (read) RS_RETURN_IF_ERROR(ReadUntilEmpty(Session::Reach::kFreed));
  return session_.EndLog();
}

}  // namespace ringscope
