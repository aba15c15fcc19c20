#include "cli/process_streams.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

namespace ringscope {

DescriptorStream::DescriptorStream(int descriptor, const char* name)
    : descriptor_(descriptor), name_(name), is_terminal_(isatty(descriptor) == 1) {}

Status DescriptorStream::Write(Bytes bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(descriptor_, bytes.data(), bytes.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      if (errno == EPIPE) reader_gone_ = true;
      return Fail(ErrorCode::kIo, fmt::format("cannot write to {}: {}", name_, strerror(errno)));
    }
    bytes = bytes.subspan(static_cast<size_t>(written));
  }
  return {};
}

size_t DescriptorStream::columns() const {
  winsize size = {};
  if (!is_terminal_ || ::ioctl(descriptor_, TIOCGWINSZ, &size) != 0) return 0;
  return size.ws_col;
}

void IgnoreBrokenPipes() { std::signal(SIGPIPE, SIG_IGN); }

bool NoColorIsSet() {
  const char* const value = std::getenv("NO_COLOR");
  return value != nullptr && *value != '\0';
}

}  // namespace ringscope
