#include "core/session/read_policy.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/base/lookup.h"
#include "core/base/text.h"

namespace ringscope {
namespace {

/// Bytes of packets after which the service ends a pass for the holder of a clone.
constexpr uint64_t kClonePassBytes = 32 * 1024;

}  // namespace

ReadPolicy::ReadPolicy(Session& session, const ReadsChoice& choice, HasReads has_reads,
                       bool is_reconfigured)
    : session_(session),
      mode_(choice.mode),
      every_ns_(choice.every_ns),
      has_reads_(std::move(has_reads)),
      is_reconfigured_(is_reconfigured),
      service_(choice.mode == ReadsMode::kStreamed, choice.every_ns) {}

void ReadPolicy::BeginAt(uint64_t time_ns) {
  first_ns_ = now_ns_ = time_ns;
  if (mode_ == ReadsMode::kStreamed || mode_ == ReadsMode::kAuto) service_.Begin(time_ns);
}

Status ReadPolicy::BeforeTime(uint64_t time_ns) {
  now_ns_ = time_ns;
  if (mode_ == ReadsMode::kStreamed || mode_ == ReadsMode::kAuto)
    return service_.TakeDue(time_ns) ? OnFileRead() : Status{};
  if (mode_ != ReadsMode::kEvery || time_ns < first_ns_ || every_ns_ == 0) return {};
  // Several periods without a commit are read once: the first read took all there was.
  const uint64_t due = (time_ns - first_ns_) / every_ns_;
  if (due <= periods_read_) return {};
  periods_read_ = due;
  return ReadAll({}, Session::Reach::kFreed);
}

/// Returns true if reads for a file are assumed. For kAuto.
Result<bool> ReadPolicy::IsForFile() {
  if (for_file_) return *for_file_;
  bool for_file = !has_recorded_reads_ && service_.streams();
  if (has_reads_ && for_file) {
    RS_ASSIGN_OR_RETURN(const bool has_reads, has_reads_());
    for_file = !has_reads;
  }
  for_file_ = for_file;
  return for_file;
}

Status ReadPolicy::OnFileRead() {
  if (mode_ == ReadsMode::kStreamed) return ReadForFile(Session::Reach::kOpen);
  if (mode_ != ReadsMode::kAuto) return {};
  RS_ASSIGN_OR_RETURN(const bool for_file, IsForFile());
  return for_file ? ReadForFile(Session::Reach::kOpen) : Status{};
}

Status ReadPolicy::OnRecordedRead(const ReadPass& read) {
  used_.left_nothing.push_back(false);
  if (service_.AnswersNothing(read)) {
    ++used_.empty_reads;
    return {};
  }
  if (mode_ != ReadsMode::kRecorded && mode_ != ReadsMode::kAuto) return {};
  has_recorded_reads_ = true;
  if (for_file_ != true) return ReadRecorded(read);
  ++used_.left_out;
  return {};
}

Status ReadPolicy::AtEnd(bool is_plain) {
  const bool is_clone = session_.clone() != nullptr;
  RS_ASSIGN_OR_RETURN(const bool for_file,
                      mode_ == ReadsMode::kAuto ? IsForFile() : mode_ == ReadsMode::kStreamed);
  bool reads_all = mode_ == ReadsMode::kEnd || mode_ == ReadsMode::kEvery;
  if (for_file) {
    // A session that ended before the log was read at its end, for the last time.
    if (!is_clone && (service_.is_open() || !service_.streams()))
      RS_RETURN_IF_ERROR(ReadForFile(Session::Reach::kFreed));
  } else if (!is_clone && !is_plain) {
    RS_RETURN_IF_ERROR(FinishLastReads({}));
    reads_all |= mode_ == ReadsMode::kAuto && !has_recorded_reads_ && !is_consumer_gone_;
  }
  // Nothing was written to a buffer after it was freed: reading it now or then is the same.
  if (reads_all && !is_clone) RS_RETURN_IF_ERROR(ReadAll({}, Session::Reach::kFreed));
  // A clone is read by its holder; the session's own reads before it may be assumed.
  if (mode_ == ReadsMode::kAuto)
    used_.assumed = for_file || (!is_clone && !has_recorded_reads_ && passes_ > 0);
  if (!is_clone) return {};
  session_.BeginCloneReads();
  return mode_ == ReadsMode::kNone ? Status{} : ReadClone(*session_.clone());
}

ReadsUsed ReadPolicy::used() const {
  ReadsUsed used = used_;
  const bool for_file = mode_ == ReadsMode::kStreamed || for_file_ == true;
  used.mode = mode_;
  used.period_ns = for_file ? service_.period_ns() : every_ns_;
  used.alignment_assumed = for_file && !service_.knows_alignment();
  if (mode_ == ReadsMode::kAuto)
    used.mode = !used.assumed ? ReadsMode::kRecorded
                : for_file    ? ReadsMode::kStreamed
                              : ReadsMode::kEnd;
  if (used.mode != ReadsMode::kRecorded || is_reconfigured_ || session_.differs_from_log())
    used.left_nothing.clear();
  return used;
}

/// Makes one pass over all buffers. @return true if it reached its limit
Result<bool> ReadPolicy::Pass(std::optional<uint64_t> max_bytes, Session::Reach reach,
                              std::optional<uint64_t> session) {
  ++passes_;
  RS_ASSIGN_OR_RETURN(const bool at_limit, session_.ReadAllBuffers(max_bytes, reach, session));
  if (!at_limit && (reach == Session::Reach::kClone || service_.TakeStatistics(session, now_ns_)))
    session_.AddStatistics(reach, session);
  return at_limit;
}

/// Makes passes over all buffers until one does not reach its limit.
Status ReadPolicy::ReadAll(std::optional<uint64_t> pass_bytes, Session::Reach reach,
                           std::optional<uint64_t> session) {
  for (bool more = true; more;) {
    RS_ASSIGN_OR_RETURN(more, Pass(pass_bytes, reach, session));
  }
  return {};
}

/// Reads the clone that is replayed as its holder has; until nothing is left if that is not
/// recorded.
Status ReadPolicy::ReadClone(const CloneFacts& clone) {
  if (clone.passes.empty())
    return ReadAll(clone.is_in_file ? ServiceReads::kFilePassBytes : kClonePassBytes,
                   Session::Reach::kClone);
  for (const uint64_t max_bytes : clone.passes)
    RS_RETURN_IF_ERROR(Pass(max_bytes, Session::Reach::kClone, {}).map([](bool) {}));
  return {};
}

/// Reads where the log has a read pass. In other buffers than the recorded ones, a read that left
/// nothing there is continued until it leaves nothing here.
Status ReadPolicy::ReadRecorded(const ReadPass& read) {
  if (read.file_bytes) ++used_.seen_in_file;
  // For a file the service reads until nothing is left.
  if (read.reason == ReadReason::kFile && !read.buffer && !read.max_packets) {
    // A pass of no bytes would never end.
    const uint64_t pass_bytes =
        std::max<uint64_t>(read.max_bytes.value_or(ServiceReads::kFilePassBytes), 1);
    // The service's own packets are in the first pass, and at least one of the buffers' is read.
    const uint64_t own_bytes = std::min(read.own_bytes.value_or(0), pass_bytes - 1);
    RS_ASSIGN_OR_RETURN(const bool more,
                        Pass(pass_bytes - own_bytes, Session::Reach::kOpen, read.session));
    return more ? ReadAll(pass_bytes, Session::Reach::kOpen, read.session) : Status{};
  }
  if (read.buffer) {
    ++passes_;
    return session_.ReadBuffer(*read.buffer, {read.max_packets, read.max_bytes}).map([](bool) {});
  }
  RS_ASSIGN_OR_RETURN(const bool at_limit,
                      Pass(read.max_bytes, Session::Reach::kOpen, read.session));
  used_.left_nothing.back() = !at_limit;
  std::erase_if(limited_, [&](const ReadPass& other) { return other.session == read.session; });
  if (!at_limit || !(is_reconfigured_ || session_.differs_from_log())) return {};
  if (read.left_nothing == true) return Continue(read);
  limited_.push_back(read);
  return {};
}

Status ReadPolicy::Continue(const ReadPass& read) {
  const uint64_t before = passes_;
  RS_RETURN_IF_ERROR(ReadAll(read.max_bytes, Session::Reach::kOpen, read.session));
  used_.added_passes += passes_ - before;
  return {};
}

/// Continues a consumer's last read until nothing is left, as the service does. The log need not
/// show that end: its recording may be inexact, or cut off.
/// @param freed the buffer that is about to be freed; absent: the log ends
Status ReadPolicy::FinishLastReads(std::optional<BufferId> freed) {
  if (limited_.empty()) return {};
  std::optional<uint64_t> session;
  if (const auto* const buffer = freed ? FindIn(session_.buffers(), *freed) : nullptr)
    session = buffer->session;
  for (const ReadPass& read : std::exchange(limited_, {})) {
    if (freed && read.session && session && read.session != session) {
      limited_.push_back(read);
    } else if (!read.left_nothing || read.reason == ReadReason::kConsumer ||
               read.reason == ReadReason::kFinal) {
      used_.recorded_end_unknown |= read.left_nothing.has_value();
      RS_RETURN_IF_ERROR(Continue(read));
    }
  }
  return {};
}

std::string ReadsText(const ReadsUsed& used) {
  const bool is_like = used.mode == ReadsMode::kRecorded && !used.like.empty();
  const std::string text =
      is_like ? "like " + Printable(used.like.substr(used.like.rfind('/') + 1))
              : fmt::format(fmt::runtime(RowOf(used.mode).text), HumanDuration(used.period_ns));
  return text + (used.assumed ? " (assumed)" : "");
}

std::string ReadsName(const ReadsUsed& used) {
  return std::string(Name(used.mode)) + (used.assumed ? " (assumed)" : "");
}

std::string ReadsNotes(const ReadsUsed& used) {
  std::vector<std::string> notes;
  const auto add = [&notes]<typename... Arguments>(fmt::format_string<Arguments...> text,
                                                   Arguments&&... arguments) {
    notes.push_back(fmt::format(text, std::forward<Arguments>(arguments)...));
  };
  if (used.alignment_assumed)
    add("The log has no clock snapshot, so where the periods begin is assumed.");
  if (used.added_passes > 0)
    add("Reads were continued by {}, until nothing was left, as the service does{}",
        used.added_passes == 1 ? "1 pass" : WithCommas(used.added_passes) + " passes",
        used.recorded_end_unknown
            ? "; the log does not show that the recorded last read left nothing."
            : ": the recorded ones left nothing, either.");
  if (used.empty_reads > 0)
    add("{} returned nothing, as in the service, because the session is written into a file, is "
        "only cloned, or waits for a trigger.",
        Count(used.empty_reads, "consumer read"));
  if (used.seen_in_file > 0)
    add("{} {} seen by the recorder as the service's file grew.", Count(used.seen_in_file, "read"),
        Was(used.seen_in_file));
  if (used.exceeded_file_bytes > 0)
    add("The service ends its file within a read, before it has max_file_size_bytes ({}). The "
        "replay continues: which of its last packets are not in the file is not known.",
        Count(used.exceeded_file_bytes, "byte"));
  if (used.left_out > 0)
    add("{} of the log came after the first assumed one, and were left out: use --reads recorded.",
        Count(used.left_out, "read"));
  if (used.like_explained < used.like_packets)
    add("No choice of reads explains more than the first {} of {} of {}.",
        WithCommas(used.like_explained), Count(used.like_packets, "packet"), Printable(used.like));
  if (!used.not_applied.empty())
    add("No replay can apply these settings of the config: {}.", Joined(used.not_applied));
  return Joined(notes, " ");
}

}  // namespace ringscope
