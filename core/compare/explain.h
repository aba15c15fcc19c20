#ifndef RINGSCOPE_CORE_COMPARE_EXPLAIN_H_
#define RINGSCOPE_CORE_COMPARE_EXPLAIN_H_

#include <optional>
#include <string>
#include <vector>

#include "core/compare/fuzz_run.h"

namespace ringscope {

/// The stream without what follows a step.
PlainStream UpTo(const PlainStream& stream, size_t step);

/// What the sides show of the stream at first.
std::optional<Mismatch> MismatchOf(const Both<FuzzSide>& sides, const PlainStream& stream,
                                   const Ignored& ignored);

/// The mismatch with its cause: the rules each of which explains it, or of V1 and a V2 the known
/// differences that it belongs to.
FuzzFinding Explained(const Both<FuzzSide>& sides, const Ignored& ignored,
                      const PlainStream& stream, Mismatch mismatch);

/// Takes a first mismatch, and all that show once the rules that explain it are switched. Where
/// several rules show at the same operation, each is a finding without the others.
void ExplainAll(const FuzzPlan& plan, const PlainStream& stream, Mismatch first,
                std::vector<FuzzFinding>& findings);

/// What the plan's engines show of the stream at first, with its cause; nullopt: nothing.
std::optional<FuzzFinding> FirstFinding(const FuzzPlan& plan, const PlainStream& stream);

/// Whether one side is V1, and the other a V2 of the catalogue.
bool AreV1AndV2(const Both<FuzzSide>& sides);

/// "v1:keeps_whole_payload"
std::string FullName(const ReleaseNote& note);

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_COMPARE_EXPLAIN_H_
