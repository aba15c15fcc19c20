#include "cli/process_streams.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include "formats/io/descriptor_io.h"

namespace ringscope {

DescriptorStream::DescriptorStream(int descriptor, const char* name)
    : descriptor_(descriptor), name_(name), is_terminal_(isatty(descriptor) == 1) {}

Status DescriptorStream::Write(Bytes bytes) {
  const int error = WriteAll(descriptor_, bytes).error;
  if (error == 0) return {};
  if (error == EPIPE) reader_gone_ = true;
  return Fail(ErrorCode::kIo, fmt::format("cannot write to {}: {}", name_, strerror(error)));
}

size_t DescriptorStream::columns() const {
  winsize size = {};
  if (!is_terminal_ || ::ioctl(descriptor_, TIOCGWINSZ, &size) != 0) return 0;
  return size.ws_col;
}

void IgnoreFailedWrites() {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
}

bool NoColorIsSet() {
  const char* const value = std::getenv("NO_COLOR");
  return value != nullptr && *value != '\0';
}

}  // namespace ringscope
