#include "core/compare/explain.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace ringscope {

PlainStream UpTo(const PlainStream& stream, size_t step) {
  PlainStream cut = stream;
  cut.steps.resize(std::min(step + 1, cut.steps.size()));
  return cut;
}

std::optional<Mismatch> MismatchOf(const Both<FuzzSide>& sides, const PlainStream& stream,
                                   const Ignored& ignored) {
  return RunDuel({&sides.a.info, &sides.b.info}, stream, ignored);
}

namespace {

/// The rules each of which explains the mismatch: without the difference that it makes, the
/// mismatch is gone, and nothing else differs up to there.
std::vector<const NamedRule*> Explanations(const Both<FuzzSide>& sides, const Ignored& ignored,
                                           const PlainStream& stream, const Mismatch& mismatch) {
  std::vector<const NamedRule*> rules;
  if (mismatch.oracle != Oracle::kDifference) return rules;
  const PlainStream cut = UpTo(stream, mismatch.step);
  for (const NamedRule* const rule : RulesBetween(sides)) {
    const auto left = MismatchOf(WithoutDifference(sides, *rule), cut, ignored);
    if (!left || left->step > mismatch.step) rules.push_back(rule);
  }
  return rules;
}

/// Whether the sides, without the differences that these rules make, differ only later, if at all.
bool AreExplained(Both<FuzzSide> sides, const Ignored& ignored, const PlainStream& cut,
                  const Mismatch& mismatch, const std::vector<const NamedRule*>& rules) {
  for (const NamedRule* const rule : rules) sides = WithoutDifference(sides, *rule);
  const auto left = MismatchOf(sides, cut, ignored);
  return !left || left->step > mismatch.step;
}

/// The fewest rules that explain the mismatch only together; empty: not even all rules do.
std::vector<const NamedRule*> JointExplanation(const Both<FuzzSide>& sides, const Ignored& ignored,
                                               const PlainStream& stream,
                                               const Mismatch& mismatch) {
  if (mismatch.oracle != Oracle::kDifference) return {};
  const PlainStream cut = UpTo(stream, mismatch.step);
  std::vector<const NamedRule*> rules = RulesBetween(sides);
  if (rules.size() < 2 || !AreExplained(sides, ignored, cut, mismatch, rules)) return {};
  for (size_t i = 0; i < rules.size();) {
    std::vector<const NamedRule*> fewer = rules;
    fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
    if (AreExplained(sides, ignored, cut, mismatch, fewer))
      rules = std::move(fewer);
    else
      ++i;
  }
  return rules;
}

/// The known differences between V1 and V2 that the mismatch belongs to.
std::vector<const ReleaseNote*> NotesOn(const Both<FuzzSide>& sides, const Mismatch& mismatch) {
  std::vector<const ReleaseNote*> notes;
  if (!AreV1AndV2(sides) || mismatch.oracle != Oracle::kDifference) return notes;
  for (const ReleaseNote* const note : NamedNotesOfV1()) {
    const bool has_counter =
        mismatch.counter && std::find(note->counters.begin(), note->counters.end(),
                                      kStatFields[*mismatch.counter].value) != note->counters.end();
    if (has_counter || (note->loss_bits && mismatch.kind == DifferenceKind::kLossBits))
      notes.push_back(note);
  }
  return notes;
}

}  // namespace

bool AreV1AndV2(const Both<FuzzSide>& sides) {
  return (sides.a.info.name == "v1" && sides.b.rules) ||
         (sides.b.info.name == "v1" && sides.a.rules);
}

std::string FullName(const ReleaseNote& note) {
  return fmt::format("{}:{}", note.engine, note.name);
}

FuzzFinding Explained(const Both<FuzzSide>& sides, const Ignored& ignored,
                      const PlainStream& stream, Mismatch mismatch) {
  FuzzFinding finding;
  finding.rules = Explanations(sides, ignored, stream, mismatch);
  std::vector<std::string> names;
  for (const NamedRule* const rule : finding.rules) names.push_back(FullName(*rule));
  finding.notes = NotesOn(sides, mismatch);
  for (const ReleaseNote* const note : finding.notes) names.push_back(FullName(*note));
  finding.cause = names.empty() ? mismatch.Class() : fmt::format("{}", fmt::join(names, " or "));
  finding.mismatch = std::move(mismatch);
  return finding;
}

void ExplainAll(const FuzzPlan& plan, const PlainStream& stream, Mismatch first,
                std::vector<FuzzFinding>& findings) {
  Both<FuzzSide> sides = plan.sides;
  std::vector<const NamedRule*> left_out;
  const auto leave_out = [&](const NamedRule* rule) {
    sides = WithoutDifference(sides, *rule);
    left_out.push_back(rule);
  };
  std::optional<Mismatch> mismatch = std::move(first);
  while (mismatch) {
    FuzzFinding finding = Explained(sides, plan.ignored, stream, *mismatch);
    finding.left_out = left_out;
    const std::vector<const NamedRule*> rules = finding.rules;
    if (rules.empty()) {
      const auto joint = JointExplanation(sides, plan.ignored, stream, *mismatch);
      if (joint.empty()) {
        findings.push_back(std::move(finding));
        return;
      }
      leave_out(joint.front());
    } else {
      findings.push_back(std::move(finding));
      for (const NamedRule* const rule : rules) leave_out(rule);
    }
    mismatch = MismatchOf(sides, stream, plan.ignored);
  }
}

std::optional<FuzzFinding> FirstFinding(const FuzzPlan& plan, const PlainStream& stream) {
  std::optional<Mismatch> mismatch = MismatchOf(plan.sides, stream, plan.ignored);
  if (!mismatch) return std::nullopt;
  return Explained(plan.sides, plan.ignored, stream, std::move(*mismatch));
}

}  // namespace ringscope
