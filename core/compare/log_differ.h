#ifndef RINGSCOPE_CORE_COMPARE_LOG_DIFFER_H_
#define RINGSCOPE_CORE_COMPARE_LOG_DIFFER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "core/compare/diff_section.h"
#include "core/compare/log_diff.h"
#include "core/session/replay.h"

namespace ringscope {

struct DiffOptions {
  Both<ReplayOptions> sides;
  size_t listed = 20;  // packets that differ to keep in full, of each kind
  /// The record in words, for the report of a divergence. May be empty.
  std::function<std::string(const Op&)> describe;
  /// Something the user should know about a side's replay. May be empty.
  std::function<void(Side, const std::string&)> warn;
  /// Records that both sides replay before they are compared, at most.
  size_t section_records = 4096;
  /// Where the sides replay. Empty: in the caller's thread. Callbacks are called in that.
  std::function<std::unique_ptr<SideRunner>(SideWork)> runner;
};

/// Compares two replays of one session: each record goes into both sides, and what is returned
/// is matched by place, record by record. Both sides replay sections of records, perhaps at the
/// same time, which are compared once both have replayed them. One pass; memory: both sides'
/// buffers, O(chunks held), what some sections make them return, and what one record does.
///
/// If both sides are read at the same moments, a packet that is returned after different records is
/// a difference ("moved"), and the order across sequences is compared within each record. If not,
/// both are left out: a packet that one side returned counts as missing on the other when
/// neither holds its chunk any more, or at the end.
///
/// A side with an engine that is not of the catalogue may end in the middle of the log. Then both
/// take one record after the other, and each is compared before the next one.
class LogDiffer {
 public:
  explicit LogDiffer(DiffOptions options);
  ~LogDiffer();

  /// The record is compared now, or later.
  /// @param number of the record, as differences are to name it
  /// @return the first error of the records compared by now
  Status Apply(const Op& op, uint64_t number);
  /// All records so far are compared. @return the first error of one
  Status CatchUp();
  /// The reads at the end; then all that is outstanding is settled.
  Result<LogDiff> Finish();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_COMPARE_LOG_DIFFER_H_
