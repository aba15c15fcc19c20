#ifndef RINGSCOPE_COMMANDS_SHELL_CLI_FWD_H_
#define RINGSCOPE_COMMANDS_SHELL_CLI_FWD_H_

// CLI11's types, for headers: <CLI/CLI.hpp> takes seconds to compile wherever it is included.
namespace CLI {
class App;
class Option;
}  // namespace CLI

#endif  // RINGSCOPE_COMMANDS_SHELL_CLI_FWD_H_
