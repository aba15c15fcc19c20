#include "formats/io/output_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "formats/io/descriptor_io.h"

namespace ringscope {
namespace {

tl::unexpected<Error> TemporaryError(const char* verb, const char* why,
                                     const TemporaryFileOptions& options) {
  const std::string in = options.path.empty() ? "" : " in " + options.folder;
  return Fail(ErrorCode::kIo, fmt::format("cannot {} {}{}: {}", verb, options.what, in, why),
              {options.path.empty() ? options.folder : options.path, {}, {}}, options.hint);
}

std::weak_ptr<RunFiles> current_run;
std::mutex current_mutex;

/// Returns the run of this process, which has at most one, or nullptr.
std::shared_ptr<RunFiles> CurrentRun() {
  const std::lock_guard lock(current_mutex);
  return current_run.lock();
}

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

TemporaryFile::~TemporaryFile() { ::close(fd_); }

std::string TemporaryFile::OwnName() const { return fmt::format("/proc/self/fd/{}", fd_); }

Status TemporaryFile::Write(Bytes bytes) {
  const WriteOutcome outcome = WriteAll(fd_, bytes);
  size_ += outcome.written;
  if (outcome.error != 0) return TemporaryError("write", std::strerror(outcome.error), options_);
  return {};
}

Result<size_t> TemporaryFile::ReadAt(uint64_t offset, std::span<uint8_t> into) const {
  if (offset >= size_) return 0;
  into = into.first(static_cast<size_t>(std::min<uint64_t>(into.size(), size_ - offset)));
  const std::optional<size_t> got = ReadAllAt(fd_, offset, into);
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
  const std::lock_guard lock(current_mutex);
  std::shared_ptr<RunFiles> run = current_run.lock();
  if (!run) current_run = run = std::make_shared<RunFiles>();
  return run;
}

void RunFiles::AddInput(const struct stat& info, const std::string& path) {
  const std::shared_ptr<RunFiles> run = CurrentRun();
  if (!run || !S_ISREG(info.st_mode)) return;
  const std::lock_guard lock(run->mutex_);
  run->inputs_.try_emplace({info.st_dev, info.st_ino}, path);
}

void RunFiles::AddInput(const std::string& path) {
  struct stat info {};
  if (path == "-" ? ::fstat(STDIN_FILENO, &info) == 0 : ::stat(path.c_str(), &info) == 0)
    AddInput(info, path);
}

Status RunFiles::CheckOutput(const struct stat& info, const std::string& path) {
  const std::shared_ptr<RunFiles> run = CurrentRun();
  if (!run) return {};
  const std::lock_guard lock(run->mutex_);
  const auto input = run->inputs_.find({info.st_dev, info.st_ino});
  if (input == run->inputs_.end()) return {};
  const std::string& read = input->second;
  const std::string what = path == read ? std::string("this file is")
                                        : fmt::format("this is the same file as {},",
                                                      read == "-" ? "standard input" : read);
  return Fail(ErrorCode::kUsage, what + " an input of the same command, and would be replaced",
              {path, {}, {}}, "give the output another name; nothing was written");
}

void RunFiles::SetCopy(const std::string& path, std::shared_ptr<const TemporaryFile> copy) {
  const std::shared_ptr<RunFiles> run = CurrentRun();
  if (!run) return;
  const std::lock_guard lock(run->mutex_);
  run->copies_[path] = std::move(copy);
}

std::shared_ptr<const TemporaryFile> RunFiles::CopyOf(const std::string& path) {
  const std::shared_ptr<RunFiles> run = CurrentRun();
  if (!run) return nullptr;
  const std::lock_guard lock(run->mutex_);
  const auto copy = run->copies_.find(path);
  return copy == run->copies_.end() ? nullptr : copy->second;
}

/// The name of a temporary file, noted before the file is made, so that no signal finds a file
/// without it.
struct OutputName {
  enum State : uint32_t { kFree, kNoted, kThere };

