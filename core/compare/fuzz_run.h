#ifndef RINGSCOPE_CORE_COMPARE_FUZZ_RUN_H_
#define RINGSCOPE_CORE_COMPARE_FUZZ_RUN_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/compare/coverage.h"
#include "core/compare/duel.h"
#include "core/compare/random_stream.h"
#include "core/compare/rule_switch.h"
#include "core/engine/release_notes.h"

namespace ringscope {

/// How streams come about.
enum class StreamKind : uint8_t {
  kCorrect,     // writers that keep the rules
  kHostile,     // writers that do not
  kClones,      // the buffer is cloned all the time
  kForgetting,  // so many sequences that the buffer forgets some
  kWrapIds,     // chunk ids wrap around
  kReadLimits,  // read passes end early
  kMutated,     // parts of real logs, with changes
};
template <>
inline constexpr std::array kEnumNames<StreamKind> = {
    "correct", "hostile", "clones", "forgetting", "wrap_ids", "read_limits", "mutated"};

/// What is compared, over which streams.
struct FuzzPlan {
  Both<FuzzSide> sides;
  Ignored ignored;
  std::vector<StreamKind> kinds;  // at least one
  uint32_t operations = 150;      // of a stream; one that forgets has 20 times as many
  std::shared_ptr<const std::vector<PlainStream>> sources;  // of kMutated, none of them empty
  /// Puts each stream through the ledger, and looks for losses that no buffer should show in those
  /// whose writers keep the rules.
  bool judges_losses = false;
  /// As in DuelOptions.
  std::function<uint64_t()> clock;
  uint64_t slowest_ns = UINT64_MAX;

  Both<const EngineInfo*> engines() const { return {&sides.a.info, &sides.b.info}; }
};

/// Something that a stream shows.
struct FuzzFinding {
  Mismatch mismatch;
  /// What makes findings the same one: the rules that explain it, by their full names, or else the
  /// class of the mismatch.
  std::string cause;
  std::vector<const NamedRule*> rules;  // each explains it alone
  /// Of V1 and a V2: the known differences between them that the counter or the loss bits belong
  /// to. V1 has no rules to switch, so that this is not tried.
  std::vector<const ReleaseNote*> notes;
  /// Rules that were switched before it showed, as they explain earlier mismatches of the stream.
  std::vector<const NamedRule*> left_out;
};

/// What one stream gave.
struct StreamResult {
  std::vector<FuzzFinding> findings;
  FuzzCoverage coverage;
  uint64_t operations = 0;
};

/// The kind of the stream that a seed gives.
StreamKind KindOfSeed(const FuzzPlan& plan, uint32_t seed);
/// The whole stream.
PlainStream StreamOfSeed(const FuzzPlan& plan, uint32_t seed);

/// Puts the stream of a seed through both engines, and where they differ finds the rule that
/// explains it, switches that and continues, until nothing else differs. Each 16th seed also goes
/// through the ledger (all with judges_losses), and another one through each rule, to see whether
/// that matters there.
StreamResult FuzzSeed(const FuzzPlan& plan, uint32_t seed);
/// The same for a stream that is there already.
StreamResult FuzzStream(const FuzzPlan& plan, const PlainStream& stream);

/// The smallest stream that shows the finding: with the plan's engines if they show it as their
/// first mismatch, else with the rules in `left_out` switched.
/// @param stop see Shrink
PlainStream Smallest(const FuzzPlan& plan, const FuzzFinding& finding, PlainStream stream,
                     const std::function<bool()>& stop);

/// What the smallest stream shows, in a line: of losses their place is another one there.
std::string TextOf(const FuzzPlan& plan, const FuzzFinding& finding, const PlainStream& stream);

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_COMPARE_FUZZ_RUN_H_
