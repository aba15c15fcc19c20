#include "core/compare/fuzz_run.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/compare/explain.h"
#include "core/compare/ledger_run.h"
#include "core/compare/mutate.h"
#include "core/compare/shrink.h"

namespace ringscope {
namespace {

/// Streams that forget sequences need as many more operations, and are as much rarer.
constexpr uint32_t kForgettingFactor = 20;
constexpr uint32_t kForgettingOneIn = 64;

/// Seeds, one goes through the ledger, and another one through all rules.
constexpr uint32_t kCheckOneIn = 16;

Conduct ConductOf(StreamKind kind, uint32_t seed) {
  if (kind == StreamKind::kCorrect) return Conduct::kCorrect;
  if (kind == StreamKind::kHostile) return Conduct::kHostile;
  return seed / 2 % 2 == 0 ? Conduct::kCorrect : Conduct::kHostile;
}

StreamMode ModeOf(StreamKind kind) {
  switch (kind) {
    case StreamKind::kClones:
      return StreamMode::kClones;
    case StreamKind::kForgetting:
      return StreamMode::kForgetting;
    case StreamKind::kWrapIds:
      return StreamMode::kWrapIds;
    case StreamKind::kReadLimits:
      return StreamMode::kReadLimits;
    default:
      return StreamMode::kMixed;
  }
}

uint32_t OperationsOf(const FuzzPlan& plan, StreamKind kind) {
  return plan.operations * (kind == StreamKind::kForgetting ? kForgettingFactor : 1);
}

RandomStream GeneratorOf(const FuzzPlan& plan, uint32_t seed) {
  const StreamKind kind = KindOfSeed(plan, seed);
  // Hardly any stream writes more, and larger buffers take longer to make than to fill.
  constexpr uint64_t kAmple = uint64_t{1} << 18;
  return RandomStream(SeededDice(seed), ConductOf(kind, seed), ModeOf(kind), kAmple,
                      /*keeps_written=*/false);
}

/// "silent_loss (evicted)"
std::string DetailOf(const FoundFault& fault) {
  return fmt::format("{} ({})", Name(fault.fault), fault.kind);
}

/// The text of the fault that is of the same kind; empty: the stream has none.
std::string FaultLike(const Mismatch& mismatch, const EngineInfo& engine,
                      const PlainStream& stream) {
  for (const FoundFault& fault : FindLossFaults(engine, stream))
    if (DetailOf(fault) == mismatch.detail) return fault.text;
  return "";
}

void CheckLedgers(const FuzzPlan& plan, const PlainStream& stream,
                  std::vector<FuzzFinding>& findings) {
  for (const Side side : kSides) {
    const std::string wrong = CheckLedger(plan.sides[side].info, stream);
    if (wrong.empty()) continue;
    FuzzFinding finding;
    finding.mismatch = {.oracle = Oracle::kLedger,
                        .side = side,
                        .step = stream.steps.size(),
                        .text = fmt::format("{}: {}", plan.sides[side].info.name, wrong)};
    finding.cause = finding.mismatch.Class();
    findings.push_back(std::move(finding));
  }
}

/// Whether all that an engine does wrong with the stream is the engine's fault.
bool KeepsRules(StreamKind kind, uint32_t seed) {
  return kind != StreamKind::kMutated && ConductOf(kind, seed) == Conduct::kCorrect;
}

void JudgeLosses(const FuzzPlan& plan, const PlainStream& stream,
                 std::vector<FuzzFinding>& findings) {
  const bool same = plan.sides.a.info.name == plan.sides.b.info.name;
  for (const Side side : kSides) {
    if (side == Side::kB && same) break;
    for (const FoundFault& fault : FindLossFaults(plan.sides[side].info, stream)) {
      FuzzFinding finding;
      finding.mismatch = {.oracle = Oracle::kLosses,
                          .side = side,
                          .step = stream.steps.size(),
                          .text = fmt::format("{}: {}", plan.sides[side].info.name, fault.text),
                          .detail = DetailOf(fault)};
      finding.cause = finding.mismatch.Class();
      findings.push_back(std::move(finding));
    }
  }
}

void CountRules(const FuzzPlan& plan, const PlainStream& stream, FuzzCoverage& coverage) {
  // The newer one of two: the rules build upon each other.
  const FuzzSide& side = plan.sides.b.rules ? plan.sides.b : plan.sides.a;
  if (!side.rules) return;
  ++coverage.rule_streams;
  for (size_t i = 0; i < kNamedRules.size(); ++i) {
    const FuzzSide switched = Switched(side, kNamedRules[i]);
    if (RunDuel({&side.info, &switched.info}, stream, {})) ++coverage.rules[i];
  }
}

/// One run of a stream, step by step, with both engines observed.
class ObservedDuel {
 public:
  explicit ObservedDuel(const FuzzPlan& plan) : plan_(plan) {}

  /// @param next (use) calls `use` with the next step; false: there is none
  template <typename Next>
  std::optional<Mismatch> Run(uint64_t size, FillPolicy policy, Next next) {
    Result<Duel> duel = Duel::Create(plan_.engines(), {.size = size,
                                                       .policy = policy,
                                                       .ignored = plan_.ignored,
                                                       .observers = {&counters_.a, &counters_.b},
                                                       .clock = plan_.clock,
                                                       .slowest_ns = plan_.slowest_ns});
    if (!duel) return Mismatch{.oracle = Oracle::kFailure, .text = duel.error().ToString()};
    std::optional<Mismatch> found;
    while (!found && next([&](const StreamStep& step) {
      ++operations_;
      found = duel->Apply(step);
    })) {
    }
    return found ? found : duel->Finish();
  }
  void AddTo(StreamResult& result) const {
    for (const Side side : kSides) result.coverage.branches[side] += counters_[side].counts();
    result.operations += operations_;
  }

