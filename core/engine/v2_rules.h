#ifndef RINGSCOPE_CORE_ENGINE_V2_RULES_H_
#define RINGSCOPE_CORE_ENGINE_V2_RULES_H_

#include <array>

namespace ringscope {

/// Differences between the releases of TraceBufferV2. One algorithm; each release is its
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

inline constexpr V2Rules kV54{};

inline constexpr V2Rules kV55 = [] {
  V2Rules r = kV54;
  r.readmits_grown_chunk = true;
  r.scrape_keeps_incomplete = true;
  r.wraps_at_next_commit = true;
  return r;
}();

inline constexpr V2Rules kV56 = [] {
  V2Rules r = kV55;
  r.readmission_is_no_gap = true;
  r.recommit_before_evict = true;
  r.counts_lost_fragments = true;
  r.clearing_consumes_fragments = true;
  return r;
}();

inline constexpr V2Rules kV57 = [] {
  V2Rules r = kV56;
  r.reports_loss_causes = true;
  return r;
}();

inline constexpr V2Rules kV58 = [] {
  V2Rules r = kV57;
  r.allows_writer_drop = true;
  r.relocates_completed_chunk = true;
  return r;
}();

/// A rule of V2 and its name.
struct NamedRule {
  const char* name;
  bool V2Rules::*rule;
};

#define RS_RULE(name) \
  NamedRule { #name, &V2Rules::name }
/// All rules there are.
inline constexpr std::array kNamedRules = {
    RS_RULE(reports_loss_causes),       RS_RULE(allows_writer_drop),
    RS_RULE(readmits_grown_chunk),      RS_RULE(readmission_is_no_gap),
    RS_RULE(relocates_completed_chunk), RS_RULE(scrape_keeps_incomplete),
    RS_RULE(recommit_before_evict),     RS_RULE(wraps_at_next_commit),
    RS_RULE(counts_lost_fragments),     RS_RULE(clearing_consumes_fragments),
};
#undef RS_RULE
static_assert(sizeof(V2Rules) == kNamedRules.size() * sizeof(bool), "a rule has no name");

/// The rules of a release, by its name in the catalogue.
struct V2Release {
  const char* engine;
  V2Rules rules;
};
/// All releases of V2, oldest first.
inline constexpr std::array kV2Releases = {V2Release{"v2@54", kV54}, V2Release{"v2@55", kV55},
                                           V2Release{"v2@56", kV56}, V2Release{"v2@57", kV57},
                                           V2Release{"v2@58", kV58}};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_ENGINE_V2_RULES_H_
