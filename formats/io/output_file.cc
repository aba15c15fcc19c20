#include "formats/io/output_file.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <mutex>

#include "core/base/lookup.h"

namespace ringscope {
/// The name of a temporary file, noted before the file is made, so that no signal finds a file
/// without it.
struct OutputName {
  enum State : uint32_t { kFree, kNoted, kThere };

  std::atomic<uint32_t> state = kFree;
  char text[PATH_MAX] = {};
};

namespace {

constexpr mode_t kNewFileMode = 0666;  // less the umask

/// Returns what a user can do about a write that failed, or an empty text.
std::string WriteHint(int error) {
  if (error == ENOSPC || error == EDQUOT || error == EFBIG)
    return "free some space, or write to another file system";
  return error == EPIPE ? "the program that was to read the output has ended" : "";
}

/// Closes a file that was written. @return errors that the file system reports only now
Status CloseWritten(int fd, const std::string& path) {
  if (::close(fd) == 0 || errno == EINTR) return {};
  return SystemError("cannot finish writing", errno, path, WriteHint(errno));
}

tl::unexpected<Error> TemporaryError(const char* verb, const char* why,
                                     const TemporaryFileOptions& options) {
  const std::string in = options.path.empty() ? "" : " in " + options.folder;
  return Fail(ErrorCode::kIo, fmt::format("cannot {} {}{}: {}", verb, options.what, in, why),
              {options.path.empty() ? options.folder : options.path, {}, {}}, options.hint);
}

/// The run of this process, which has at most one, and what protects it and its members.
std::weak_ptr<RunFiles> current_run;
std::mutex run_mutex;

// The first lock is of the open file description: it excludes other descriptors of this process
// too. As it does not state who holds it, a traditional lock of the next byte does.
constexpr off_t kLockByte = off_t{1} << 62;
constexpr off_t kPidByte = kLockByte + 1;

struct flock ByteLock(short type, off_t byte) {
  struct flock lock {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = byte;
  lock.l_len = 1;
  return lock;
}

tl::unexpected<Error> LockedError(const std::string& by, const std::string& path) {
  return Fail(ErrorCode::kIo, "the file is " + by, {path, {}, {}},
              "choose another name, or stop that recorder first");
}

using OutputNames = std::array<OutputName, 256>;

/// Returns all names, in memory that a child process shares: its parent removes what it leaves.
OutputNames& AllNames() {
  static OutputNames* const names = [] {
    void* const memory = ::mmap(nullptr, sizeof(OutputNames), PROT_READ | PROT_WRITE,
                                MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    // Zeros are free names.
    return memory == MAP_FAILED ? new OutputNames : static_cast<OutputNames*>(memory);
  }();
  return *names;
}

/// @return nullptr if there are too many, or the name is too long
OutputName* NoteName(const std::string& text) {
  if (text.size() >= PATH_MAX) return nullptr;
  for (OutputName& name : AllNames()) {
    uint32_t state = OutputName::kFree;
    if (!name.state.compare_exchange_strong(state, OutputName::kNoted)) continue;
    text.copy(name.text, text.size());
    name.text[text.size()] = '\0';
    name.state = OutputName::kThere;
    return &name;
  }
  return nullptr;
}

extern "C" void RemovePendingFilesAndEnd(int signal) {
  RemovePendingFiles();
  // The handler is reset: the signal takes its default course when this returns.
  ::raise(signal);
}

/// Returns an error if `replace` does not allow to replace a file.
Status CheckReplace(const struct stat& info, const std::string& path, const OutputKind& kind,
                    Replace replace) {
  if (replace == Replace::kAny || info.st_size == 0) return {};
  if (kind.is_own != nullptr) {
    const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    std::array<uint8_t, kOwnBytes> start;
    const std::optional<size_t> got = ReadAllAt(file.get(), 0, start);
    if (got && kind.is_own(Bytes(start.data(), *got))) return {};
  }
  return Fail(
      ErrorCode::kUsage,
      kind.is_own == nullptr
          ? std::string("the file exists already")
          : fmt::format("the file exists already, and is not {} that ringscope wrote", kind.what),
      {path, {}, {}}, "choose another name, or replace it with --force");
}

}  // namespace

std::string TemporaryFolder() {
  const char* const folder = std::getenv("TMPDIR");
  return folder != nullptr && *folder != '\0' ? folder : "/tmp";
}

Result<std::shared_ptr<TemporaryFile>> TemporaryFile::Create(TemporaryFileOptions options) {
  std::string name = options.folder + "/.ringscope-XXXXXX";
  const int fd = ::mkostemp(name.data(), O_CLOEXEC);
  if (fd < 0) return TemporaryError("create", std::strerror(errno), options);
  ::unlink(name.c_str());
  return std::shared_ptr<TemporaryFile>(new TemporaryFile(fd, std::move(options)));
}

std::string TemporaryFile::OwnName() const { return fmt::format("/proc/self/fd/{}", fd_.get()); }

Status TemporaryFile::Write(Bytes bytes) {
  const WriteOutcome outcome = WriteAll(fd_.get(), bytes);
  size_ += outcome.written;
  if (outcome.error != 0) return TemporaryError("write", std::strerror(outcome.error), options_);
  return {};
}

Result<size_t> TemporaryFile::ReadAt(uint64_t offset, std::span<uint8_t> into) const {
  if (offset >= size_) return 0;
  into = into.first(static_cast<size_t>(std::min<uint64_t>(into.size(), size_ - offset)));
  const std::optional<size_t> got = ReadAllAt(fd_.get(), offset, into);
  if (!got) return TemporaryError("read", std::strerror(errno), options_);
  if (*got < into.size()) return TemporaryError("read", "it has become shorter", options_);
  return *got;
}

std::unique_ptr<ByteSource> OpenTemporary(std::shared_ptr<const TemporaryFile> file,
                                          std::string path) {
  const uint64_t size = file->size();
  return MakeSourceAt(
      [file = std::move(file)](uint64_t offset, std::span<uint8_t> into) {
        return file->ReadAt(offset, into);
      },
      size, std::move(path));
}

std::shared_ptr<RunFiles> RunFiles::Join() {
  const std::lock_guard lock(run_mutex);
  std::shared_ptr<RunFiles> run = current_run.lock();
  if (!run) current_run = run = std::make_shared<RunFiles>();
  return run;
}

void RunFiles::AddInput(const struct stat& info, const std::string& path) {
  const std::lock_guard lock(run_mutex);
  const std::shared_ptr<RunFiles> run = current_run.lock();
  if (run && S_ISREG(info.st_mode)) run->inputs_.try_emplace({info.st_dev, info.st_ino}, path);
}

void RunFiles::AddInput(const std::string& path) {
  struct stat info {};
  if (path == "-" ? ::fstat(STDIN_FILENO, &info) == 0 : ::stat(path.c_str(), &info) == 0)
    AddInput(info, path);
}

Status RunFiles::CheckOutput(const struct stat& info, const std::string& path) {
  const std::lock_guard lock(run_mutex);
  const std::shared_ptr<RunFiles> run = current_run.lock();
  const std::string* const read = run ? FindIn(run->inputs_, {info.st_dev, info.st_ino}) : nullptr;
  if (read == nullptr) return {};
  const std::string what = path == *read ? std::string("this file is")
                                         : fmt::format("this is the same file as {},",
                                                       *read == "-" ? "standard input" : *read);
  return Fail(ErrorCode::kUsage, what + " an input of the same command, and would be replaced",
              {path, {}, {}}, "give the output another name; nothing was written");
}

void RunFiles::SetCopy(const std::string& path, std::shared_ptr<const TemporaryFile> copy) {
  const std::lock_guard lock(run_mutex);
  if (const std::shared_ptr<RunFiles> run = current_run.lock())
    run->copies_[path] = std::move(copy);
}

std::shared_ptr<const TemporaryFile> RunFiles::CopyOf(const std::string& path) {
  const std::lock_guard lock(run_mutex);
  const std::shared_ptr<RunFiles> run = current_run.lock();
  const auto* const copy = run ? FindIn(run->copies_, path) : nullptr;
  return copy == nullptr ? nullptr : *copy;
}

Result<PendingFile> PendingFile::At(const std::string& path, const OutputKind& kind,
                                    Replace replace) {
  struct stat info {};
  const bool exists = ::stat(path.c_str(), &info) == 0;
  if (exists && !S_ISREG(info.st_mode)) {
    return Fail(ErrorCode::kIo,
                "this is not a regular file, and only a regular file can be replaced",
                {path, {}, {}}, "give the name of a file to write");
  }
  PendingFile pending;
  pending.path_ = path;
  std::error_code error;
  std::filesystem::path target = std::filesystem::weakly_canonical(path, error);
  if (error) target = path;
  pending.target_ = target.string();
  if (exists) RS_RETURN_IF_ERROR(RunFiles::CheckOutput(info, path));
  const std::string name = target.filename().string();
  target.replace_filename(fmt::format(".{}.tmp-{}", name, static_cast<long>(::getpid())));
  const std::string temporary = target.string();
  const auto is_this = [&](const OutputName& noted) {
    return noted.state == OutputName::kThere && temporary == noted.text;
  };
  if (std::ranges::any_of(AllNames(), is_this))
    return Fail(ErrorCode::kUsage, "two outputs of the command are this file", {path, {}, {}},
                "give each a file of its own; nothing was written");
  pending.temporary_.reset(NoteName(temporary));
  if (pending.temporary_ == nullptr)
    return Fail(ErrorCode::kLimit, "too many files are written at once", {path, {}, {}});
  if (exists) RS_RETURN_IF_ERROR(CheckReplace(info, path, kind, replace));
  const UniqueFd file(::open(pending.temporary_->text,
                             O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, kNewFileMode));
  if (!file.valid())
    return SystemError("cannot create", errno, path, "the folder must exist, and allow new files");
  // A file that is replaced keeps its permissions; where that is not allowed the new ones do.
  if (exists && ::fchmod(file.get(), info.st_mode & 07777) != 0) errno = 0;
  return pending;
}

std::string PendingFile::temporary() const { return temporary_->text; }

Status PendingFile::Commit() {
  struct stat info {};  // it may have become an input since
  if (::stat(target_.c_str(), &info) == 0) RS_RETURN_IF_ERROR(RunFiles::CheckOutput(info, path_));
  if (::rename(temporary_->text, target_.c_str()) != 0)
    return SystemError(fmt::format("cannot rename {} to its place", temporary()), errno, path_);
  temporary_.reset();
  return {};
}

void PendingFile::Discard::operator()(OutputName* name) const {
  ::unlink(name->text);
  name->state = OutputName::kFree;
}

void RemovePendingFiles() {
  for (const OutputName& name : AllNames())
    if (name.state == OutputName::kThere) ::unlink(name.text);
}

void RemovePendingFilesOnSignals() {
  AllNames();
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction action {};
    if (::sigaction(signal, nullptr, &action) != 0 || action.sa_handler == SIG_IGN) continue;
    action = {};
    action.sa_handler = RemovePendingFilesAndEnd;
    action.sa_flags = static_cast<int>(SA_RESETHAND);
    ::sigaction(signal, &action, nullptr);
  }
}

Result<std::unique_ptr<OutputFile>> OutputFile::Create(const std::string& path,
                                                       const OutputKind& kind, Replace replace) {
  struct stat info {};
  const bool exists = ::stat(path.c_str(), &info) == 0;
  if (exists && S_ISDIR(info.st_mode)) {
    return Fail(ErrorCode::kIo, "this is a folder, expected the name of a file to write",
                {path, {}, {}});
  }
  std::optional<PendingFile> pending;
  if (!exists || S_ISREG(info.st_mode)) {  // a device or a pipe must stay what it is
    RS_ASSIGN_OR_RETURN(pending, PendingFile::At(path, kind, replace));
  }
  const int fd =
      pending ? ::open(pending->temporary().c_str(), O_WRONLY | O_APPEND | O_NOFOLLOW | O_CLOEXEC)
              : ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (fd < 0) {
    return SystemError("cannot open for writing", errno, path,
                       errno == EACCES ? "check the file's permissions" : "");
  }
  return std::unique_ptr<OutputFile>(new OutputFile(fd, path, std::move(pending)));
}

Status OutputFile::Write(Bytes bytes) {
  const int error = WriteAll(fd_.get(), bytes).error;
  if (error != 0) return SystemError("cannot write", error, path_, WriteHint(error));
  return {};
}

Status OutputFile::Commit() {
  RS_RETURN_IF_ERROR(CloseWritten(fd_.Release(), path_));
  return pending_ ? pending_->Commit() : Status();
}

bool LockFile(int fd) {
  struct flock lock = ByteLock(F_WRLCK, kLockByte);
  if (::fcntl(fd, F_OFD_SETLK, &lock) != 0 && (errno == EAGAIN || errno == EACCES)) return false;
  // A file system without locks protects nothing, but can be written to.
  struct flock named = ByteLock(F_WRLCK, kPidByte);
  static_cast<void>(::fcntl(fd, F_SETLK, &named));
  return true;
}

std::optional<std::string> RecordedBy(const std::string& path) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file.valid()) return std::nullopt;
  struct flock lock = ByteLock(F_RDLCK, kLockByte);
  struct flock named = ByteLock(F_RDLCK, kPidByte);
  const bool is_locked = ::fcntl(file.get(), F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
  const bool is_named = ::fcntl(file.get(), F_GETLK, &named) == 0 && named.l_type != F_UNLCK;
  if (!is_locked) return std::nullopt;
  return is_named && named.l_pid > 0 ? fmt::format("being recorded by process {}", named.l_pid)
                                     : "being recorded by another process";
}

Result<std::unique_ptr<GrowingFile>> GrowingFile::Create(const std::string& path,
                                                         Existing existing) {
  struct stat info {};
  const bool exists = ::stat(path.c_str(), &info) == 0;
  const bool is_regular = !exists || S_ISREG(info.st_mode);
  if (exists && is_regular) RS_RETURN_IF_ERROR(RunFiles::CheckOutput(info, path));
  const bool may_exist = existing == Existing::kReplace || !is_regular;
  if (!may_exist && exists) {
    if (const auto by = RecordedBy(path)) return LockedError(*by, path);
    return Fail(ErrorCode::kUsage, "the file exists already", {path, {}, {}},
                "choose another name, or replace it with --force");
  }
  const int flags = O_WRONLY | O_CREAT | O_CLOEXEC | (may_exist ? 0 : O_EXCL);
  const int fd = ::open(path.c_str(), flags, kNewFileMode);
  if (fd < 0)
    return SystemError("cannot create", errno, path, "the folder must exist, and allow new files");
  std::unique_ptr<GrowingFile> file(new GrowingFile(fd, path));
  if (is_regular && !LockFile(fd))
    return LockedError(RecordedBy(path).value_or("being recorded by another process"), path);
  if (is_regular && ::ftruncate(fd, 0) != 0) return SystemError("cannot empty", errno, path);
  return file;
}

Status GrowingFile::Write(Bytes bytes) {
  constexpr size_t kPieceBytes = 64 * 1024;
  int error = 0;
  for (Bytes rest = bytes; error == 0 && !rest.empty(); pause_()) {
    const Bytes piece = rest.first(std::min(kPieceBytes, rest.size()));
    error = WriteAll(fd_.get(), piece).error;
    rest = rest.subspan(piece.size());
  }
  disk_was_full_ = error == ENOSPC || error == EDQUOT;
  if (error != 0) {
    // A file that cannot be cut, such as a pipe, ends with a part of it, which its readers detect.
    if (::ftruncate(fd_.get(), static_cast<off_t>(written_)) == 0)
      ::lseek(fd_.get(), static_cast<off_t>(written_), SEEK_SET);
    return SystemError("cannot write", error, path_, WriteHint(error));
  }
  written_ += bytes.size();
  return {};
}

Status GrowingFile::Close() { return fd_.valid() ? CloseWritten(fd_.Release(), path_) : Status(); }

}  // namespace ringscope
