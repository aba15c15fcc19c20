#ifndef RINGSCOPE_CORE_EXAMINE_REMEDY_TRIALS_H_
#define RINGSCOPE_CORE_EXAMINE_REMEDY_TRIALS_H_

#include <functional>
#include <string>
#include <vector>

#include "core/examine/remedies.h"
#include "core/sweep/sweep.h"

namespace ringscope {

/// The session's trace config, and how its changes are made.
struct RemedyConfig {
  TraceConfigFacts facts;
  /// Writes the config with the changes as text and reads that. @return a TraceConfig message
  std::function<Result<std::string>(const std::vector<ConfigChange>&)> with;
};

/// Replays the session with each remedy that a replay can try, as its config is printed, and notes
/// what comes out. Sizes become those to recommend where the smallest is known that overwrites
/// nothing, or that reaches back as far as it is to; those that would take too much memory stay
/// estimates. Remedies that bring nothing more into the trace are removed, and the others are
/// ordered by their effect, then by their price. Warns of those that cannot be tried.
/// @param own choices of the replay as it was; sizes and policies are those of `config`
Status TryRemedies(const SweepInput& input, const ReplayOptions& own, const RemedyConfig& config,
                   RemedyList& list);

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_EXAMINE_REMEDY_TRIALS_H_
