#ifndef RINGSCOPE_COMMANDS_SHELL_OUTPUT_H_
#define RINGSCOPE_COMMANDS_SHELL_OUTPUT_H_

#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>

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

/// Refuses names of other kinds of files than the one that is written.
/// @param what is written: "a page"; @param own what its names end with: ".html"
/// @return kUsage for names like "page.pdf"
Status CheckOutputName(const std::string& path, const char* what,
                       std::initializer_list<std::string_view> own);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_SHELL_OUTPUT_H_
