#ifndef RINGSCOPE_CORE_COMPARE_FUZZ_RUN_H_
#define RINGSCOPE_CORE_COMPARE_FUZZ_RUN_H_

#include "core/compare/log_differ.h"
#include "core/compare/random_stream.h"
#include "core/ledger/ledger.h"

namespace ringscope {

/// Replays a stream on one buffer with a ledger.
/// @param engine reports events
/// @return the sums that do not add up; empty: all do
Result<std::string> CheckAccounts(const EngineInfo& engine, const std::vector<StoredOp>& ops);

/// An engine, and its rules if it is a V2 of the catalogue: these can be switched one by one.
struct FuzzSide {
  EngineInfo info;
  std::optional<V2Rules> rules;
};
FuzzSide SideOf(const EngineInfo& engine);
/// A replay with this engine in all buffers. @param engine outlives the replay
ReplayOptions OptionsOf(const EngineInfo& engine);

/// Both sides without the differences that the rules make: where both are of the catalogue and
/// differ in one, the side that follows the rule no longer does; where only one is, it is switched.
/// Names show that: "v2@58-relocates_completed_chunk".
Both<FuzzSide> Without(Both<FuzzSide> sides, const std::vector<const NamedRule*>& rules);

/// The rules that may explain how the sides differ: those in which two V2 of the catalogue differ,
/// or all where one side is a plug-in. V1 follows none of them.
std::vector<const NamedRule*> RulesBetween(const Both<FuzzSide>& sides);

/// "v2@58:relocates_completed_chunk", by the release that introduced the rule.
std::string FullName(const NamedRule& rule);

/// Finds a rule by its full name, without its release, or by the start of either's name:
/// "v2@58:relocates". kUsage: none, or several.
Result<const NamedRule*> ParseV2Rule(std::string_view text);

/// Two engines to compare, and the streams for it.
struct FuzzPlan {
  Both<FuzzSide> sides;
  Ignored ignored;
  std::vector<StreamKind> kinds;  // at least one
};

/// The way in which a finding was made.
enum class Oracle : uint8_t {
  kDifference,  // A and B gave other results
  kCheck,       // an engine's check of its own structures failed
  kLedger,      // an engine's events and packets do not add up
  kFailure,     // an engine could not continue
};
template <>
inline constexpr std::array kEnumNames<Oracle> = {"difference", "check", "ledger", "failure"};

/// A fault or a difference that a stream shows.
struct FuzzFinding {
  Oracle oracle = Oracle::kDifference;
  std::optional<DifferenceKind> kind = {};  // of kDifference
  std::optional<Side> side = {};            // the wrong engine; absent: kDifference
  std::string sort;   // equal for findings of one sort: "loss_bits present/read_gap"
  std::string text;   // the finding in a line
  size_t record = 0;  // index of the operation; the number of all: the last read

  std::vector<const NamedRule*> rules = {};  // without what these change, the finding is gone
  /// Rules that were switched before it showed, as they explain earlier differences of the stream.
  std::vector<const NamedRule*> left_out = {};

  /// Equal for the same finding in several streams: the rule that explains it, by its full name,
  /// or else its sort.
  std::string Cause() const { return rules.empty() ? sort : FullName(*rules.front()); }
};

/// The kind of a seed's stream.
StreamKind KindOfSeed(const FuzzPlan& plan, uint32_t seed);
/// Operations of a seed's stream.
uint64_t OperationsOf(const FuzzPlan& plan, uint32_t seed);
/// The stream of a seed, as the records of a small log. The same seed gives the same stream.
std::vector<StoredOp> StreamOfSeed(const FuzzPlan& plan, uint32_t seed);

/// The first difference or fault that the sides show over a stream; nullopt if none.
std::optional<FuzzFinding> CompareOver(const Both<FuzzSide>& sides, const Ignored& ignored,
                                       const std::vector<StoredOp>& ops);

/// The rule that explains the finding over these operations, or the fewest that do so only
/// together; empty: none do.
std::vector<const NamedRule*> ExplanationOf(const Both<FuzzSide>& sides, const Ignored& ignored,
                                            const std::vector<StoredOp>& ops,
                                            const FuzzFinding& finding);

/// Compares both engines over a seed's stream. For a difference it finds the rule that explains it,
/// switches that and continues, until nothing else differs. Each 16th seed also goes through the
/// ledger.
std::vector<FuzzFinding> FuzzSeed(const FuzzPlan& plan, uint32_t seed);

/// The smallest stream that shows a finding.
struct SmallestStream {
  std::vector<StoredOp> ops;
  FuzzFinding finding;            // as it shows there
  bool is_of_plan_sides = false;  // false: only with the rules in `left_out` switched
};
/// @param stop as of Minimize
SmallestStream Smallest(const FuzzPlan& plan, const FuzzFinding& finding,
                        const std::vector<StoredOp>& ops, const std::function<bool()>& stop);

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_COMPARE_FUZZ_RUN_H_
