#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <vector>

#include "cli/app.h"
#include "core/engine/payload_store.h"
#include "formats/io/output_file.h"

namespace ringscope {
namespace {

/// A descriptor of this process as an end that text goes to. Not owned.
class DescriptorStream : public OutputStream {
 public:
  /// @param name for messages: "standard output"
  DescriptorStream(int descriptor, const char* name)
      : descriptor_(descriptor), name_(name), is_terminal_(isatty(descriptor) == 1) {}
  using ByteSink::Write;
  Status Write(Bytes bytes) override {
    const int error = WriteAll(descriptor_, bytes).error;
    if (error == 0) return {};
    if (error == EPIPE) reader_gone_ = true;
    return SystemError(std::string("cannot write to ") + name_, error, "");
  }
  bool is_terminal() const override { return is_terminal_; }
  size_t columns() const override {
    winsize size = {};
    if (!is_terminal_ || ::ioctl(descriptor_, TIOCGWINSZ, &size) != 0) return 0;
    return size.ws_col;
  }
  bool reader_gone() const override { return reader_gone_; }

 private:
  const int descriptor_;
  const char* const name_;
  const bool is_terminal_;
  bool reader_gone_ = false;
};

}  // namespace
}  // namespace ringscope

int main(int argc, char** argv) {
  const std::vector<std::string> args(argv + (argc > 0 ? 1 : 0), argv + argc);
  // A closed pipe, and a file at its size limit, are errors of the write, not the process' death.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  ringscope::large_pages_advice = [](void* begin, size_t bytes) {
    // Where the system has none, it fails, and nothing is lost by it.
    static_cast<void>(madvise(begin, bytes, MADV_HUGEPAGE));
  };
  ringscope::RemovePendingFilesOnSignals();
  ringscope::DescriptorStream out(STDOUT_FILENO, "standard output");
  ringscope::DescriptorStream err(STDERR_FILENO, "standard error");
  const char* const no_color = std::getenv("NO_COLOR");
  ringscope::Streams streams{.out = out,
                             .err = err,
                             .open_input = [] { return ringscope::OpenByteSource("-"); },
                             .no_color = no_color != nullptr && *no_color != '\0',
                             .of_process = true};
  return ringscope::RunApp(args, streams);
}
