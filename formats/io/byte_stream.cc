#include "formats/io/byte_stream.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <utility>
#include <vector>

#include "formats/io/descriptor_io.h"

namespace ringscope {
namespace {

std::string OpenHint(int error) {
  switch (error) {
    case ENOENT:
      return "check the name; \"-\" reads standard input";
    case EACCES:
      return "check the file's permissions";
    default:
      return {};
  }
}

/// Owns a file descriptor, unless it is one of the standard ones.
class Descriptor {
 public:
  Descriptor(int fd, bool owned) : fd_(fd), owned_(owned) {}
  ~Descriptor() { Close(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int get() const { return fd_; }
  /// @return false with errno set if the file system reports a late error
  bool Close() {
    const int fd = std::exchange(fd_, -1);
    return fd < 0 || !owned_ || ::close(fd) == 0 || errno == EINTR;
  }

 private:
  int fd_;
  bool owned_;
};

class FileSource : public ByteSource {
 public:
  FileSource(int fd, bool owned, std::string path, std::optional<uint64_t> size)
      : descriptor_(fd, owned), path_(std::move(path)), size_(size) {}

  Result<size_t> Read(std::span<uint8_t> into) override {
    for (;;) {
      const ssize_t got = ::read(descriptor_.get(), into.data(), into.size());
      if (got >= 0) return static_cast<size_t>(got);
      if (errno != EINTR) return SystemError("cannot read", errno, path_);
    }
  }

  Result<size_t> ReadAt(uint64_t offset, std::span<uint8_t> into) override {
    const std::optional<size_t> got = ReadAllAt(descriptor_.get(), offset, into);
    if (!got) return SystemError("cannot read", errno, path_);
    return *got;
  }

  const std::string& path() const override { return path_; }
  std::optional<uint64_t> size() const override { return size_; }
  bool CanReadAt() const override { return size_.has_value(); }

 private:
  Descriptor descriptor_;
  std::string path_;
  std::optional<uint64_t> size_;
};

class MemorySource : public ByteSource {
 public:
  MemorySource(std::string bytes, std::string path)
      : bytes_(std::move(bytes)), path_(std::move(path)) {}

  Result<size_t> Read(std::span<uint8_t> into) override {
    const size_t count = CopyFrom(position_, into);
    position_ += count;
    return count;
  }
  Result<size_t> ReadAt(uint64_t offset, std::span<uint8_t> into) override {
    return CopyFrom(offset, into);
  }
  const std::string& path() const override { return path_; }
  std::optional<uint64_t> size() const override { return bytes_.size(); }
  bool CanReadAt() const override { return true; }

 private:
  size_t CopyFrom(uint64_t offset, std::span<uint8_t> into) const {
    if (offset >= bytes_.size()) return 0;
    return bytes_.copy(reinterpret_cast<char*>(into.data()), into.size(),
                       static_cast<size_t>(offset));
  }

  std::string bytes_;
  std::string path_;
  size_t position_ = 0;
};

class PrefixedSource : public ByteSource {
 public:
  PrefixedSource(std::string prefix, std::unique_ptr<ByteSource> rest)
      : prefix_(std::move(prefix)), rest_(std::move(rest)) {}

  Result<size_t> Read(std::span<uint8_t> into) override {
    if (used_ == prefix_.size()) return rest_->Read(into);
    const size_t count = prefix_.copy(reinterpret_cast<char*>(into.data()), into.size(), used_);
    used_ += count;
    return count;
  }
  Result<size_t> ReadAt(uint64_t offset, std::span<uint8_t> into) override {
    return rest_->ReadAt(offset, into);
  }
  const std::string& path() const override { return rest_->path(); }
  std::optional<uint64_t> size() const override { return rest_->size(); }
  bool CanReadAt() const override { return rest_->CanReadAt(); }

 private:
  std::string prefix_;
  size_t used_ = 0;
  std::unique_ptr<ByteSource> rest_;
};

/// Writes to a descriptor, and puts a regular file in its place at the end.
class DescriptorFile : public OutputFile {
 public:
  /// @param pending what Commit puts in its place; absent: written in place
  DescriptorFile(int fd, bool owned, std::string path, std::optional<PendingFile> pending = {})
      : descriptor_(fd, owned), path_(std::move(path)), pending_(std::move(pending)) {}

  Status Write(Bytes bytes) override {
    const int error = WriteAll(descriptor_.get(), bytes).error;
    if (error != 0) return SystemError("cannot write", error, path_, WriteHint(error));
    return {};
  }

  Status Commit() override {
    if (!descriptor_.Close()) {
      return SystemError("cannot finish writing", errno, path_, WriteHint(errno));
    }
    return pending_ ? pending_->Commit() : Status();
  }

  const std::string& path() const override { return path_; }

 private:
  Descriptor descriptor_;
  std::string path_;
  std::optional<PendingFile> pending_;
};

/// The file that a symbolic link leads to, so that a rename replaces that and not the link.
std::string ResolveLink(const std::string& path) {
  std::error_code error;
  const std::filesystem::path target = std::filesystem::weakly_canonical(path, error);
  return error ? path : target.string();
}

std::string TemporaryName(const std::string& target) {
  const std::filesystem::path path(target);
  const std::string name =
      fmt::format(".{}.tmp-{}", path.filename().string(), static_cast<long>(::getpid()));
  return (path.parent_path() / name).string();
}

}  // namespace

Result<size_t> ByteSource::ReadAt(uint64_t offset, std::span<uint8_t>) {
  return Fail(ErrorCode::kUsage, "this input can only be read from its start to its end",
              {path(), offset, {}});
}

Result<std::unique_ptr<ByteSource>> OpenByteSource(const std::string& path) {
  // Standard input is read as a stream even if it is a file: its position may be anywhere.
  if (path == "-") return std::make_unique<FileSource>(STDIN_FILENO, false, path, std::nullopt);

  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return SystemError("cannot open", errno, path, OpenHint(errno));
  struct stat info {};
  if (::fstat(fd, &info) != 0) {
    const int error = errno;
    ::close(fd);
    return SystemError("cannot get the status of", error, path);
  }
  if (S_ISDIR(info.st_mode)) {
    ::close(fd);
    return Fail(ErrorCode::kIo, "this is a folder, expected a file", {path, {}, {}});
  }
  std::optional<uint64_t> size;
  if (S_ISREG(info.st_mode)) size = static_cast<uint64_t>(info.st_size);
  return std::make_unique<FileSource>(fd, true, path, size);
}

std::unique_ptr<ByteSource> MakeMemorySource(std::string bytes, std::string path) {
  return std::make_unique<MemorySource>(std::move(bytes), std::move(path));
}

Result<PendingFile> PendingFile::At(const std::string& path) {
  struct stat info {};
  const bool exists = ::stat(path.c_str(), &info) == 0;
  if (exists && !S_ISREG(info.st_mode)) {
    return Fail(ErrorCode::kIo, "this is no regular file, and only one can be replaced",
                {path, {}, {}}, "give the name of a file to write");
  }
  PendingFile pending;
  pending.path_ = path;
  pending.target_ = ResolveLink(path);
  const std::string temporary = TemporaryName(pending.target_);
  const int fd = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC,
                        kNewFileMode);
  if (fd < 0) {
    return SystemError("cannot create", errno, path, "the folder must exist, and allow new files");
  }
  pending.temporary_ = temporary;
  // A file that is replaced keeps its permissions; where that is not allowed the new ones do.
  if (exists && ::fchmod(fd, info.st_mode & 07777) != 0) errno = 0;
  ::close(fd);
  return pending;
}

PendingFile& PendingFile::operator=(PendingFile&& other) noexcept {
  if (this == &other) return *this;
  Discard();
  path_ = std::move(other.path_);
  target_ = std::move(other.target_);
  temporary_ = std::exchange(other.temporary_, {});
  return *this;
}

Status PendingFile::Commit() {
  if (::rename(temporary_.c_str(), target_.c_str()) != 0)
    return SystemError(fmt::format("cannot rename {} to its place", temporary_), errno, path_);
  temporary_.clear();
  return {};
}

void PendingFile::Discard() {
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
  temporary_.clear();
}

std::unique_ptr<ByteSource> MakePrefixedSource(std::string prefix,
                                               std::unique_ptr<ByteSource> rest) {
  return std::make_unique<PrefixedSource>(std::move(prefix), std::move(rest));
}

size_t ReadBytesFor(const ByteSource& source) {
  constexpr uint64_t kLeast = 4096;  // a file's size need not be true
  const uint64_t size = source.size().value_or(kReadBytes);
  // With a byte more, the end shows without a larger buffer.
  return size < kReadBytes ? static_cast<size_t>(std::max(size + 1, kLeast)) : kReadBytes;
}

Status ReadFully(ByteSource& source, std::span<uint8_t> into, size_t& done) {
  done = 0;
  while (done < into.size()) {
    RS_ASSIGN_OR_RETURN(const size_t got, source.Read(into.subspan(done)));
    if (got == 0) break;
    done += got;
  }
  return {};
}

Result<std::string> ReadStart(ByteSource& source, size_t size) {
  std::string start(size, '\0');
  size_t done = 0;
  RS_RETURN_IF_ERROR(ReadFully(source, {reinterpret_cast<uint8_t*>(start.data()), size}, done));
  start.resize(done);
  return start;
}

Result<std::string> ReadAll(ByteSource& source, size_t max_bytes) {
  std::string all;
  std::vector<uint8_t> part(ReadBytesFor(source));
  while (true) {
    RS_ASSIGN_OR_RETURN(const size_t size, source.Read(part));
    if (size == 0) return all;
    all.append(reinterpret_cast<const char*>(part.data()), size);
    if (all.size() > max_bytes)
      return Fail(ErrorCode::kLimit, fmt::format("more than {} bytes", max_bytes),
                  {source.path(), {}, {}});
  }
}

Status ByteSink::Write(std::string_view text) {
  return Write(Bytes{reinterpret_cast<const uint8_t*>(text.data()), text.size()});
}

Status StringSink::Write(Bytes bytes) {
  text.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return {};
}

Result<std::unique_ptr<OutputFile>> OutputFile::Create(const std::string& path) {
  if (path == "-") return std::make_unique<DescriptorFile>(STDOUT_FILENO, false, path);

  struct stat info {};
  const bool exists = ::stat(path.c_str(), &info) == 0;
  if (exists && S_ISDIR(info.st_mode)) {
    return Fail(ErrorCode::kIo, "this is a folder, expected the name of a file to write",
                {path, {}, {}});
  }
  if (exists && !S_ISREG(info.st_mode)) {  // a device or a pipe: it must stay what it is
    const int fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (fd < 0) return SystemError("cannot open for writing", errno, path, OpenHint(errno));
    return std::make_unique<DescriptorFile>(fd, true, path);
  }

  RS_ASSIGN_OR_RETURN(PendingFile pending, PendingFile::At(path));
  const int fd = ::open(pending.temporary().c_str(), O_WRONLY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) return SystemError("cannot open for writing", errno, path);
  return std::make_unique<DescriptorFile>(fd, true, path, std::move(pending));
}

}  // namespace ringscope
