#ifndef RINGSCOPE_CORE_COMPARE_FUZZ_RUN_H_
#define RINGSCOPE_CORE_COMPARE_FUZZ_RUN_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/base/enum_names.h"
#include "core/compare/log_diff.h"
#include "core/compare/loss_check.h"
#include "core/compare/rule_switch.h"
#include "core/compare/stored_ops.h"
#include "core/engine/release_notes.h"

namespace ringscope {

/// Sorts of random streams.
enum class StreamKind : uint8_t {
  kCorrect,     // writers that keep the rules
  kHostile,     // writers that do not
  kClones,      // the buffer is cloned all the time
  kForgetting,  // so many sequences that the buffer forgets some
  kWrapIds,     // chunk ids wrap around
  kReadLimits,  // read passes end early
};
template <>
inline constexpr std::array kEnumNames<StreamKind> = {"correct",    "hostile",  "clones",
                                                      "forgetting", "wrap_ids", "read_limits"};

/// Two engines to compare, and the streams for it.
struct FuzzPlan {
  Both<FuzzSide> sides;
  Ignored ignored;
  std::vector<StreamKind> kinds;  // at least one
  uint32_t operations = 150;      // of a stream; one that forgets has 20 times as many
  /// Puts each stream through the ledger, and looks for losses that no buffer should show in those
  /// whose writers keep the rules.
  bool checks_losses = false;
};

/// The way in which a finding was made.
enum class Oracle : uint8_t {
  kDifference,  // A and B gave other results
  kCheck,       // an engine's check of its own structures failed
  kLedger,      // an engine's events and packets do not add up
  kFailure,     // an engine could not continue
  kLosses,      // an engine lost what no buffer should lose, or showed it wrongly
};
template <>
inline constexpr std::array kEnumNames<Oracle> = {"difference", "check", "ledger", "failure",
                                                  "losses"};

/// A fault or a difference that a stream shows.
struct FuzzFinding {
  Oracle oracle = Oracle::kDifference;
  std::optional<Divergence> first;  // of kDifference; absent: the order across sequences
  std::optional<Side> side;         // the wrong engine; absent: kDifference
  std::string detail;               // equal for findings of one sort; of kDifference empty
  std::string text;                 // the finding in a line
  size_t record = 0;                // index of the operation; the number of all: the last read

  /// Equal for the same finding in several streams: the rules that explain it, by their full
  /// names, or else its class.
  std::string cause;
  std::vector<const NamedRule*> rules;  // each explains it alone
  /// Known differences between V1 and V2 that the counter or the loss bits belong to. V1 has no
  /// rules to switch, so that this is not tried.
  std::vector<const ReleaseNote*> notes;
  /// Rules that were switched before it showed, as they explain earlier differences of the stream.
  std::vector<const NamedRule*> left_out;

  /// "loss_bits present/read_gap", "losses of A: silent_loss (evicted)"
  std::string Class() const;
};

/// The kind of a seed's stream.
StreamKind KindOfSeed(const FuzzPlan& plan, uint32_t seed);
/// Operations of a seed's stream.
uint64_t OperationsOf(const FuzzPlan& plan, uint32_t seed);
/// The stream of a seed, as the records of a small log. The same seed gives the same stream.
std::vector<StoredOp> StreamOfSeed(const FuzzPlan& plan, uint32_t seed);

/// The first difference or fault that the sides show over a stream; nullopt: none.
std::optional<FuzzFinding> CompareOver(const Both<FuzzSide>& sides, const Ignored& ignored,
                                       const std::vector<StoredOp>& ops);

/// Compares both engines over a seed's stream. For a difference it finds the rule that explains it,
/// switches that and continues, until nothing else differs. Each 16th seed also goes through the
/// ledger (all with checks_losses).
std::vector<FuzzFinding> FuzzSeed(const FuzzPlan& plan, uint32_t seed);

/// The smallest stream that shows the finding: with the plan's engines if they show it as their
/// first difference, else with the rules in `left_out` switched.
/// @param stop see MinimizeInput
std::vector<StoredOp> Smallest(const FuzzPlan& plan, const FuzzFinding& finding,
                               std::vector<StoredOp> ops, const std::function<bool()>& stop);

/// The finding that the plan's engines show over a smallest stream, with its cause; nullopt: they
/// show it only with the rules in `left_out` switched.
std::optional<FuzzFinding> ShownBy(const FuzzPlan& plan, const FuzzFinding& finding,
                                   const std::vector<StoredOp>& smallest);

/// Returns true if one side is V1, and the other a V2 of the catalogue.
bool AreV1AndV2(const Both<FuzzSide>& sides);
/// "v1:keeps_whole_payload"
std::string FullName(const ReleaseNote& note);

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_COMPARE_FUZZ_RUN_H_
