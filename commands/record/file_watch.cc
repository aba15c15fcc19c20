#include "commands/record/file_watch.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "core/session/service_reads.h"

namespace ringscope {
namespace {

/// Between two writes of the same read, if the service confirms nothing meanwhile.
constexpr std::chrono::milliseconds kSameRead{80};
/// A read by the clock begins at a multiple of its period, or somewhat later. What is under way
/// shortly before should be confirmed by then.
constexpr std::chrono::milliseconds kBeforeDue{1};
constexpr std::chrono::milliseconds kAfterDue{4};

}  // namespace

std::optional<uint64_t> FileWatch::SizeOf(const File& file) {
  struct stat status = {};
  const int failed =
      file.fd.valid() ? ::fstat(file.fd.get(), &status) : ::stat(file.path.c_str(), &status);
  if (failed != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  return static_cast<uint64_t>(status.st_size);
}

void FileWatch::Arm(File& file, Clock::time_point now) {
  if (file.period.count() == 0) return;
  // The service counts its periods on CLOCK_MONOTONIC, which is this clock.
  const std::chrono::nanoseconds since_boot = now.time_since_epoch();
  file.due = now + (file.period - since_boot % file.period);
}

void FileWatch::Start(SessionId session, const Target& target, Clock::time_point now) {
  File watched;
  if (target.file >= 0) watched.fd = UniqueFd(::fcntl(target.file, F_DUPFD_CLOEXEC, 0));
  watched.path = target.path;
  watched.period = target.period;
  const std::optional<uint64_t> size = SizeOf(watched);
  // A file that has only a name so far is created by the service when it handles the request.
  if (!size && (watched.fd.valid() || !target.path.starts_with('/'))) return MarkUnknown(session);
  watched.size = size.value_or(0);
  Arm(watched, now);
  files_[session] = std::move(watched);
}

void FileWatch::MarkUnknown(SessionId session) {
  log_.MarkInexact(
      {.reason = InexactReason::kReads,
       .session = session,
       .detail = "its file cannot be watched: when the service read is not in the log"});
}

void FileWatch::Log(SessionId session, std::optional<uint64_t> size) {
  log_.Append(ReadPass{.max_bytes = ServiceReads::kFilePassBytes,
                       .reason = ReadReason::kFile,
                       .session = session,
                       .file_bytes = size});
}

void FileWatch::LookAt(SessionId session, File& file, Clock::time_point now) {
  if (file.period.count() > 0 && now > file.due + kAfterDue) Arm(file, now);
  const std::optional<uint64_t> size = SizeOf(file);
  if (!size || *size == file.size) return;
  file.size = *size;
  Arm(file, now + kBeforeDue);
  const bool is_new = !file.grown || now - *file.grown > kSameRead;
  file.grown = now;
  if (!is_new) return;
  file.read = ++reads_;
  Log(session, *size);
  if (under_way_ == UnderWay::kRequests) {
    log_.MarkInexact(
        {.reason = InexactReason::kReads,
         .session = session,
         .detail = "requests were under way when the service read for its file: they may have "
                   "been handled before or after"});
  }
}

void FileWatch::Look(Clock::time_point now) {
  for (auto& [session, file] : files_) LookAt(session, file, now);
}

void FileWatch::OnPassing(Clock::time_point now) {
  Look(now);
  under_way_ = UnderWay::kRequests;
}

void FileWatch::OnConfirmed(uint64_t reads, Clock::time_point now) {
  Look(now);
  under_way_ = UnderWay::kNothing;
  for (auto& [session, file] : files_)
    if (file.read <= reads) file.grown.reset();
}

bool FileWatch::IsDue(Clock::time_point now) const {
  for (const auto& [session, file] : files_)
    if (file.period.count() > 0 && now >= file.due - kBeforeDue && now <= file.due + kAfterDue)
      return true;
  return false;
}

std::optional<FileWatch::Clock::time_point> FileWatch::next_wait() const {
  std::optional<Clock::time_point> next;
  for (const auto& [session, file] : files_)
    if (file.period.count() > 0 && (!next || file.due - kBeforeDue < *next))
      next = file.due - kBeforeDue;
  return next;
}

void FileWatch::End(SessionId session, Clock::time_point now) {
  const auto found = files_.find(session);
  if (found == files_.end()) return;
  LookAt(session, found->second, now);
  if (!SizeOf(found->second)) MarkUnknown(session);  // a name that means nothing here
  files_.erase(found);
}

void FileWatch::Free(SessionId session) {
  const auto found = files_.find(session);
  if (found == files_.end()) return;
  if (SizeOf(found->second))
    Log(session, std::nullopt);
  else
    MarkUnknown(session);
  files_.erase(found);
}

}  // namespace ringscope
