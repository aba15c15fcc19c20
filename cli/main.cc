#include <sys/mman.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "cli/app.h"
#include "cli/process_streams.h"
#include "core/engine/zeroed_storage.h"
#include "formats/io/byte_stream.h"
#include "formats/io/output_file.h"

int main(int argc, char** argv) {
  const std::vector<std::string> args(argv + (argc > 0 ? 1 : 0), argv + argc);
  ringscope::IgnoreFailedWrites();
  ringscope::large_pages_advice = [](void* begin, size_t bytes) {
    // Where the system has none, it fails, and nothing is lost by it.
    static_cast<void>(madvise(begin, bytes, MADV_HUGEPAGE));
  };
  ringscope::RemovePendingFilesOnSignals();
  ringscope::DescriptorStream out(STDOUT_FILENO, "standard output");
  ringscope::DescriptorStream err(STDERR_FILENO, "standard error");
  ringscope::Streams streams{.out = out,
                             .err = err,
                             .open_input = [] { return ringscope::OpenByteSource("-"); },
                             .no_color = ringscope::NoColorIsSet(),
                             .of_process = true};
  return ringscope::RunApp(args, streams);
}
