#ifndef RINGSCOPE_CORE_ENGINE_V2_RULES_H_
#define RINGSCOPE_CORE_ENGINE_V2_RULES_H_

#include <array>
#include <cstdint>

namespace ringscope {

/// Differences between the releases of TraceBufferV2: one algorithm; each release is its
/// predecessor plus named changes. Source: observed behaviour of the released buffers.
struct V2Rules {
  /// previous_packet_dropped reports causes (LossBit values), not just 0 or 1.
  bool reports_loss_causes = false;
  /// An abort marker among a chunk's fragments is not an ABI violation.
  bool allows_writer_drop = false;
  /// A chunk that was consumed while incomplete is taken in again if more of it is committed.
  bool readmits_grown_chunk = false;
  /// Such a chunk, following itself, is not a gap to the reader.
  bool readmission_is_no_gap = false;
  /// A consumed incomplete chunk that is completed later moves to the write cursor.
  bool relocates_completed_chunk = false;
  /// Only a complete commit ends a stored chunk's incompleteness; another scrape does not.
  bool scrape_keeps_incomplete = false;
  /// A re-commit is found before space is cleared, so that it evicts nothing.
  bool recommit_before_evict = false;
  /// The write cursor may stay at the buffer's end; the next commit wraps it, and counts that.
  bool wraps_at_next_commit = false;
  /// chunks_overwritten counts chunks whose last fragment was lost, not all that were cleared.
  bool counts_lost_fragments = false;
  /// Clearing consumes the fragments of a packet that cannot be completed.
  bool clearing_consumes_fragments = false;
};

/// A rule of V2.
struct NamedRule {
  const char* name;
  bool V2Rules::*rule;
  uint32_t since;  // the first release of Perfetto that has it
};
/// All rules there are.
inline constexpr std::array kNamedRules = std::to_array<NamedRule>({
    {"reports_loss_causes", &V2Rules::reports_loss_causes, 57},
    {"allows_writer_drop", &V2Rules::allows_writer_drop, 58},
    {"readmits_grown_chunk", &V2Rules::readmits_grown_chunk, 55},
    {"readmission_is_no_gap", &V2Rules::readmission_is_no_gap, 56},
    {"relocates_completed_chunk", &V2Rules::relocates_completed_chunk, 58},
    {"scrape_keeps_incomplete", &V2Rules::scrape_keeps_incomplete, 55},
    {"recommit_before_evict", &V2Rules::recommit_before_evict, 56},
    {"wraps_at_next_commit", &V2Rules::wraps_at_next_commit, 55},
    {"counts_lost_fragments", &V2Rules::counts_lost_fragments, 56},
    {"clearing_consumes_fragments", &V2Rules::clearing_consumes_fragments, 56},
});
static_assert(sizeof(V2Rules) == kNamedRules.size() * sizeof(bool), "a rule has no name");

/// The first release that has TraceBufferV2.
inline constexpr uint32_t kFirstV2Release = 54;

/// The rules of a release of Perfetto, 54 for v54.
constexpr V2Rules RulesOf(uint32_t release) {
  V2Rules rules;
  for (const NamedRule& named : kNamedRules) rules.*named.rule = named.since <= release;
  return rules;
}

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_ENGINE_V2_RULES_H_
