#ifndef RINGSCOPE_CORE_TESTING_OPS_IN_MEMORY_H_
#define RINGSCOPE_CORE_TESTING_OPS_IN_MEMORY_H_

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "core/compare/stream_notation.h"
#include "core/log/op.h"

namespace ringscope::testing {

/// A source of records that lie in memory. What they point to is not owned.
class OpsInMemory : public OpSource {
 public:
  explicit OpsInMemory(std::vector<Op> ops) : ops_(std::move(ops)) {}
  Result<std::optional<Op>> Next() override {
    if (next_ == ops_.size()) return std::optional<Op>();
    return ops_[next_++];
  }

 private:
  const std::vector<Op> ops_;
  size_t next_ = 0;
};

/// A log that is read once and can then be opened as often as a test needs it.
class LogInMemory {
 public:
  static Result<LogInMemory> Read(OpSource& source) {
    LogInMemory log;
    while (true) {
      RS_ASSIGN_OR_RETURN(const std::optional<Op> op, source.Next());
      if (!op) return log;
      log.stored_.emplace_back(*op);
      log.ops_.push_back(log.stored_.back().op());
    }
  }

  /// The source must not outlive this log.
  std::unique_ptr<OpSource> Open() const { return std::make_unique<OpsInMemory>(ops_); }

 private:
  std::vector<StoredOp> stored_;  // share the bytes that ops_ point to
  std::vector<Op> ops_;
};

}  // namespace ringscope::testing

#endif  // RINGSCOPE_CORE_TESTING_OPS_IN_MEMORY_H_
