#include "formats/io/temporary_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "formats/io/descriptor_io.h"

namespace ringscope {
namespace {

tl::unexpected<Error> TemporaryError(const char* verb, const char* why,
                                     const TemporaryFileOptions& options) {
  const std::string in = options.path.empty() ? "" : " in " + options.folder;
  return Fail(ErrorCode::kIo, fmt::format("cannot {} {}{}: {}", verb, options.what, in, why),
              {options.path.empty() ? options.folder : options.path, {}, {}}, options.hint);
}

}  // namespace

std::string TemporaryFolder(std::string otherwise) {
  const char* const folder = std::getenv("TMPDIR");
  return folder != nullptr && *folder != '\0' ? folder : std::move(otherwise);
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

}  // namespace ringscope
