#include "commands/tap/file_watch.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "core/session/service_reads.h"

namespace ringscope::record {
namespace {

/// Between two writes of the same read.
constexpr std::chrono::milliseconds kSameRead{20};

}  // namespace

std::optional<uint64_t> FileWatch::SizeOf(const File& file) {
  struct stat status = {};
  const int failed = file.fd.valid() ? ::fstat(file.fd.get(), &status)
                                     : ::stat(file.path.c_str(), &status);
  if (failed != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  return static_cast<uint64_t>(status.st_size);
}

bool FileWatch::Start(SessionId session, int file, const std::string& path) {
  File watched;
  if (file >= 0) watched.fd = UniqueFd(::fcntl(file, F_DUPFD_CLOEXEC, 0));
  watched.path = path;
  const std::optional<uint64_t> size = SizeOf(watched);
  // A file that has only a name so far is created by the service when it handles the request.
  if (!size && (watched.fd.valid() || path.empty())) return false;
  watched.size = size.value_or(0);
  files_[session] = std::move(watched);
  return true;
}

void FileWatch::LookAt(SessionId session, File& file, Clock::time_point now) {
  const std::optional<uint64_t> size = SizeOf(file);
  if (!size || *size == file.size) return;
  file.size = *size;
  const bool is_new = !file.grown || now - *file.grown > kSameRead;
  file.grown = now;
  if (!is_new) return;
  ReadPass read;
  read.max_bytes = ServiceReads::kFilePassBytes;
  read.reason = ReadReason::kFile;
  read.session = session;
  read.file_bytes = *size;
  log_(read);
}

void FileWatch::Look(Clock::time_point now) {
  for (auto& [session, file] : files_) LookAt(session, file, now);
}

void FileWatch::End(SessionId session, Clock::time_point now) {
  const auto found = files_.find(session);
  if (found == files_.end()) return;
  LookAt(session, found->second, now);
  files_.erase(found);
}

}  // namespace ringscope::record
