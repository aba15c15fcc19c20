#include <unistd.h>

#include <string>
#include <vector>

#include "cli/app.h"
#include "cli/process_streams.h"
#include "formats/io/byte_stream.h"
#include "formats/io/output_file.h"

int main(int argc, char** argv) {
  ringscope::IgnoreFailedWrites();
  ringscope::RemovePendingFilesOnSignals();
  ringscope::DescriptorStream out(STDOUT_FILENO, "standard output");
  ringscope::DescriptorStream err(STDERR_FILENO, "standard error");
  ringscope::Streams streams{out, err, [] { return ringscope::OpenByteSource("-"); },
                             ringscope::NoColorIsSet()};
  const std::vector<std::string> args(argv + (argc > 0 ? 1 : 0), argv + argc);
  return ringscope::RunApp(args, streams);
}
