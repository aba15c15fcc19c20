#ifndef RINGSCOPE_CORE_LOG_CHANGED_SOURCE_H_
#define RINGSCOPE_CORE_LOG_CHANGED_SOURCE_H_

#include <deque>
#include <memory>
#include <optional>
#include <utility>

#include "core/log/op.h"

namespace ringscope {

/// The records of another source with changes.
class ChangedSource : public OpSource {
 public:
  /// @param source outlives this; it is at the session's first record
  explicit ChangedSource(OpSource& source) : source_(source) {}
  /// Owns its source.
  explicit ChangedSource(std::unique_ptr<OpSource> source)
      : owned_(std::move(source)), source_(*owned_) {}

  Result<std::optional<Op>> Next() override {
    while (pending_.empty()) {
      RS_ASSIGN_OR_RETURN(std::optional<Op> op, source_.Next());
      if (!op || !HasChanges()) return op;
      RS_RETURN_IF_ERROR(Change(*std::move(op)));  // its request is valid until the source's next record
    }
    std::optional<Op> op = std::move(pending_.front());
    pending_.pop_front();
    return op;
  }

 protected:
  /// Returns false if records pass as they are from here on.
  virtual bool HasChanges() const = 0;
  /// Calls Add for each record that takes the place of this one. An error ends the stream.
  virtual Status Change(Op op) = 0;
  void Add(Op op) { pending_.push_back(std::move(op)); }

 private:
  const std::unique_ptr<OpSource> owned_;
  OpSource& source_;
  std::deque<Op> pending_;
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_LOG_CHANGED_SOURCE_H_
