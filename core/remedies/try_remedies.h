#ifndef RINGSCOPE_CORE_REMEDIES_TRY_REMEDIES_H_
#define RINGSCOPE_CORE_REMEDIES_TRY_REMEDIES_H_

#include <map>
#include <vector>

#include "core/remedies/remedies.h"
#include "core/sweep/sweep.h"

namespace ringscope {

/// Which remedies are worth passes over the session.
enum class RemediesTried : uint8_t {
  kSizesAndPeriods,  // a size for each buffer, a period for the session
  kAll,
};

/// The session as it was.
struct OwnReplay {
  ReplayOptions options;
  std::map<BufferId, LedgerTotals> totals;
};

/// Replays the session with each remedy that a replay can try, and notes what that shows. Sizes
/// become the smallest that overwrite nothing; those that would take too much memory stay
/// estimates. Remedies that a replay shows to be of no use are removed, and the others are ordered
/// by their effect.
/// @param keep_ns how far back each sequence is to reach; absent: nothing is to be overwritten
Status TryRemedies(const SweepInput& input, const OwnReplay& own, RemediesTried which,
                   std::optional<uint64_t> keep_ns, std::vector<Remedy>& remedies);

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_REMEDIES_TRY_REMEDIES_H_
