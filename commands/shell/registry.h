#ifndef RINGSCOPE_COMMANDS_SHELL_REGISTRY_H_
#define RINGSCOPE_COMMANDS_SHELL_REGISTRY_H_

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "commands/shell/command.h"

namespace ringscope {

/// All commands, in the order of the overview.
std::span<const Command> Commands();

/// Looks up a command, also a hidden one that shells and the build call.
/// @return nullptr if there is none of this name
const Command* FindCommand(std::string_view name);
std::vector<std::string> CommandNames();

/// The error for a name that is none: it suggests the nearest one.
Error UnknownCommand(std::string_view name);

/// Options that every command has, and that may precede it.
struct GlobalArgs {
  ConsoleOptions console;
  bool help = false;     // before a command
  bool version = false;  // before a command
};
void AddOptionsBeforeCommand(CLI::App& app, GlobalArgs& args);

/// A command with its options, ready to parse.
struct BoundCommand {
  std::unique_ptr<CLI::App> app;
  Runner run;
};
BoundCommand BindCommand(const Command& command, GlobalArgs& globals);

/// Completes the last of `words`: a command line without the tool's name, up to the cursor. Knows
/// the names of commands and options, and fixed values that stand alone. The last word may be
/// empty.
/// @return a line for each word that can replace the last one: the word, and after a tab its
///   description, if it has one; ":files" for names of files, too
std::vector<std::string> Complete(std::span<const std::string> words);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_SHELL_REGISTRY_H_
