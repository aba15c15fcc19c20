#include "core/compare/fuzz_run.h"

#include <cctype>

#include "core/compare/minimize.h"
#include "core/engine/v2_engine.h"

namespace ringscope {

Result<std::string> CheckAccounts(const EngineInfo& engine, const std::vector<StoredOp>& ops) {
  LedgerSink none;
  Ledger ledger(none);
  Replay replay(OptionsOf(engine), {&ledger});
  for (size_t i = 0; i < ops.size(); ++i) RS_RETURN_IF_ERROR(replay.Apply(ops[i].op(), i));
  RS_RETURN_IF_ERROR(replay.Finish());
  RS_RETURN_IF_ERROR(replay.Drain());
  if (std::string wrong = ledger.Check(); !wrong.empty()) return wrong;
  uint64_t unexplained = 0;  // packets of which the events do not show what became of them
  for (const auto& [id, totals] : ledger.totals())
    unexplained += totals[Fate::kUnexplained].packets;
  // An engine that does not report abandoned packets leaves their fates unknown.
  if (unexplained == 0 || !engine.reports.abandoned) return "";
  return fmt::format("the events do not explain what became of {} packets", unexplained);
}

namespace {

using Ops = std::vector<StoredOp>;
using Rules = std::vector<const NamedRule*>;

/// Operations of a stream.
constexpr uint64_t kOperations = 150;
/// Streams that forget sequences need as many more operations, and are as much rarer.
constexpr uint32_t kForgettingFactor = 20;
constexpr uint32_t kForgettingOneIn = 64;
/// One in so many seeds goes through the ledger.
constexpr uint32_t kCheckOneIn = 16;

/// Returns true if the engines read in orders that are known to differ.
bool ReadOrdersDiffer(const Both<FuzzSide>& sides) {
  const ReadOrder a = sides.a.info.read_order, b = sides.b.info.read_order;
  return a != b && a != ReadOrder::kUnknown && b != ReadOrder::kUnknown;
}

/// The sort is the text without the digits, which differ from case to case.
FuzzFinding FaultOf(Oracle oracle, Side side, const FuzzSide& of, const std::string& text,
                    size_t record) {
  std::string sort;
  std::ranges::copy_if(text, std::back_inserter(sort),
                       [](unsigned char c) { return std::isdigit(c) == 0; });
  return {.oracle = oracle,
          .side = side,
          .sort = fmt::format("{} of {}: {}", Name(oracle), Letter(side), sort),
          .text = fmt::format("{}: {}", of.info.name, text),
          .record = record};
}

Ops UpTo(const Ops& ops, size_t record) {
  return Ops(ops.begin(),
             ops.begin() + static_cast<std::ptrdiff_t>(std::min(record + 1, ops.size())));
}

/// Returns true if without the differences that these rules make the finding is gone, and nothing
/// else differs up to there.
bool AreExplained(const Both<FuzzSide>& sides, const Ignored& ignored, const Ops& ops,
                  const FuzzFinding& finding, const Rules& rules) {
  const auto left = CompareOver(Without(sides, rules), ignored, UpTo(ops, finding.record));
  return !left || left->record > finding.record;
}

/// All differences of a stream: the first one, and those that show once the rules that explain it
/// are switched.
std::vector<FuzzFinding> DifferencesIn(const FuzzPlan& plan, const Ops& ops) {
  std::vector<FuzzFinding> findings;
  Rules left_out;
  while (true) {
    const Both<FuzzSide> sides = Without(plan.sides, left_out);
    std::optional<FuzzFinding> finding = CompareOver(sides, plan.ignored, ops);
    if (!finding) return findings;
    finding->left_out = left_out;
    const Rules rules = finding->rules = ExplanationOf(sides, plan.ignored, ops, *finding);
    // Several rules at one operation: each is a finding without the others.
    if (rules.size() < 2) findings.push_back(*std::move(finding));
    if (rules.empty()) return findings;
    left_out.push_back(rules.front());
  }
}

/// Returns what is wrong in the accounts of one engine.
std::optional<FuzzFinding> WrongAccounts(const FuzzPlan& plan, Side side, const Ops& ops) {
  const FuzzSide& of = plan.sides[side];
  if (!of.info.reports.chunks) return std::nullopt;
  const auto wrong = CheckAccounts(of.info, ops);
  // Where the replay fails, the comparison reports why.
  if (!wrong || wrong->empty()) return std::nullopt;
  return FaultOf(Oracle::kLedger, side, of, *wrong, ops.size());
}

}  // namespace

Rules ExplanationOf(const Both<FuzzSide>& sides, const Ignored& ignored, const Ops& ops,
                    const FuzzFinding& finding) {
  if (finding.oracle != Oracle::kDifference) return {};
  const auto are_explained = [&](const Rules& rules) {
    return AreExplained(sides, ignored, ops, finding, rules);
  };
  Rules rules = RulesBetween(sides);
  for (const NamedRule* const rule : rules)
    if (are_explained({rule})) return {rule};
  if (rules.size() < 2 || !are_explained(rules)) return {};
  for (const NamedRule* const rule : Rules(rules)) {
    Rules fewer = rules;
    std::erase(fewer, rule);
    if (are_explained(fewer)) rules = std::move(fewer);
  }
  return rules;
}

FuzzSide SideOf(const EngineInfo& engine) {
  FuzzSide side{engine, {}};
  side.info.release = kNewestRelease;  // one service around both buffers
  if (engine.name == fmt::format("v2@{}", engine.release)) side.rules = RulesOf(engine.release);
  return side;
}

ReplayOptions OptionsOf(const EngineInfo& engine) {
  ReplayOptions options;
  options.session.all.engine = engine.name;
  options.session.find_engine = [&engine](std::string_view) { return &engine; };
  return options;
}

Both<FuzzSide> Without(Both<FuzzSide> sides, const std::vector<const NamedRule*>& all) {
  for (const NamedRule* const rule : all) {
    const Both<FuzzSide> before = sides;
    for (const Side side : kSides) {
      FuzzSide& own = sides[side];
      const auto& other = before[Other(side)].rules;
      if (!own.rules || (other && (!((*own.rules).*rule->rule) || (*other).*rule->rule))) continue;
      bool& value = (*own.rules).*rule->rule;
      value = !value;
      own.info.name += fmt::format("{}{}", value ? '+' : '-', rule->name);
      own.info.create = [rules = *own.rules](const EngineConfig& config) {
        return CreateV2Engine(rules, config);
      };
      own.info.flags_readmitted =
          own.rules->readmits_grown_chunk && !own.rules->readmission_is_no_gap;
    }
  }
  return sides;
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
  return fmt::format("v2@{}:{}", rule.since, rule.name);
}

Result<const NamedRule*> ParseV2Rule(std::string_view text) {
  const NamedRule* found = nullptr;
  std::vector<std::string> all, begun;  // names
  for (const NamedRule& rule : kNamedRules) {
    const std::string& full = all.emplace_back(FullName(rule));
    if (text == rule.name || text == full) return &rule;
    if (text.empty() || !(full.starts_with(text) || std::string_view(rule.name).starts_with(text)))
      continue;
    found = &rule;
    begun.push_back(full);
  }
  if (begun.size() == 1) return found;
  return Fail(ErrorCode::kUsage,
              begun.empty() ? fmt::format("there is no rule '{}'", text)
                            : fmt::format("'{}' is the start of several rules", text),
              {}, "rules: " + Joined(begun.empty() ? all : begun));
}

StreamKind KindOfSeed(const FuzzPlan& plan, uint32_t seed) {
  const auto& kinds = plan.kinds;
  constexpr StreamKind kRare = StreamKind::kForgetting;
  if (kinds.size() == 1) return kinds.front();
  if (Contains(kinds, kRare) && seed % kForgettingOneIn == kForgettingOneIn - 1) return kRare;
  const StreamKind kind = kinds[seed % kinds.size()];
  if (kind != kRare) return kind;
  return kinds.front() != kRare ? kinds.front() : kinds.back();
}

uint64_t OperationsOf(const FuzzPlan& plan, uint32_t seed) {
  return kOperations * (KindOfSeed(plan, seed) == StreamKind::kForgetting ? kForgettingFactor : 1);
}

Ops StreamOfSeed(const FuzzPlan& plan, uint32_t seed) {
  const StreamKind kind = KindOfSeed(plan, seed);
  // Hardly any stream writes more, and larger buffers take longer to make than to fill.
  constexpr uint64_t kAmple = uint64_t{1} << 18;
  // Kinds that are about something else are half of correct writers, half of hostile ones.
  const bool is_hostile =
      kind == StreamKind::kHostile || (kind != StreamKind::kCorrect && seed / 2 % 2 != 0);
  RandomStream generator(NumbersOfSeed(seed), is_hostile ? Conduct::kHostile : Conduct::kCorrect,
                         kind, kAmple);
  // Engines that read in different orders stop at different packets: nothing is limited then.
  const bool has_limits = !ReadOrdersDiffer(plan.sides);
  Ops ops = {SetUpOf(generator.traits().size, generator.traits().policy)};
  for (uint64_t i = 0; i < OperationsOf(plan, seed); ++i) {
    StreamStep step = generator.Next();
    if (!has_limits) step.max_packets = UINT64_MAX;
    ops.push_back(OpOf(step));
  }
  ops.push_back(OpOf({.kind = StreamStep::Kind::kRead, .commit = {}, .patches = {}}));
  return ops;
}

std::optional<FuzzFinding> CompareOver(const Both<FuzzSide>& sides, const Ignored& ignored,
                                       const Ops& ops) {
  DiffOptions options{
      .sides = {OptionsOf(sides.a.info), OptionsOf(sides.b.info)}, .ignored = ignored, .listed = 0};
  options.ignored.kinds[DifferenceKind::kOrder] |= ReadOrdersDiffer(sides);
  LogDiffer differ(std::move(options));
  const auto fault = [&](Oracle oracle, Side side, const std::string& text, size_t record) {
    return FaultOf(oracle, side, sides[side], text, record);
  };
  for (size_t i = 0; i <= ops.size(); ++i) {
    const Status status =
        i < ops.size() ? differ.Apply(ops[i].op(), i) : differ.Finish().map([](const LogDiff&) {});
    if (!status) return fault(Oracle::kFailure, differ.failed(), status.error().ToString(), i);
    if (const Divergence* const first = differ.result().First())
      return FuzzFinding{.kind = first->kind,
                         .sort = first->Class(),
                         .text = first->Text({sides.a.info.name, sides.b.info.name}),
                         .record = i};
  }
  for (const Side side : kSides)
    for (const auto& [id, buffer] : differ.replay(side).session().buffers())
      if (const std::string wrong = buffer.engine->CheckInvariants(); !wrong.empty())
        return fault(Oracle::kCheck, side, wrong, ops.size());
  return std::nullopt;
}

std::vector<FuzzFinding> FuzzSeed(const FuzzPlan& plan, uint32_t seed) {
  const Ops ops = StreamOfSeed(plan, seed);
  std::vector<FuzzFinding> findings = DifferencesIn(plan, ops);
  if (seed % kCheckOneIn != 0) return findings;
  const bool is_one_engine = plan.sides.a.info.name == plan.sides.b.info.name;
  for (const Side side : kSides)
    if (side == Side::kA || !is_one_engine)
      if (auto wrong = WrongAccounts(plan, side, ops)) findings.push_back(*std::move(wrong));
  return findings;
}

SmallestStream Smallest(const FuzzPlan& plan, const FuzzFinding& finding, const Ops& ops,
                        const std::function<bool()>& stop) {
  const Both<FuzzSide> without = Without(plan.sides, finding.left_out);
  const auto shown = [&](const Both<FuzzSide>& sides, const Ops& less) {
    const std::optional<FuzzFinding> found = finding.oracle == Oracle::kLedger
                                                 ? WrongAccounts(plan, *finding.side, less)
                                                 : CompareOver(sides, plan.ignored, less);
    if (!found || found->oracle != finding.oracle) return std::optional<FuzzFinding>();
    const bool is_same = finding.rules.empty()
                             ? found->sort == finding.sort
                             : AreExplained(sides, plan.ignored, less, *found, finding.rules);
    return is_same ? found : std::nullopt;
  };
  SmallestStream smallest;
  smallest.ops = Minimize(
      UpTo(ops, finding.record), [&](const Ops& less) { return shown(without, less).has_value(); },
      stop);
  std::optional<FuzzFinding> of_plan = shown(plan.sides, smallest.ops);
  smallest.is_of_plan_sides = of_plan.has_value();
  smallest.finding = of_plan ? *of_plan : shown(without, smallest.ops).value_or(finding);
  smallest.finding.rules = finding.rules;
  return smallest;
}

}  // namespace ringscope
