#ifndef RINGSCOPE_CORE_ENGINE_V2_RELEASES_H_
#define RINGSCOPE_CORE_ENGINE_V2_RELEASES_H_

#include <array>

#include "core/engine/v2_rules.h"

namespace ringscope {

/// A rule of V2 and its name.
struct NamedRule {
  const char* name;
  bool V2Rules::*rule;
};

#define RS_RULE(name) \
  NamedRule { #name, &V2Rules::name }
/// All rules there are.
inline constexpr std::array kNamedRules = {
    RS_RULE(reports_loss_causes),       RS_RULE(allows_writer_drop),
    RS_RULE(readmits_grown_chunk),      RS_RULE(readmission_is_no_gap),
    RS_RULE(relocates_completed_chunk), RS_RULE(scrape_keeps_incomplete),
    RS_RULE(recommit_before_evict),     RS_RULE(wraps_at_next_commit),
    RS_RULE(counts_lost_fragments),     RS_RULE(clearing_consumes_fragments),
};
#undef RS_RULE
static_assert(sizeof(V2Rules) == kNamedRules.size() * sizeof(bool), "a rule has no name");

/// The rules of a release, by its name in the catalogue.
struct V2Release {
  const char* engine;
  V2Rules rules;
};
/// All releases of V2, oldest first.
inline constexpr std::array kV2Releases = {V2Release{"v2@54", kV54}, V2Release{"v2@55", kV55},
                                           V2Release{"v2@56", kV56}, V2Release{"v2@57", kV57},
                                           V2Release{"v2@58", kV58}};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_ENGINE_V2_RELEASES_H_
