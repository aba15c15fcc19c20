#ifndef RINGSCOPE_COMMANDS_ENGINE_EXPLANATION_H_
#define RINGSCOPE_COMMANDS_ENGINE_EXPLANATION_H_

#include <string>

#include "commands/console.h"
#include "commands/json_output.h"

namespace ringscope {

/// Prints how an engine of the catalogue differs from the ones before and after it.
/// @param engine a full name, like "v2@55"
void PrintEngineExplanation(Console& console, const std::string& engine);
Json EngineExplanationJson(const std::string& engine);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_ENGINE_EXPLANATION_H_
