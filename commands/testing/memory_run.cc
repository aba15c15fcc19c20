#include "commands/testing/memory_run.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <sstream>

namespace ringscope {
namespace {

Result<ExitCode> ParseAndRun(const Command& command, std::vector<std::string> args,
                             Context& context) {
  CLI::App app;
  const Runner run = command.bind(app);
  std::reverse(args.begin(), args.end());  // CLI11 takes them last one first
  try {
    app.parse(std::move(args));
  } catch (const CLI::ParseError& error) {
    return Fail(ErrorCode::kUsage, error.what());
  }
  return run(context);
}

}  // namespace

Ran RunCommand(const Command& command, std::vector<std::string> args, const std::string& input,
               unsigned threads) {
  MemoryRun memory(input);
  memory.context.threads = threads;
  const Result<ExitCode> result = ParseAndRun(command, std::move(args), memory.context);
  Ran ran{.out = memory.Output(), .err = memory.err.text};
  if (result) {
    ran.code = *result;
  } else {
    ran.error = result.error().ToString();
    ran.error_code = result.error().code;
  }
  return ran;
}

std::string WithoutLineBreaks(const std::string& text) {
  std::istringstream words(text);
  std::string joined;
  for (std::string word; words >> word;) joined += (joined.empty() ? "" : " ") + word;
  return joined;
}

}  // namespace ringscope
