#ifndef RINGSCOPE_CORE_READS_READY_TIMES_H_
#define RINGSCOPE_CORE_READS_READY_TIMES_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "core/log/op.h"
#include "core/reads/found_reads.h"
#include "core/session/read_policy.h"
#include "core/session/session.h"

namespace ringscope {

/// Records after which a read may have been that returned the file's packets up to a border, and
/// none of those after it. Records are counted from 1.
struct ReadSpan {
  uint64_t earliest = 0;  // after this record all packets up to the border could be read
  uint64_t latest = 0;    // after it none of those that follow the border could
  bool is_possible() const { return earliest <= latest; }
};

/// After which records of a log the packets of a file could be read for the first time.
class ReadyTimes {
 public:
  /// Replays the log once, reading after each record, and looks for the file's packets in what that
  /// returns. Time: as a replay, and O(n log n) in the packets.
  /// @param file outlives this
  static Result<ReadyTimes> Find(const OpenOps& open, EngineLookup find_engine,
                                 const WrittenFile& file);

  /// @param packets the border: after so many packets of the file
  ReadSpan SpanOf(uint64_t packets) const { return {earliest_[packets], latest_[packets]}; }
  /// Returns true if the log has this packet of the file.
  bool IsInLog(uint64_t packet) const { return in_log_[packet]; }
  uint64_t records() const { return times_.size(); }
  /// The log's time at a record; 0 before the first.
  uint64_t TimeAt(uint64_t record) const { return record == 0 ? 0 : times_[record - 1]; }
  /// Returns the records after which a read returns the same as after this one, as nothing is
  /// committed in between.
  ReadSpan SameAs(uint64_t record) const;
  /// The last record of this time or an earlier one.
  uint64_t RecordAt(uint64_t time_ns) const;
  /// Records after which the multiples of the file's period are.
  const std::vector<uint64_t>& scheduled() const { return scheduled_; }

 private:
  struct Written {
    uint64_t hash;
    uint32_t sequence;  // in order of first packet
    uint32_t index;     // in the sequence
    uint64_t ready;
  };
  class Collector;

  void Match(std::vector<Written> written, const WrittenFile& file);

  std::vector<uint64_t> earliest_, latest_;  // by packets up to the border
  std::vector<bool> in_log_;
  std::vector<uint64_t> times_;  // by record; they never go back
  std::vector<bool> is_commit_;  // by record
  std::vector<uint64_t> scheduled_;
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_READS_READY_TIMES_H_
