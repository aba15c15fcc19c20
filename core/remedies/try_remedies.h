#ifndef RINGSCOPE_CORE_REMEDIES_TRY_REMEDIES_H_
#define RINGSCOPE_CORE_REMEDIES_TRY_REMEDIES_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/remedies/remedies.h"
#include "core/sweep/sweep.h"

namespace ringscope {

/// The session's trace config, and how its changes are made.
struct RemedyConfig {
  TraceConfigFacts facts;
  /// Writes the config with the changes as text and reads that. @return a TraceConfig message
  std::function<Result<std::string>(const std::vector<ConfigChange>&)> with;
};

/// Replays the session with each remedy that a replay can try, as its config is printed, and with
/// all that go together, and notes what that shows. Sizes become the smallest that overwrite
/// nothing, or that reach back as far as they are to; those that would take too much memory stay
/// estimates. Remedies that a replay shows to be of no use are removed, and the others are ordered
/// by their effect, then by their price.
/// @param own choices of the replay as it was; sizes and policies are those of `config`
/// @param written packets of the session
Status TryRemedies(const SweepInput& input, const ReplayOptions& own, const RemedyConfig& config,
                   uint64_t written, RemedyList& list);

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_REMEDIES_TRY_REMEDIES_H_
