#ifndef RINGSCOPE_CORE_SWEEP_SWEEP_FRONT_H_
#define RINGSCOPE_CORE_SWEEP_SWEEP_FRONT_H_

#include <map>
#include <string>
#include <vector>

#include "core/session/session.h"
#include "core/sweep/sweep_batch.h"
#include "core/sweep/written_tally.h"

namespace ringscope {

/// The part of a sweep that all configurations share: applies the service's rules to a session's
/// records, takes chunks apart, and counts what was written.
class SweepFront : private ReplayListener {
 public:
  /// @param warn gets what the user should know
  /// @param clone whose buffers count; absent: the session's
  explicit SweepFront(std::function<void(const std::string&)> warn,
                      std::optional<CloneView> clone = {});

  /// Appends the record to `batch`.
  Status Apply(const Op& op, SweepBatch& batch);
  /// At the end of the log.
  void Finish();

  /// Why shapes are not enough to know how this log replays; empty: they are, so far.
  const std::string& problem() const { return problem_; }
  /// By buffer. Complete after Finish.
  const std::map<BufferId, WrittenTally>& written() const { return written_; }
  std::optional<uint64_t> first_time_ns() const { return first_time_ns_; }
  std::optional<uint64_t> last_time_ns() const { return last_time_ns_; }

 private:
  class Gate;

  void OnBufferReplaced(SessionBuffer& buffer) override { written_.erase(buffer.id); }
  void OnChunk(BufferId buffer, const ChunkCommit& commit, std::optional<Refusal>) override;
  void OnWarning(const std::string& text) override { warn_(text); }
  void TakeApart(const ChunkCommit& commit);
  void ReadTraits(const ChunkCommit& commit);

  std::function<void(const std::string&)> warn_;
  Session session_;
  SweepBatch* batch_ = nullptr;  // of the record under way
  std::map<BufferId, WrittenTally> written_;
  // The chunk under way.
  ChunkShape shape_;
  std::vector<ShapeFragment> fragments_;
  std::string problem_;
  std::optional<uint64_t> first_time_ns_;
  std::optional<uint64_t> last_time_ns_;
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_SWEEP_SWEEP_FRONT_H_
