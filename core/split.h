#ifndef RINGSCOPE_CORE_SPLIT_H_
#define RINGSCOPE_CORE_SPLIT_H_

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/commit_request.h"
#include "core/op.h"

namespace ringscope {

/// What a producer, or one writer of it, writes is to go into another buffer.
struct SplitRule {
  ProducerId producer{};
  std::optional<WriterId> writer;  // absent: all of the producer's
  BufferId buffer{};

  friend bool operator==(const SplitRule&, const SplitRule&) = default;
};

/// The records of a session as if some writers had had another target buffer. If that buffer is not
/// there, it is set up when the first chunk goes into it: like the buffer that the chunk was meant
/// for, with the next free index in the trace config; it is then read, cloned and freed together
/// with that one. Chunks that the service refuses are not moved. Of several rules for the same
/// chunk one for a writer wins, then the first.
///
/// What it returns is valid until the next Next(), like that of its source.
class SplitSource : public OpSource {
 public:
  /// @param source outlives this; it stands at the session's first record
  SplitSource(OpSource& source, std::vector<SplitRule> rules);

  Result<std::optional<Op>> Next() override;

  /// Chunks moved so far.
  uint64_t moved_chunks() const { return moved_chunks_; }
  /// Rules that moved no chunk so far.
  std::vector<SplitRule> UnusedRules() const;

 private:
  struct Producer {
    std::set<BufferId> may_write;          // as the log says it
    std::map<WriterId, BufferId> writers;  // registered, as the log says it
  };
  struct Buffer {
    BufferSetUp setup;
    uint32_t index = 0;
    bool open = true;
    std::optional<BufferId> made_from;  // made here
  };

  const SplitRule* RuleFor(ProducerId producer, WriterId writer);
  bool MayWrite(ProducerId producer, WriterId writer, BufferId buffer);
  void MakeBuffer(BufferId id, const Buffer& like, std::optional<uint64_t> time_ns);
  /// Puts a record behind the one that is being returned.
  void Follow(const Op& op) { pending_.push_back(op); }
  template <typename Visit>
  void VisitMadeFrom(BufferId id, Visit visit) const;

  void Rewrite(Op& op);
  void RewriteCommit(const Op& op, Commit& commit);
  bool MoveChunk(const Op& op, ProducerId producer, ChunkToMove& chunk);
  bool MovePatch(ProducerId producer, ChunkToPatch& patch);

  OpSource& source_;
  const std::vector<SplitRule> rules_;
  std::vector<bool> used_;  // by rule
  std::deque<Op> pending_;  // to be returned next
  std::map<ProducerId, Producer> producers_;
  std::map<BufferId, Buffer> buffers_;
  uint32_t buffers_set_up_ = 0;
  bool knows_data_sources_ = false;
  uint64_t moved_chunks_ = 0;
  CommitRequestParser parser_;
  std::string request_;  // the commit returned last, rewritten
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_SPLIT_H_
