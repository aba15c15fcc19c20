#include "formats/inputs/damage_gaps.h"

#include <fmt/format.h>

#include <algorithm>

namespace ringscope {

std::vector<DamageGaps::Gap> DamageGaps::Take(const LogSource& log) {
  std::vector<Gap> gaps;
  const std::vector<Damage>& list = log.damage();
  for (uint64_t i = seen_; i < list.size(); ++i) {
    const Damage& damage = list[i];
    if (damage.records == 0) continue;
    Gap& gap = gaps.emplace_back();
    gap.first_record = damage.first_record;
    gap.gap.reason = fmt::format("{}: {}", where_, damage.ToString());
    gap.gap.records = damage.records;
    if (damage.bytes > 0) gap.gap.bytes = damage.bytes;
    gap.gap.is_damage = true;
  }
  // The list is limited.
  const uint64_t count = log.damage_count();
  const uint64_t unlisted = count - std::max<uint64_t>(std::min(seen_, count), list.size());
  if (unlisted > 0) {
    RecorderGap& gap = gaps.emplace_back().gap;
    gap.reason = fmt::format("further {} ({} places)", where_, unlisted);
    gap.is_damage = true;
  }
  seen_ = count;
  return gaps;
}

}  // namespace ringscope
