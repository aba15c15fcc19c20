#ifndef RINGSCOPE_CORE_LOG_VERDICT_H_
#define RINGSCOPE_CORE_LOG_VERDICT_H_

#include <algorithm>
#include <cstdint>
#include <set>
#include <vector>

#include "core/log/op.h"

namespace ringscope {

/// Returns true if producers took part that the recorder did not see.
inline bool LacksProducers(const std::vector<RecordingVerdict>& verdicts) {
  return std::ranges::any_of(verdicts, [](const RecordingVerdict& verdict) {
    return verdict.reason == InexactReason::kProducers && verdict.times > 0;
  });
}

/// Gathers from the records of a recording in what it is not exact. Memory: bounded.
class VerdictBuilder {
 public:
  /// @return true if Verdicts may have changed
  bool Add(const OpBody& body);
  /// Notes that parts of the recording were removed.
  void AddRemovedParts(uint64_t parts);
  /// Returns the verdicts so far, by reason and session. Without any the recording is exact.
  const std::vector<RecordingVerdict>& Verdicts() const { return seen_.verdicts; }
  /// Returns the last record of a recording that ends now.
  RecordingEnded Ended(RecordingEnding ending) const;

 private:
  RecordingEnded seen_;      // its counts, and the verdicts so far
  std::set<uint64_t> live_;  // sessions that have not ended
  bool has_config_ = false;  // of a consumer's
  bool has_source_ = false;  // that a producer was asked to set up
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_LOG_VERDICT_H_
