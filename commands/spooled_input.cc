#include "commands/spooled_input.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace ringscope {
namespace {

constexpr size_t kPiece = 256 * 1024;

tl::unexpected<Error> Failed(const char* what) {
  return Fail(ErrorCode::kIo,
              fmt::format("cannot {} a temporary copy of it: {}", what, std::strerror(errno)),
              {"-", {}, {}}, "set TMPDIR to a folder with room, or name a file instead of -");
}

/// Reads the temporary file from its start, under the name of standard input.
class SpoolSource : public ByteSource {
 public:
  explicit SpoolSource(int file) : file_(file) {}

  Result<size_t> Read(std::span<uint8_t> into) override {
    RS_ASSIGN_OR_RETURN(const size_t size, ReadAt(at_, into));
    at_ += size;
    return size;
  }
  const std::string& path() const override { return path_; }
  std::optional<uint64_t> size() const override {
    const off_t end = lseek(file_, 0, SEEK_END);
    if (end < 0) return std::nullopt;
    return static_cast<uint64_t>(end);
  }
  Result<size_t> ReadAt(uint64_t offset, std::span<uint8_t> into) override {
    while (true) {
      const ssize_t size = pread(file_, into.data(), into.size(), static_cast<off_t>(offset));
      if (size >= 0) return static_cast<size_t>(size);
      if (errno != EINTR) return Failed("read");
    }
  }
  bool CanReadAt() const override { return true; }

 private:
  const int file_;
  const std::string path_ = "-";
  uint64_t at_ = 0;
};

Status WriteAll(int file, const uint8_t* data, size_t size) {
  while (size > 0) {
    const ssize_t written = write(file, data, size);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return Failed("write");
    data += written;
    size -= static_cast<size_t>(written);
  }
  return {};
}

}  // namespace

SpooledInput::SpooledInput(Context& context, int file)
    : context_(context), file_(file), before_(context.console.streams().open_input) {
  context_.console.streams().open_input = [file]() -> Result<std::unique_ptr<ByteSource>> {
    return std::make_unique<SpoolSource>(file);
  };
}

SpooledInput::~SpooledInput() {
  context_.console.streams().open_input = before_;
  close(file_);
}

std::unique_ptr<SpooledInput> SpooledInput::Take(Context& context, int file) {
  return std::unique_ptr<SpooledInput>(new SpooledInput(context, file));
}

Result<std::unique_ptr<SpooledInput>> SpooledInput::Read(Context& context) {
  const auto& open_input = context.console.streams().open_input;
  RS_ASSIGN_OR_RETURN(const std::unique_ptr<ByteSource> input,
                      open_input ? open_input() : OpenByteSource("-"));
  const char* folder = std::getenv("TMPDIR");
  std::string name =
      fmt::format("{}/ringscope-XXXXXX", folder != nullptr && *folder != '\0' ? folder : "/tmp");
  const int file = mkstemp(name.data());
  if (file < 0) return Failed("make");
  unlink(name.c_str());  // goes away with its last user, however that ends
  std::unique_ptr<SpooledInput> spooled(new SpooledInput(context, file));
  std::vector<uint8_t> piece(kPiece);
  while (true) {
    RS_ASSIGN_OR_RETURN(const size_t size, input->Read(piece));
    if (size == 0) return spooled;
    RS_RETURN_IF_ERROR(WriteAll(file, piece.data(), size));
  }
}

}  // namespace ringscope
