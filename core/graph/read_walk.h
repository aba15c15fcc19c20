#ifndef RINGSCOPE_CORE_GRAPH_READ_WALK_H_
#define RINGSCOPE_CORE_GRAPH_READ_WALK_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/base/log_moment.h"
#include "core/graph/layout_map.h"
#include "core/session/session.h"

namespace ringscope {

/// Packets that a read pass returns one after the other, of one sequence.
struct ReadStep {
  uint64_t number = 0;  // from 1
  SequenceKey sequence;
  ChunkId first_chunk{};  // the packets begin in these chunks, from the first to the last
  ChunkId last_chunk{};
  PacketCount packets;
};

/// A sequence of which the pass leaves something unread.
struct ReadStall {
  ChunkName chunk;      // the first that it leaves
  ChunkId waits_for{};  // the chunk that has not its patches, its successor or its end
  StallReason reason{};
  uint64_t chunks = 0;  // that it leaves
};

/// In which order a read pass at one moment would take what a buffer holds.
struct ReadWalk {
  BufferId buffer{};
  uint32_t index = 0;  // in the trace config: the order of the buffers in a pass
  std::string engine;
  ReadOrder order{};
  LogMoment at;
  Status status;  // an error if the engine cannot be cloned
  uint64_t write_cursor = 0;
  std::vector<ReadStep> steps;
  std::vector<ReadStall> stalls;  // by sequence
};

/// Finds the order of a read pass at a moment of a replay, by a pass over a clone of each buffer.
/// Without a moment: before the first read that finds anything, or at the end.
class ReadWalks : public ReplayListener {
 public:
  explicit ReadWalks(LayoutMoment moment) : watch_(moment) {}

  void OnRecord(const Op& op, const LogMoment& moment) override;
  void OnBufferSetUp(SessionBuffer& buffer) override { buffers_[buffer.id] = &buffer; }
  void OnBufferReplaced(SessionBuffer& buffer) override { buffers_.erase(buffer.id); }
  void OnReadBegun(BufferId buffer) override;
  Status OnLogEnd(Session& session) override;

  const MomentWatch& watch() const { return watch_; }
  /// In the order in which a pass reads the buffers, once the replay is at its end.
  const std::vector<ReadWalk>& walks() const { return walks_; }

 private:
  bool has_steps() const;
  void TakeAll();

  MomentWatch watch_;
  std::map<BufferId, const SessionBuffer*> buffers_;
  std::vector<ReadWalk> walks_;
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_GRAPH_READ_WALK_H_
