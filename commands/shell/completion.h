#ifndef RINGSCOPE_COMMANDS_SHELL_COMPLETION_H_
#define RINGSCOPE_COMMANDS_SHELL_COMPLETION_H_

#include <span>
#include <string>
#include <vector>

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

/// Completes the last of `words`: a command line without the tool's name, up to the cursor. Knows
/// the names of commands and options, and fixed values that stand alone. The last word may be
/// empty.
Completion Complete(std::span<const std::string> words);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_SHELL_COMPLETION_H_
