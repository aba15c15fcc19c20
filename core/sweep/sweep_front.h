#ifndef RINGSCOPE_CORE_SWEEP_SWEEP_FRONT_H_
#define RINGSCOPE_CORE_SWEEP_SWEEP_FRONT_H_

#include <functional>
#include <string>

#include "core/session/session.h"
#include "core/sweep/batch_builder.h"

namespace ringscope {

/// The part of a sweep that all configurations share: applies the service's rules to a session's
/// records, and makes batches of what the buffers get.
class SweepFront : private ReplayListener {
 public:
  /// @param warn gets what the user should know
  /// @param clone whose buffers count; absent: the session's
  explicit SweepFront(std::function<void(const std::string&)> warn,
                      std::optional<CloneView> clone = {});

  /// Adds the record to the batch.
  Status Apply(const Op& op);
  BatchBuilder& batches() { return batches_; }

 private:
  class Gate;

  void OnBufferReplaced(SessionBuffer& buffer) override { batches_.EndBuffer(buffer.id); }
  void OnChunk(BufferId buffer, const ChunkCommit& commit, std::optional<Refusal>) override {
    written_.Take(commit);
    batches_.AddWritten(buffer, written_);
  }
  void OnWarning(const std::string& text) override { warn_(text); }

  std::function<void(const std::string&)> warn_;
  Session session_;
  BatchBuilder batches_;
  WrittenCommit written_;  // the chunk under way
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_SWEEP_SWEEP_FRONT_H_
