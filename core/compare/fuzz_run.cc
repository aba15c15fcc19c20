#include "core/compare/fuzz_run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <utility>

#include "core/compare/log_differ.h"
#include "core/compare/minimize.h"
#include "core/compare/random_stream.h"

namespace ringscope {
namespace {

using Ops = std::vector<StoredOp>;
using Rules = std::vector<const NamedRule*>;

/// Streams that forget sequences need as many more operations, and are as much rarer.
constexpr uint32_t kForgettingFactor = 20;
constexpr uint32_t kForgettingOneIn = 64;

/// One in so many seeds goes through the ledger.
constexpr uint32_t kCheckOneIn = 16;

/// The behaviour of the writers of a stream; of kinds that are about something else that of the
/// seed.
Conduct ConductOf(StreamKind kind, uint32_t seed) {
  if (kind == StreamKind::kCorrect) return Conduct::kCorrect;
  if (kind == StreamKind::kHostile) return Conduct::kHostile;
  return seed / 2 % 2 == 0 ? Conduct::kCorrect : Conduct::kHostile;
}

StreamMode ModeOf(StreamKind kind) {
  constexpr StreamMode kModes[] = {StreamMode::kMixed,   StreamMode::kMixed,
                                   StreamMode::kClones,  StreamMode::kForgetting,
                                   StreamMode::kWrapIds, StreamMode::kReadLimits};
  return kModes[static_cast<size_t>(kind)];
}

/// Returns true if the engines read in orders that are known to differ.
bool ReadOrdersDiffer(const Both<FuzzSide>& sides) {
  const ReadOrder a = sides.a.info.read_order, b = sides.b.info.read_order;
  return a != b && a != ReadOrder::kUnknown && b != ReadOrder::kUnknown;
}

/// Removes the digits, which differ from case to case.
std::string WithoutNumbers(const std::string& text) {
  std::string plain;
  for (const char c : text)
    if (std::isdigit(static_cast<unsigned char>(c)) == 0) plain += c;
  return plain;
}

FuzzFinding FaultOf(Oracle oracle, Side side, const FuzzSide& of, const std::string& text,
                    size_t record, std::string detail = {}) {
  FuzzFinding finding{.oracle = oracle, .side = side};
  finding.text = fmt::format("{}: {}", of.info.name, text);
  finding.detail = detail.empty() ? WithoutNumbers(text) : std::move(detail);
  finding.record = record;
  finding.cause = finding.Class();
  return finding;
}

/// The difference so far, if there is one.
std::optional<FuzzFinding> DifferenceIn(const LogDiff& result, const Both<FuzzSide>& sides,
                                        size_t record) {
  const Both<std::string> names = {sides.a.info.name, sides.b.info.name};
  FuzzFinding finding;
  finding.record = record;
  if (result.first || result.first_counter) {
    finding.first = result.first ? result.first : result.first_counter;
    finding.text = finding.first->Text(names);
  } else if (result.counts.across_order > 0 && !ReadOrdersDiffer(sides)) {
    finding.text = fmt::format("{} and {} return packets of several sequences in different orders",
                               names.a, names.b);
  } else {
    return std::nullopt;
  }
  finding.cause = finding.Class();
  return finding;
}

Ops UpTo(const Ops& ops, size_t record) {
  return Ops(ops.begin(),
             ops.begin() + static_cast<std::ptrdiff_t>(std::min(record + 1, ops.size())));
}

Both<FuzzSide> Without(Both<FuzzSide> sides, const Rules& rules) {
  for (const NamedRule* const rule : rules) sides = WithoutDifference(sides, *rule);
  return sides;
}

/// Returns true if without the differences that these rules make the finding is gone, and nothing
/// else differs up to there.
bool AreExplained(const Both<FuzzSide>& sides, const Ignored& ignored, const Ops& cut,
                  const FuzzFinding& finding, const Rules& rules) {
  const auto left = CompareOver(Without(sides, rules), ignored, cut);
  return !left || left->record > finding.record;
}

/// The fewest rules that explain the finding only together; empty: not even all rules do.
Rules JointExplanation(const Both<FuzzSide>& sides, const Ignored& ignored, const Ops& ops,
                       const FuzzFinding& finding) {
  const Ops cut = UpTo(ops, finding.record);
  Rules rules = RulesBetween(sides);
  if (rules.size() < 2 || !AreExplained(sides, ignored, cut, finding, rules)) return {};
  for (size_t i = 0; i < rules.size();) {
    Rules fewer = rules;
    fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
    if (AreExplained(sides, ignored, cut, finding, fewer))
      rules = std::move(fewer);
    else
      ++i;
  }
  return rules;
}

/// The known differences between V1 and V2 that the finding belongs to.
std::vector<const ReleaseNote*> NotesOn(const Both<FuzzSide>& sides, const FuzzFinding& finding) {
  std::vector<const ReleaseNote*> notes;
  if (!AreV1AndV2(sides) || !finding.first) return notes;
  for (const ReleaseNote* const note : NamedNotesOfV1()) {
    const bool has_counter = std::ranges::any_of(note->counters, [&](const auto counter) {
      return !finding.first->counters.empty() &&
             kStatFields[finding.first->counters.front()].value == counter;
    });
    if (has_counter || (note->loss_bits && finding.first->kind == DifferenceKind::kLossBits))
      notes.push_back(note);
  }
  return notes;
}

/// Adds the rules each of which explains the finding, or the known differences of V1.
void Explain(const Both<FuzzSide>& sides, const Ignored& ignored, const Ops& ops,
             FuzzFinding& finding) {
  if (finding.oracle != Oracle::kDifference) return;
  const Ops cut = UpTo(ops, finding.record);
  std::vector<std::string> names;
  for (const NamedRule* const rule : RulesBetween(sides)) {
    if (!AreExplained(sides, ignored, cut, finding, {rule})) continue;
    finding.rules.push_back(rule);
    names.push_back(FullName(*rule));
  }
  finding.notes = NotesOn(sides, finding);
  for (const ReleaseNote* const note : finding.notes) names.push_back(FullName(*note));
  if (!names.empty()) finding.cause = fmt::format("{}", fmt::join(names, " or "));
}

/// All findings of a stream: the first one, and those that show once the rules that explain it are
/// switched. Where several rules show at one operation, each is a finding without the others.
void CompareAll(const FuzzPlan& plan, const Ops& ops, std::vector<FuzzFinding>& findings) {
  Rules left_out;
  while (true) {
    const Both<FuzzSide> sides = Without(plan.sides, left_out);
    std::optional<FuzzFinding> finding = CompareOver(sides, plan.ignored, ops);
    if (!finding) return;
    Explain(sides, plan.ignored, ops, *finding);
    finding->left_out = left_out;
    const Rules rules = finding->rules;
    if (rules.empty()) {
      const Rules joint = finding->oracle == Oracle::kDifference
                              ? JointExplanation(sides, plan.ignored, ops, *finding)
                              : Rules();
      if (joint.empty()) {
        findings.push_back(std::move(*finding));
        return;
      }
      left_out.push_back(joint.front());
    } else {
      findings.push_back(std::move(*finding));
      left_out.insert(left_out.end(), rules.begin(), rules.end());
    }
  }
}

/// Findings that the accounts of one engine show.
std::vector<FuzzFinding> FaultsOf(const FuzzPlan& plan, Side side, const Ops& ops) {
  const FuzzSide& of = plan.sides[side];
  std::vector<FuzzFinding> findings;
  if (!of.info.reports.chunks) return findings;
  const auto accounts = CheckAccounts(of.info, OptionsOf(of), ops);
  if (!accounts) return findings;  // the comparison reports why
  if (!accounts->wrong.empty())
    findings.push_back(FaultOf(Oracle::kLedger, side, of, accounts->wrong, ops.size()));
  if (!plan.checks_losses) return findings;
  for (const FoundFault& fault : accounts->faults)
    findings.push_back(FaultOf(Oracle::kLosses, side, of, fault.text, ops.size(),
                               fmt::format("{} ({})", Name(fault.fault), fault.kind)));
  return findings;
}

/// The fault of the same class that the stream shows, too.
std::optional<FuzzFinding> SameFault(const FuzzPlan& plan, const FuzzFinding& finding,
                                     const Ops& ops) {
  for (FuzzFinding& fault : FaultsOf(plan, *finding.side, ops))
    if (fault.Class() == finding.Class()) return std::move(fault);
  return std::nullopt;
}

bool IsOfAccounts(const FuzzFinding& finding) {
  return finding.oracle == Oracle::kLedger || finding.oracle == Oracle::kLosses;
}

}  // namespace

bool AreV1AndV2(const Both<FuzzSide>& sides) {
  return (sides.a.info.name == "v1" && sides.b.rules) ||
         (sides.b.info.name == "v1" && sides.a.rules);
}

std::string FullName(const ReleaseNote& note) {
  return fmt::format("{}:{}", note.engine, note.name);
}

std::string FuzzFinding::Class() const {
  if (oracle != Oracle::kDifference)
    return fmt::format("{} of {}: {}", Name(oracle), Letter(side.value_or(Side::kA)), detail);
  return first ? first->Class() : "order_across_sequences";
}

StreamKind KindOfSeed(const FuzzPlan& plan, uint32_t seed) {
  const auto& kinds = plan.kinds;
  if (kinds.size() == 1) return kinds.front();
  const bool forgets =
      std::find(kinds.begin(), kinds.end(), StreamKind::kForgetting) != kinds.end();
  if (forgets && seed % kForgettingOneIn == kForgettingOneIn - 1) return StreamKind::kForgetting;
  const StreamKind kind = kinds[seed % kinds.size()];
  if (kind != StreamKind::kForgetting) return kind;
  return kinds.front() != kind ? kinds.front() : kinds.back();
}

uint64_t OperationsOf(const FuzzPlan& plan, uint32_t seed) {
  return uint64_t{plan.operations} *
         (KindOfSeed(plan, seed) == StreamKind::kForgetting ? kForgettingFactor : 1);
}

Ops StreamOfSeed(const FuzzPlan& plan, uint32_t seed) {
  const StreamKind kind = KindOfSeed(plan, seed);
  // Hardly any stream writes more, and larger buffers take longer to make than to fill.
  constexpr uint64_t kAmple = uint64_t{1} << 18;
  RandomStream generator(SeededDice(seed), ConductOf(kind, seed), ModeOf(kind), kAmple,
                         /*keeps_written=*/false);
  // Engines that read in different orders stop at different packets: nothing is limited then.
  const bool has_limits = !ReadOrdersDiffer(plan.sides);
  const uint64_t operations = OperationsOf(plan, seed);
  Ops ops = {SetUpOf(generator.traits().size, generator.traits().policy)};
  ops.reserve(operations + 2);
  for (uint64_t i = 0; i < operations; ++i) {
    StreamStep step = generator.Next();
    if (!has_limits) step.max_packets = UINT64_MAX;
    ops.push_back(OpOf(step));
  }
  ops.push_back(OpOf({.kind = StreamStep::Kind::kRead, .commit = {}, .patches = {}}));
  return ops;
}

std::optional<FuzzFinding> CompareOver(const Both<FuzzSide>& sides, const Ignored& ignored,
                                       const Ops& ops) {
  LogDiffer differ({.sides = {OptionsOf(sides.a), OptionsOf(sides.b)},
                    .ignored = ignored,
                    .listed = 0,
                    .describe = {},
                    .warn = {}});
  const auto failed = [&](const Error& error, size_t record) {
    const Side side = differ.failed();
    return FaultOf(Oracle::kFailure, side, sides[side], error.ToString(), record);
  };
  for (size_t i = 0; i < ops.size(); ++i) {
    if (const Status status = differ.Apply(ops[i].op(), i); !status)
      return failed(status.error(), i);
    if (auto found = DifferenceIn(differ.result(), sides, i)) return found;
  }
  if (const auto result = differ.Finish(); !result) return failed(result.error(), ops.size());
  if (auto found = DifferenceIn(differ.result(), sides, ops.size())) return found;
  for (const Side side : kSides) {
    for (const auto& [id, buffer] : differ.replay(side).session().buffers()) {
      const std::string wrong = buffer.engine->CheckInvariants();
      if (!wrong.empty()) return FaultOf(Oracle::kCheck, side, sides[side], wrong, ops.size());
    }
  }
  return std::nullopt;
}

std::vector<FuzzFinding> FuzzSeed(const FuzzPlan& plan, uint32_t seed) {
  const Ops ops = StreamOfSeed(plan, seed);
  std::vector<FuzzFinding> findings;
  CompareAll(plan, ops, findings);
  const bool keeps_rules = ConductOf(KindOfSeed(plan, seed), seed) == Conduct::kCorrect;
  if (seed % kCheckOneIn != 0 && !plan.checks_losses) return findings;
  const bool is_one_engine = plan.sides.a.info.name == plan.sides.b.info.name;
  for (const Side side : kSides) {
    if (side == Side::kB && is_one_engine) break;
    for (FuzzFinding& fault : FaultsOf(plan, side, ops))
      if (fault.oracle == Oracle::kLedger || keeps_rules) findings.push_back(std::move(fault));
  }
  return findings;
}

std::optional<FuzzFinding> ShownBy(const FuzzPlan& plan, const FuzzFinding& finding,
                                   const Ops& smallest) {
  if (IsOfAccounts(finding)) return SameFault(plan, finding, smallest);
  std::optional<FuzzFinding> shown = CompareOver(plan.sides, plan.ignored, smallest);
  if (shown) Explain(plan.sides, plan.ignored, smallest, *shown);
  return shown;
}

Ops Smallest(const FuzzPlan& plan, const FuzzFinding& finding, Ops ops,
             const std::function<bool()>& stop) {
  const auto minimize = [&](Ops from, const std::function<bool(const Ops&)>& shows) {
    return Minimize({.ops = std::move(from), .shows = shows, .stop = stop, .progress = {}});
  };
  if (IsOfAccounts(finding)) {
    return minimize(std::move(ops),
                    [&](const Ops& less) { return SameFault(plan, finding, less).has_value(); });
  }
  ops = UpTo(ops, finding.record);
  const auto shows = [&](const Both<FuzzSide>& sides) {
    return [&plan, &finding, sides](const Ops& less) {
      auto found = CompareOver(sides, plan.ignored, less);
      if (!found || found->oracle != finding.oracle) return false;
      if (finding.rules.empty()) return found->Class() == finding.Class();
      Explain(sides, plan.ignored, less, *found);
      return found->cause == finding.cause;
    };
  };
  if (!finding.left_out.empty() && !shows(plan.sides)(ops)) {
    ops = minimize(std::move(ops), shows(Without(plan.sides, finding.left_out)));
    if (!shows(plan.sides)(ops)) return ops;
  }
  return minimize(std::move(ops), shows(plan.sides));
}

}  // namespace ringscope
