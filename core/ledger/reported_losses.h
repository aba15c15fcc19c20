#ifndef RINGSCOPE_CORE_LEDGER_REPORTED_LOSSES_H_
#define RINGSCOPE_CORE_LEDGER_REPORTED_LOSSES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/ids.h"
#include "core/base/log_moment.h"
#include "core/log/op.h"

namespace ringscope {

/// A place where the log itself reports that something is missing: its recorder missed it, it
/// cannot be read, or the trace that the log was made of reports a loss.
struct ReportedLoss {
  LogMoment at;  // its record
  std::string reason;
  std::optional<ProducerId> producer;   // absent: any
  std::optional<SequenceKey> sequence;  // whose packets are missing, where that is known
  uint32_t loss_bits = 0;               // of the packet after it, in a trace
  std::optional<uint64_t> records;
  std::optional<uint64_t> bytes;
  std::optional<uint64_t> from_ns;  // what is missing is from this time on,
  std::optional<uint64_t> to_ns;    // and up to this one

  bool Concerns(SequenceKey key) const {
    return sequence ? *sequence == key : !producer || *producer == key.producer;
  }
};

/// Gathers them from the records. Memory: up to a limit.
class ReportedLosses {
 public:
  explicit ReportedLosses(size_t limit) : limit_(limit) {}

  void Add(const Op& op, const LogMoment& moment);

  /// In order of the log.
  const std::vector<ReportedLoss>& list() const { return list_; }
  uint64_t unlisted() const { return unlisted_; }
  bool from_trace() const { return from_trace_; }
  /// Index of the first one between two records that may explain what the sequence lacks there.
  std::optional<size_t> Between(const LogMoment& first, const LogMoment& last,
                                SequenceKey sequence) const;
  /// Returns true if one may explain what the sequence lacks there, listed or not.
  bool MayExplain(const LogMoment& first, const LogMoment& last, SequenceKey sequence) const {
    const bool is_past_list = unlisted_ > 0 && list_.back().at.record <= last.record;
    return is_past_list || Between(first, last, sequence);
  }

 private:
  const size_t limit_;
  std::vector<ReportedLoss> list_;
  uint64_t unlisted_ = 0;
  bool from_trace_ = false;
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_LEDGER_REPORTED_LOSSES_H_
