#include <gmock/gmock.h>

#include "commands/plugin/plugin_host.h"

// The main of test programs that use plug-ins: they are also the plug-ins' host.
int main(int argc, char** argv) {
  const std::vector<std::string> args(argv + (argc > 0 ? 1 : 0), argv + argc);
  if (const auto status = ringscope::RunAsPluginHost(args)) return *status;
  ::testing::InitGoogleMock(&argc, argv);
  return RUN_ALL_TESTS();
}
