#ifndef RINGSCOPE_COMMANDS_SHELL_OUTPUT_H_
#define RINGSCOPE_COMMANDS_SHELL_OUTPUT_H_

#include <memory>
#include <string>

#include "commands/shell/context.h"
#include "formats/io/output_file.h"

namespace ringscope {

/// What a command would print, as text or JSON.
inline constexpr OutputKind kReportOutput = {"a report", true};

/// A file that appears once it is whole, or for "-" the run's standard output, which is no terminal
/// if the output is not text.
/// @param force it may replace any file but an input; else see Replace::kOwn
Result<std::unique_ptr<OutputFile>> CreateOutput(Context& context, const std::string& path,
                                                 const OutputKind& kind, bool force);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_SHELL_OUTPUT_H_
