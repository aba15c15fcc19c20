#ifndef RINGSCOPE_COMMANDS_ADVISE_ADVISE_INPUT_H_
#define RINGSCOPE_COMMANDS_ADVISE_ADVISE_INPUT_H_

#include <memory>
#include <string>

#include "commands/shell/context.h"
#include "commands/shell/exit_code.h"
#include "commands/shell/spooled_input.h"

namespace ringscope {

/// A log, a log made of a Perfetto trace, or standard input, so that it can be read several times.
struct AdviseInput {
  std::string path;       // to be opened: the log's, or "-" for what is kept in a temporary file
  std::string name;       // as the user calls it
  bool is_trace = false;  // the log was made of a trace: it lacks what the trace lost
  ExitCode code = ExitCode::kClean;  // kNotice: some of the trace could not be read
  std::unique_ptr<SpooledInput> standard_input;
  std::unique_ptr<SpooledInput> imported;  // destroyed before standard_input
};

/// @param path "-": standard input
Result<AdviseInput> OpenAdviseInput(Context& context, const std::string& path);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_ADVISE_ADVISE_INPUT_H_
