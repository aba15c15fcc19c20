#ifndef RINGSCOPE_COMMANDS_SHELL_REGISTRY_H_
#define RINGSCOPE_COMMANDS_SHELL_REGISTRY_H_

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
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

/// Each exit status of a command with its meaning.
std::vector<std::pair<int, const char*>> MeaningsOf(const Command& command);

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

/// A word that can replace the one that is being typed.
struct Candidate {
  std::string word;
  std::string description;  // may be empty
};

/// Words that can follow on a command line.
struct Completion {
  std::vector<Candidate> candidates;
  bool files = false;  // names of files, too
};

/// Completes the last of `words`: a command line without the tool's name, up to the cursor. Knows
/// the names of commands and options, and fixed values that stand alone. The last word may be
/// empty.
Completion Complete(std::span<const std::string> words);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_SHELL_REGISTRY_H_
