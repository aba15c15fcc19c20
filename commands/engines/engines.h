#ifndef RINGSCOPE_COMMANDS_ENGINES_ENGINES_H_
#define RINGSCOPE_COMMANDS_ENGINES_ENGINES_H_

#include <string>
#include <vector>

#include "commands/shell/command.h"

namespace ringscope {

struct EnginesArgs {
  std::string format;
  std::string explain;               // an engine to explain; empty: none
  std::vector<std::string> plugins;  // to show in the catalogue's place
};

/// Lists the buffer versions of the catalogue, or what plug-ins say of themselves, or explains how
/// an engine differs from its neighbours.
Result<ExitCode> RunEngines(const EnginesArgs& args, Context& context);
Command EnginesCommand();

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_ENGINES_ENGINES_H_
