#include <unistd.h>

#include <string>
#include <vector>

#include "cli/app.h"
#include "cli/process_streams.h"
#include "commands/plugin/plugin_host.h"
#include "formats/io/byte_stream.h"
#include "formats/io/output_file.h"

int main(int argc, char** argv) {
  const std::vector<std::string> args(argv + (argc > 0 ? 1 : 0), argv + argc);
  if (const auto status = ringscope::RunAsPluginHost(args)) return *status;
  ringscope::IgnoreFailedWrites();
  ringscope::RemovePendingFilesOnSignals();
  ringscope::DescriptorStream out(STDOUT_FILENO, "standard output");
  ringscope::DescriptorStream err(STDERR_FILENO, "standard error");
  ringscope::Streams streams{out, err, [] { return ringscope::OpenByteSource("-"); },
                             ringscope::NoColorIsSet()};
  return ringscope::RunApp(args, streams);
}
