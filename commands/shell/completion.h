#ifndef RINGSCOPE_COMMANDS_SHELL_COMPLETION_H_
#define RINGSCOPE_COMMANDS_SHELL_COMPLETION_H_

#include <span>
#include <string>
#include <vector>

#include "commands/shell/help.h"

namespace ringscope {

/// A word that can replace the one that is being typed.
struct Candidate {
  std::string word;
  std::string description;  // may be empty
};

/// What can follow on a command line.
struct Completion {
  std::vector<Candidate> candidates;
  bool files = false;  // names of files, too
};

/// Completes the last of `words`: a command line without the tool's name, up to the cursor. The
/// last word may be empty.
Completion Complete(std::span<const std::string> words);

/// The fixed values of an option or argument: choices, names of engines, commands or kinds. Empty:
/// there are none.
std::vector<std::string> FixedValues(const OptionInfo& option);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_SHELL_COMPLETION_H_
