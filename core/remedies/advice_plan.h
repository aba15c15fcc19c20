#ifndef RINGSCOPE_CORE_REMEDIES_ADVICE_PLAN_H_
#define RINGSCOPE_CORE_REMEDIES_ADVICE_PLAN_H_

#include <optional>
#include <vector>

#include "core/log/retarget.h"
#include "core/perfetto/page.h"
#include "core/remedies/advice_facts.h"

namespace ringscope {

// How sizes and splits are chosen, from what a sweep over sizes found.

/// Sizes to try for every buffer, ascending, in whole pages, from four pages to more than `bytes`
/// of data can fill; at most 2 GiB. Four for each doubling, or only the doublings.
std::vector<uint64_t> AdviceSizes(uint64_t bytes, bool doublings = false);

/// Whether a buffer does what is wanted.
/// @param keep_ns each sequence reaches back that far; absent: nothing is lost
/// @param unavoidable packets that are lost at any size
bool Satisfies(const SweepRow& row, std::optional<uint64_t> keep_ns, uint64_t unavoidable);

/// What is wanted of one buffer: of one that discards or that is read periodically, to lose
/// nothing.
std::optional<uint64_t> KeepOf(const AdviceFindings& findings, FillPolicy policy);

/// The smallest size that does what is wanted, and so do all larger ones that were tried.
/// @param rows of one buffer, by size, ascending
std::optional<uint64_t> SmallestSize(const std::vector<SweepRow>& rows,
                                     std::optional<uint64_t> keep_ns);

/// Splits the buffer's sequences into rare ones, which took at most an eighth of the space, and
/// lost packets or incremental state, and chatty ones. nullopt: there are none of the one kind.
std::optional<PlannedSplit> FindSplit(const AdviceFacts& facts, BufferId buffer, BufferId to);

/// Rules for a split: for a producer, where all it writes to the buffer moves and it writes to no
/// other.
std::vector<RetargetRule> RulesOf(const AdviceFacts& facts, const PlannedSplit& split);

/// Gives the buffers of a plan their sizes within `memory`: what they need if that fits; else what
/// is there in proportion to the need, after those that need little or are to be served first.
/// Buffers without a need keep `size`.
void ShareMemory(std::vector<PlannedBuffer>& plan, uint64_t memory);

/// What became of some sequences, of rows by buffer.
GroupOutcome OutcomeOf(const std::vector<SweepRow>& rows, const std::vector<SequenceKey>& group,
                       const std::vector<BufferId>& buffers);

/// A buffer of the plan, compared with what became of the same sequences in the session.
struct PredictedBuffer {
  BufferId id{};
  std::optional<BufferId> made_from;
  FillPolicy policy = FillPolicy::kRingBuffer;
  std::optional<uint64_t> size_now;  // absent: there was none
  uint64_t size_then = 0;
  uint64_t written = 0;  // packets
  uint64_t lost_now = 0, lost_then = 0;
  uint64_t history_now_ns = 0, history_then_ns = 0;  // the shortest of any sequence
};
std::vector<PredictedBuffer> PredictionOf(const AdviceFacts& facts, const AdviceFindings& findings);

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_REMEDIES_ADVICE_PLAN_H_
