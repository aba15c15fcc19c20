#ifndef RINGSCOPE_COMMANDS_REGISTRY_H_
#define RINGSCOPE_COMMANDS_REGISTRY_H_

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "commands/command.h"

namespace ringscope {

/// All commands, in the order of the overview.
std::span<const Command> Commands();

/// nullptr: there is none of this name.
const Command* FindCommand(std::string_view name);
std::vector<std::string> CommandNames();

/// The error for a name that is none: it suggests the nearest one.
Error UnknownCommand(std::string_view name);

/// Options that every command has, and that may stand in front of it too.
struct GlobalArgs {
  ConsoleOptions console;
};
void AddGlobalOptions(CLI::App& app, GlobalArgs& args);

/// A command with its options, ready to parse.
struct BoundCommand {
  std::unique_ptr<CLI::App> app;
  Runner run;
};
BoundCommand BindCommand(const Command& command, GlobalArgs& globals);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_REGISTRY_H_
