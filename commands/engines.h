#ifndef RINGSCOPE_COMMANDS_ENGINES_H_
#define RINGSCOPE_COMMANDS_ENGINES_H_

#include <string>

#include "commands/command.h"

namespace ringscope {

struct EnginesArgs {
  std::string format;
};

/// Lists the buffer versions of the catalogue.
Result<ExitCode> RunEngines(const EnginesArgs& args, Context& context);
Command EnginesCommand();

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_ENGINES_H_
