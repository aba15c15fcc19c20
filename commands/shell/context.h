#ifndef RINGSCOPE_COMMANDS_SHELL_CONTEXT_H_
#define RINGSCOPE_COMMANDS_SHELL_CONTEXT_H_

#include <fmt/format.h>

#include <memory>
#include <string>

#include "commands/shell/console.h"
#include "formats/io/output_file.h"
#include "formats/io/tool_version.h"

namespace ringscope {

/// What a command runs in, besides its own options.
struct Context {
  Console& console;
  unsigned threads = 0;  // that it may use; 0: as many as there are cores
  /// What it reads and replaces, which must not be the same.
  std::shared_ptr<RunFiles> files = RunFiles::Join();
};

/// "ringscope 0.1.0"
inline std::string ToolVersion() { return fmt::format("{} {}", kToolName, kToolVersion); }

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_SHELL_CONTEXT_H_