 private:
  const FuzzPlan& plan_;
  Both<BranchCounter> counters_;
  uint64_t operations_ = 0;
};

}  // namespace

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

PlainStream StreamOfSeed(const FuzzPlan& plan, uint32_t seed) {
  const StreamKind kind = KindOfSeed(plan, seed);
  if (kind == StreamKind::kMutated) {
    const Dice dice = SeededDice(seed);
    const auto& sources = *plan.sources;
    return Mutate(sources[dice() % sources.size()], dice, plan.operations);
  }
  RandomStream generator = GeneratorOf(plan, seed);
  PlainStream stream;
  stream.size = generator.traits().size;
  stream.policy = generator.traits().policy;
  for (uint32_t i = 0; i < OperationsOf(plan, kind); ++i) stream.Add(generator.Next());
  return stream;
}

StreamResult FuzzSeed(const FuzzPlan& plan, uint32_t seed) {
  const StreamKind kind = KindOfSeed(plan, seed);
  const bool checks = seed % kCheckOneIn == 0 || seed % kCheckOneIn == kCheckOneIn / 2;
  if (kind == StreamKind::kMutated || checks || plan.judges_losses) {
    const PlainStream stream = StreamOfSeed(plan, seed);
    StreamResult result = FuzzStream(plan, stream);
    if (seed % kCheckOneIn == 0 || plan.judges_losses) CheckLedgers(plan, stream, result.findings);
    if (plan.judges_losses && KeepsRules(kind, seed)) JudgeLosses(plan, stream, result.findings);
    if (seed % kCheckOneIn == kCheckOneIn / 2 && kind != StreamKind::kForgetting)
      CountRules(plan, stream, result.coverage);
    return result;
  }
  // Most streams show nothing: they are not kept.
  StreamResult result;
  ObservedDuel duel(plan);
  RandomStream generator = GeneratorOf(plan, seed);
  uint32_t left = OperationsOf(plan, kind);
  std::optional<Mismatch> found =
      duel.Run(generator.traits().size, generator.traits().policy, [&](auto use) {
        if (left-- == 0) return false;
        use(generator.Next());
        return true;
      });
  duel.AddTo(result);
  if (found) ExplainAll(plan, StreamOfSeed(plan, seed), std::move(*found), result.findings);
  return result;
}

StreamResult FuzzStream(const FuzzPlan& plan, const PlainStream& stream) {
  StreamResult result;
  ObservedDuel duel(plan);
  auto next = stream.steps.begin();
  std::optional<Mismatch> found = duel.Run(stream.size, stream.policy, [&](auto use) {
    if (next == stream.steps.end()) return false;
    (*next++)->With(use);
    return true;
  });
  duel.AddTo(result);
  if (found) ExplainAll(plan, stream, std::move(*found), result.findings);
  return result;
}

std::string TextOf(const FuzzPlan& plan, const FuzzFinding& finding, const PlainStream& stream) {
  const Mismatch& mismatch = finding.mismatch;
  if (!mismatch.side || mismatch.oracle != Oracle::kLosses) return mismatch.text;
  const EngineInfo& engine = plan.sides[*mismatch.side].info;
  const std::string text = FaultLike(mismatch, engine, stream);
  return text.empty() ? mismatch.text : fmt::format("{}: {}", engine.name, text);
}

PlainStream Smallest(const FuzzPlan& plan, const FuzzFinding& finding, PlainStream stream,
                     const std::function<bool()>& stop) {
  const Mismatch& mismatch = finding.mismatch;
  if (mismatch.oracle == Oracle::kTime) return stream;  // another run may show nothing
  stream = UpTo(stream, mismatch.step);
  if (mismatch.oracle == Oracle::kLedger) {
    const EngineInfo& engine = plan.sides[*mismatch.side].info;
    return Shrink(
        std::move(stream),
        [&](const PlainStream& less) { return !CheckLedger(engine, less).empty(); }, stop);
  }
  if (mismatch.oracle == Oracle::kLosses) {
    const EngineInfo& engine = plan.sides[*mismatch.side].info;
    return Shrink(
        std::move(stream),
        [&](const PlainStream& less) { return !FaultLike(mismatch, engine, less).empty(); }, stop);
  }
  const std::string wanted = mismatch.Class();
  const auto shows = [&](const FuzzPlan& with) {
    return [&, with](const PlainStream& less) {
      const auto found = MismatchOf(with.sides, less, with.ignored);
      if (!found) return false;
      if (finding.rules.empty()) return found->Class() == wanted;
      return found->oracle == Oracle::kDifference &&
             Explained(with.sides, with.ignored, less, *found).cause == finding.cause;
    };
  };
  if (!finding.left_out.empty() && !shows(plan)(stream)) {
    FuzzPlan switched = plan;
    for (const NamedRule* const rule : finding.left_out)
      switched.sides = WithoutDifference(switched.sides, *rule);
    stream = Shrink(std::move(stream), shows(switched), stop);
    if (!shows(plan)(stream)) return stream;
  }
  return Shrink(std::move(stream), shows(plan), stop);
}

}  // namespace ringscope
