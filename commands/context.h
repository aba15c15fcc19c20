#ifndef RINGSCOPE_COMMANDS_CONTEXT_H_
#define RINGSCOPE_COMMANDS_CONTEXT_H_

#include <string>

#include "commands/console.h"

namespace ringscope {

/// What a command runs in, besides its own options.
struct Context {
  Console& console;
};

/// "ringscope 0.1.0"
std::string ToolVersion();

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_CONTEXT_H_
