#ifndef RINGSCOPE_FORMATS_INPUTS_DAMAGE_GAPS_H_
#define RINGSCOPE_FORMATS_INPUTS_DAMAGE_GAPS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/log/op.h"
#include "formats/io/log_source.h"

namespace ringscope {

/// Follows a log that is being read and states its damage as gaps of the recording, so that nobody
/// takes what cannot be read for something that did not happen.
class DamageGaps {
 public:
  /// @param where begins each gap's reason: "damage in the log"; the damage itself follows
  explicit DamageGaps(std::string where) : where_(std::move(where)) {}

  /// Whether the log has met damage since Take was called last.
  bool Has(const LogSource& log) const { return log.damage_count() > seen_; }
  struct Gap {
    RecorderGap gap;                       // without times
    std::optional<uint64_t> first_record;  // that is missing, where it is known
  };
  /// The places since the last call at which records are missing, or may be.
  std::vector<Gap> Take(const LogSource& log);

 private:
  const std::string where_;
  uint64_t seen_ = 0;
};

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_INPUTS_DAMAGE_GAPS_H_
