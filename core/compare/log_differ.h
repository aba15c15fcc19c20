#ifndef RINGSCOPE_CORE_COMPARE_LOG_DIFFER_H_
#define RINGSCOPE_CORE_COMPARE_LOG_DIFFER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/compare/log_diff.h"
#include "core/compare/stream_notation.h"
#include "core/session/replay.h"

namespace ringscope {

struct DiffOptions {
  Both<ReplayOptions> sides;
  Ignored ignored;
  size_t listed = 20;  // packets that differ to keep in full, of each kind
  /// The record in words, for the report of a divergence. May be empty.
  std::function<std::string(const Op&)> describe = {};
  /// Something the user should know about a side's replay. May be empty.
  std::function<void(const std::string&)> warn = {};
};

/// Compares two replays of one session in lock step: both sides apply a record, and the packets,
/// loss bits, patch results and counters that come out are compared before the next one. Packets
/// are matched by place. One pass; memory: both sides' buffers, O(chunks held), and the packets
/// that one record returns.
///
/// If both sides are read at the same moments, a packet that is returned after different records
/// is a difference ("moved"), and the order across sequences is compared within each record. If
/// not, both are left out: a packet that one side returned counts as missing on the other when
/// neither holds its chunk any more, or at the end.
class LogDiffer {
 public:
  explicit LogDiffer(DiffOptions options);
  ~LogDiffer();

  /// @param number of the record, as differences are to name it
  Status Apply(const Op& op, uint64_t number);
  /// The reads at the end. All outstanding packets are differences then.
  Result<LogDiff> Finish();

  /// The differences so far.
  const LogDiff& result() const;
  /// The side whose error Apply or Finish returned.
  Side failed() const;
  const Replay& replay(Side side) const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

/// Compares the sides over these records, which are numbered from 0.
Result<LogDiff> DiffOps(const std::vector<StoredOp>& ops, DiffOptions options);

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_COMPARE_LOG_DIFFER_H_
