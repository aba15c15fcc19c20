#ifndef RINGSCOPE_CORE_LOG_RETARGET_H_
#define RINGSCOPE_CORE_LOG_RETARGET_H_

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/log/op.h"
#include "core/log/service_access.h"
#include "core/perfetto/commit_request.h"

namespace ringscope {

/// Moves all that a producer, or one writer of it, writes into another buffer.
struct RetargetRule {
  ProducerId producer{};
  std::optional<WriterId> writer;  // absent: all of the producer's
  BufferId buffer{};

  friend bool operator==(const RetargetRule&, const RetargetRule&) = default;
};

/// The release of the service that judges what is committed to a buffer, 54 for v54.
using ReleaseOf = std::function<uint32_t(const BufferSetUp&)>;

/// The records of a session as if some writers had had another target buffer. A buffer that is not
/// there is set up when the first chunk goes into it, like the buffer that the chunk was meant for,
/// and is then read, cloned and freed together with that one. Chunks that the service refuses are
/// not moved. Of several rules for a chunk one for a writer wins, then the first.
class RetargetSource : public OpSource {
 public:
  /// @param source outlives this; @param release_of called once for each buffer that is set up
  RetargetSource(OpSource& source, std::vector<RetargetRule> rules, ReleaseOf release_of);
  /// Owns its source.
  RetargetSource(std::unique_ptr<OpSource> source, std::vector<RetargetRule> rules,
                 ReleaseOf release_of);

  Result<std::optional<Op>> Next() override;

  /// Returns the rules that moved no chunk so far.
  std::vector<RetargetRule> UnusedRules() const;

 private:
  struct Buffer {
    BufferSetUp setup;
    uint32_t index = 0;
    uint32_t release = kNewestRelease;
    bool open = true;
    std::optional<BufferId> made_from;  // made here
  };

  const RetargetRule* RuleFor(ProducerId producer, WriterId writer);
  void MakeBuffer(BufferId id, const Buffer& like, std::optional<uint64_t> time_ns);
  /// Puts a record at the end of what Next returns.
  void Follow(const Op& op) { pending_.push_back(op); }
  void Rewrite(Op& op);
  void RewriteCommit(const Op& op, Commit& commit);
  bool MoveChunk(const Op& op, const Commit& commit, ChunkToMove& chunk);
  bool MovePatch(ProducerId producer, ChunkToPatch& patch);

  std::unique_ptr<OpSource> owned_;
  OpSource& source_;
  const std::vector<RetargetRule> rules_;
  const ReleaseOf release_of_;
  std::vector<bool> used_;  // by rule
  std::deque<Op> pending_;  // to be returned next
  ServiceAccess access_;    // as the log has it
  std::map<BufferId, Buffer> buffers_;
  uint32_t buffers_set_up_ = 0;
  CommitRequestParser parser_;
  std::string request_;  // the commit returned last, rewritten
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_LOG_RETARGET_H_
