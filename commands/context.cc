#include "commands/context.h"

#include <fmt/format.h>

#include "formats/tool_version.h"

namespace ringscope {

std::string ToolVersion() { return fmt::format("{} {}", kToolName, kToolVersion); }

}  // namespace ringscope
