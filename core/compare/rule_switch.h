#ifndef RINGSCOPE_CORE_COMPARE_RULE_SWITCH_H_
#define RINGSCOPE_CORE_COMPARE_RULE_SWITCH_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/compare/log_diff.h"
#include "core/engine/catalogue.h"
#include "core/engine/v2_rules.h"
#include "core/session/replay.h"

namespace ringscope {

/// An engine, and its rules if it is a V2 of the catalogue: these can be switched one by one.
struct FuzzSide {
  EngineInfo info;
  std::optional<V2Rules> rules;
};
FuzzSide SideOf(const EngineInfo& engine);
/// A replay with this engine in all buffers. @param side outlives the replay
ReplayOptions OptionsOf(const FuzzSide& side);

/// The side with one rule switched; its name shows that: "v2@58-relocates_completed_chunk".
FuzzSide Switched(const FuzzSide& side, const NamedRule& rule);

/// Both sides without the difference that the rule makes: where both are of the catalogue and
/// differ in it, the one that follows the rule no longer does; where only one is, it is switched.
Both<FuzzSide> WithoutDifference(const Both<FuzzSide>& sides, const NamedRule& rule);

/// The rules that may explain how the sides differ: those in which two V2 of the catalogue differ,
/// or all where one side is a plug-in. V1 follows none of them.
std::vector<const NamedRule*> RulesBetween(const Both<FuzzSide>& sides);

/// "v2@58:relocates_completed_chunk", by the release that introduced the rule.
std::string FullName(const NamedRule& rule);

/// Finds a rule by its full name, without its release, or by the start of either's name:
/// "v2@58:relocates". kUsage: none, or several.
Result<const NamedRule*> ParseV2Rule(std::string_view text);

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_COMPARE_RULE_SWITCH_H_