  std::atomic<uint32_t> state = kFree;
  char text[PATH_MAX] = {};
};

namespace {

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

bool IsNoted(const std::string& text) {
  return std::ranges::any_of(AllNames(), [&](const OutputName& name) {
    return name.state == OutputName::kThere && text == name.text;
  });
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

/// Writes to a descriptor, and puts a regular file in its place at the end.
class DescriptorFile : public OutputFile {
 public:
  /// @param fd closed @param pending of a file that is not written in place
  DescriptorFile(int fd, std::string path, std::optional<PendingFile> pending = {})
      : fd_(fd), path_(std::move(path)), pending_(std::move(pending)) {}
  ~DescriptorFile() override {
    if (fd_ >= 0) ::close(fd_);
  }

  Status Write(Bytes bytes) override {
    const int error = WriteAll(fd_, bytes).error;
    if (error != 0) return SystemError("cannot write", error, path_, WriteHint(error));
    return {};
  }
  Status Commit() override {
    RS_RETURN_IF_ERROR(CloseWritten(std::exchange(fd_, -1), path_));
    return pending_ ? pending_->Commit() : Status();
  }
  std::string written_to() const override { return pending_ ? pending_->temporary() : ""; }
  const std::string& path() const override { return path_; }

 private:
  int fd_;
  const std::string path_;
  std::optional<PendingFile> pending_;
};

/// Returns the file that a symbolic link leads to, so that a rename replaces that and not the link.
std::string ResolveLink(const std::string& path) {
  std::error_code error;
  const std::filesystem::path target = std::filesystem::weakly_canonical(path, error);
  return error ? path : target.string();
}

std::string TemporaryName(const std::filesystem::path& target) {
  return (target.parent_path() /
          fmt::format(".{}.tmp-{}", target.filename().string(), static_cast<long>(::getpid())))
      .string();
}

/// Returns true if a file shows that ringscope wrote it as this kind of output.
bool IsOwn(const std::string& path, const OutputKind& kind) {
  if (kind.is_own == nullptr) return false;
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  std::array<uint8_t, kOwnBytes> start;
  const std::optional<size_t> got = ReadAllAt(fd, 0, start);
  ::close(fd);
  return got && kind.is_own(Bytes(start.data(), *got));
}

Status CheckReplace(const struct stat& info, const std::string& path, const OutputKind& kind,
                    Replace replace) {
  if (replace == Replace::kAny || info.st_size == 0 || IsOwn(path, kind)) return {};
  return Fail(
      ErrorCode::kUsage,
      kind.is_own == nullptr
          ? std::string("the file exists already")
          : fmt::format("the file exists already, and is not {} that ringscope wrote", kind.what),
      {path, {}, {}}, "choose another name, or replace it with --force");
}

}  // namespace

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
  pending.target_ = ResolveLink(path);
  if (exists) RS_RETURN_IF_ERROR(RunFiles::CheckOutput(info, path));
  const std::string temporary = TemporaryName(pending.target_);
  if (IsNoted(temporary))
    return Fail(ErrorCode::kUsage, "two outputs of the command are this file", {path, {}, {}},
                "give each a file of its own; nothing was written");
  pending.temporary_.reset(NoteName(temporary));
  if (pending.temporary_ == nullptr)
    return Fail(ErrorCode::kLimit, "too many files are written at once", {path, {}, {}});
  if (exists) RS_RETURN_IF_ERROR(CheckReplace(info, path, kind, replace));
  const int fd = ::open(pending.temporary_->text,
                        O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, kNewFileMode);
  if (fd < 0) {
    return SystemError("cannot create", errno, path, "the folder must exist, and allow new files");
  }
  // A file that is replaced keeps its permissions; where that is not allowed the new ones do.
  if (exists && ::fchmod(fd, info.st_mode & 07777) != 0) errno = 0;
  ::close(fd);
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
  if (exists && !S_ISREG(info.st_mode)) {  // a device or a pipe: it must stay what it is
    const int fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (fd < 0) {
      return SystemError("cannot open for writing", errno, path,
                         errno == EACCES ? "check the file's permissions" : "");
    }
    return std::make_unique<DescriptorFile>(fd, path);
  }

  RS_ASSIGN_OR_RETURN(PendingFile pending, PendingFile::At(path, kind, replace));
  const int fd = ::open(pending.temporary().c_str(), O_WRONLY | O_APPEND | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) return SystemError("cannot open for writing", errno, path);
  return std::make_unique<DescriptorFile>(fd, path, std::move(pending));
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
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return std::nullopt;
  struct flock lock = ByteLock(F_RDLCK, kLockByte);
  struct flock named = ByteLock(F_RDLCK, kPidByte);
  const bool is_locked = ::fcntl(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
  const bool is_named = ::fcntl(fd, F_GETLK, &named) == 0 && named.l_type != F_UNLCK;
  ::close(fd);
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

GrowingFile::~GrowingFile() {
  if (fd_ >= 0) ::close(fd_);
}

Status GrowingFile::Write(Bytes bytes) {
  constexpr size_t kPieceBytes = 64 * 1024;
  int error = 0;
  for (Bytes rest = bytes; error == 0 && !rest.empty(); pause_()) {
    const Bytes piece = rest.first(std::min(kPieceBytes, rest.size()));
    error = WriteAll(fd_, piece).error;
    rest = rest.subspan(piece.size());
  }
  disk_was_full_ = error == ENOSPC || error == EDQUOT;
  if (error != 0) {
    // A file that cannot be cut, such as a pipe, ends with a part of it, which its readers detect.
    if (::ftruncate(fd_, static_cast<off_t>(written_)) == 0)
      ::lseek(fd_, static_cast<off_t>(written_), SEEK_SET);
    return SystemError("cannot write", error, path_, WriteHint(error));
  }
  written_ += bytes.size();
  return {};
}

Status GrowingFile::Close() {
  return fd_ < 0 ? Status() : CloseWritten(std::exchange(fd_, -1), path_);
}

}  // namespace ringscope
