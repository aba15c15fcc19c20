#ifndef RINGSCOPE_CORE_LOG_RETARGET_H_
#define RINGSCOPE_CORE_LOG_RETARGET_H_

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/log/changed_source.h"
#include "core/log/op.h"
#include "core/log/service_access.h"
#include "core/perfetto/commit_request.h"

namespace ringscope {

/// Moves all that a producer, or one writer of it, writes into another buffer.
struct RetargetRule {
  ProducerId producer{};
  std::optional<WriterId> writer;  // if not all of the producer are meant
  BufferId buffer{};

  friend bool operator==(const RetargetRule&, const RetargetRule&) = default;
};

/// The records of a session as if some writers had had another target buffer. A buffer that is not
/// there is set up when the first chunk goes into it, like the buffer that the chunk was meant for,
/// and is then read, cloned and freed together with that one. Chunks that the newest service
/// refuses are not moved. Of several rules for a chunk one for a writer wins, then the first.
class RetargetSource : public ChangedSource {
 public:
  template <typename Source>
  RetargetSource(Source&& source, std::vector<RetargetRule> rules)
      : ChangedSource(std::forward<Source>(source)),
        rules_(std::move(rules)),
        used_(rules_.size()) {}

  /// Returns the rules that moved no chunk so far.
  std::vector<RetargetRule> UnusedRules() const;

 private:
  struct Buffer {
    BufferSetUp setup;  // with its index
    bool open = true;
    std::optional<BufferId> made_from;  // made here
  };

  const RetargetRule* RuleFor(ProducerId producer, WriterId writer);
  void MakeBuffer(BufferId id, const Buffer& like, std::optional<uint64_t> time_ns);
  bool HasChanges() const override { return !rules_.empty(); }
  void Change(Op op) override;
  void RewriteCommit(const Op& op, Commit& commit);
  bool MoveChunk(const Op& op, const Commit& commit, ChunkToMove& chunk);
  bool MovePatch(ProducerId producer, ChunkToPatch& patch);

  const std::vector<RetargetRule> rules_;
  std::vector<bool> used_;  // by rule
  ServiceAccess access_;    // as the log has it
  std::map<BufferId, Buffer> buffers_;
  uint32_t buffers_set_up_ = 0;
  CommitRequestParser parser_;
  std::string request_;  // the commit returned last, rewritten
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_LOG_RETARGET_H_
