#include "core/compare/rule_switch.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/engine/v2_engine.h"

namespace ringscope {

FuzzSide SideOf(const EngineInfo& engine) {
  FuzzSide side{engine, {}};
  for (const V2Release& release : kV2Releases)
    if (engine.name == release.engine) side.rules = release.rules;
  return side;
}

FuzzSide Switched(const FuzzSide& side, const NamedRule& rule) {
  if (!side.rules) return side;
  FuzzSide switched = side;
  bool& value = (*switched.rules).*rule.rule;
  value = !value;
  switched.info.name += fmt::format("{}{}", value ? '+' : '-', rule.name);
  switched.info.create = [rules = *switched.rules](const EngineConfig& config) {
    return CreateV2Engine(rules, config);
  };
  switched.info.flags_readmitted =
      switched.rules->readmits_grown_chunk && !switched.rules->readmission_is_no_gap;
  return switched;
}

Both<FuzzSide> WithoutDifference(const Both<FuzzSide>& sides, const NamedRule& rule) {
  Both<FuzzSide> same = sides;
  for (const Side side : kSides) {
    const auto& own = sides[side].rules;
    const auto& other = sides[Other(side)].rules;
    if (!own) continue;
    const bool follows_alone = other && (*own).*rule.rule && !((*other).*rule.rule);
    if (!other || follows_alone) same[side] = Switched(sides[side], rule);
  }
  return same;
}

std::vector<const NamedRule*> RulesBetween(const Both<FuzzSide>& sides) {
  const auto& a = sides.a.rules;
  const auto& b = sides.b.rules;
  std::vector<const NamedRule*> rules;
  const bool has_v1 = sides.a.info.name == "v1" || sides.b.info.name == "v1";
  if (has_v1 || (!a && !b)) return rules;
  for (const NamedRule& rule : kNamedRules)
    if (!a || !b || (*a).*rule.rule != (*b).*rule.rule) rules.push_back(&rule);
  return rules;
}

std::string FullName(const NamedRule& rule) {
  const auto* const since =
      std::find_if(kV2Releases.begin(), kV2Releases.end(),
                   [&](const V2Release& release) { return release.rules.*rule.rule; });
  return fmt::format("{}:{}", since == kV2Releases.end() ? "v2" : since->engine, rule.name);
}

Result<const NamedRule*> ParseV2Rule(std::string_view text) {
  std::vector<const NamedRule*> found;
  for (const NamedRule& rule : kNamedRules) {
    const std::string full = FullName(rule);
    if (text == rule.name || text == full) return &rule;
    if (!text.empty() && (full.starts_with(text) || std::string_view(rule.name).starts_with(text)))
      found.push_back(&rule);
  }
  if (found.size() == 1) return found.front();
  std::vector<std::string> names;
  for (const NamedRule& rule : kNamedRules)
    if (found.empty() || std::find(found.begin(), found.end(), &rule) != found.end())
      names.push_back(FullName(rule));
  return Fail(ErrorCode::kUsage,
              found.empty() ? fmt::format("there is no rule '{}'", text)
                            : fmt::format("'{}' is the start of several rules", text),
              {}, fmt::format("rules: {}", fmt::join(names, ", ")));
}

}  // namespace ringscope
