#include "commands/shell/context.h"

#include <fmt/format.h>

#include "formats/io/tool_version.h"

namespace ringscope {

std::string ToolVersion() { return fmt::format("{} {}", kToolName, kToolVersion); }

}  // namespace ringscope
