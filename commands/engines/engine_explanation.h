#ifndef RINGSCOPE_COMMANDS_ENGINES_ENGINE_EXPLANATION_H_
#define RINGSCOPE_COMMANDS_ENGINES_ENGINE_EXPLANATION_H_

#include <string>

#include "commands/shell/console.h"
#include "commands/shell/exit_code.h"

namespace ringscope {

/// Reports how an engine of the catalogue differs from the ones before and after it.
/// @param engine a full name, like "v2@55"
Result<ExitCode> ExplainEngine(const std::string& engine, const std::string& format,
                               Console& console);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_ENGINES_ENGINE_EXPLANATION_H_
