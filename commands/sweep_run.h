#ifndef RINGSCOPE_COMMANDS_SWEEP_RUN_H_
#define RINGSCOPE_COMMANDS_SWEEP_RUN_H_

#include <functional>
#include <memory>
#include <vector>

#include "commands/session_reader.h"
#include "core/sweep_result.h"

namespace ringscope {

/// A session's records, to be read once.
struct OpenedSession {
  std::shared_ptr<SessionReader> reader;  // stands at the session's first record
  std::unique_ptr<OpSource> rewritten;    // the reader's records, changed; may be absent

  OpSource& ops() { return rewritten ? *rewritten : *reader; }
};

/// Opens the session to sweep; called again where its records are needed again.
using OpenSession = std::function<Result<OpenedSession>()>;

/// Takes one session through many configurations at once: the log is decoded once, the
/// configurations are spread over the processor's cores.
/// @param find_engine resolves the engines that the configurations name
Result<SweepResult> RunSweep(Context& context, const OpenSession& open,
                             const std::vector<SweepConfig>& configs,
                             const EngineLookup& find_engine);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_SWEEP_RUN_H_
