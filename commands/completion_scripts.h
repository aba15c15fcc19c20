#ifndef RINGSCOPE_COMMANDS_COMPLETION_SCRIPTS_H_
#define RINGSCOPE_COMMANDS_COMPLETION_SCRIPTS_H_

#include <string>
#include <vector>

#include "commands/help_text.h"

namespace ringscope {

// Completion scripts, derived from the registry: each knows every command, option and fixed value.

std::string BashCompletions();
std::string ZshCompletions();
std::string FishCompletions();

/// What a value or an argument of this option can be; empty: anything, or a file.
std::vector<std::string> CompletionValues(const OptionInfo& option);
/// Whether it names a file.
bool TakesFile(const OptionInfo& option);
/// The first clause of a description.
std::string ShortDescription(const OptionInfo& option);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_COMPLETION_SCRIPTS_H_
