#ifndef RINGSCOPE_CORE_SESSION_BUFFER_OBSERVER_H_
#define RINGSCOPE_CORE_SESSION_BUFFER_OBSERVER_H_

#include <optional>

#include "core/session/replay_listener.h"

namespace ringscope {

/// Feeds what a buffer overwrites to its programs.
class VmFeed : public EngineObserver {
 public:
  /// @param now the record under way; must outlive this
  explicit VmFeed(const LogMoment& now) : now_(now) {}

  /// @param buffer with programs; must outlive this, or be replaced before; nullptr if none
  void FeedTo(SessionBuffer* buffer);
  void OnPacketOverwritten(const Packet& packet) override { Feed(packet); }

 protected:
  /// @return whether a program took the packet
  bool Feed(const Packet& packet);
  const LogMoment& now() const { return now_; }
  /// Returns the buffer that has the programs.
  const SessionBuffer& fed_buffer() const { return *fed_buffer_; }

 private:
  const LogMoment& now_;
  SessionBuffer* fed_buffer_ = nullptr;
};

/// Watches the engine of one buffer for the listeners of a replay: adds the buffer, the moment, and
/// why chunks leave.
class BufferObserver : public VmFeed {
 public:
  /// @param now the record under way; must outlive this, like the listeners
  BufferObserver(BufferId buffer, const LogMoment& now, const ReplayListeners& listeners)
      : VmFeed(now), buffer_(buffer), listeners_(listeners) {}

  /// The engine is about to take this chunk; EndCommit follows.
  void BeginCommit(const ChunkCommit& commit) { under_way_ = {commit.sequence, commit.chunk}; }
  void EndCommit();
  /// The chunk leaves the buffer together with all others, for a clone.
  /// @param why kTransferred or kDropped
  void LeaveForClone(const ObservedChunk& chunk, Erasure why);
  /// All that follows is not part of the log.
  void BeginDrain() { draining_ = true; }

  void OnCommitted(const ObservedChunk& chunk) override;
  void OnRewritten(const ObservedChunk& chunk) override;
  void OnRelocated(const ObservedChunk& chunk) override;
  void OnDiscarded(const ChunkCommit& commit, DiscardReason reason) override;
  void OnEvicting(const ObservedChunk& chunk, const ChunkCommit& by) override;
  void OnErased(const ObservedChunk& chunk) override;
  void OnPatched(const ObservedChunk& chunk, const ChunkPatches& patches) override;
  void OnPatchMissed(const ObservedChunk* chunk, const ChunkPatches& patches,
                     PatchMiss miss) override;
  void OnPacketReturned(const Packet& packet) override;
  void OnPacketOverwritten(const Packet& packet) override;
  void OnPacketAbandoned(SequenceKey sequence, const PacketPlace& place, uint32_t cause) override;
  void OnLossBit(SequenceKey sequence, ChunkId chunk, uint32_t bit) override;
  void OnWrap() override;
  void OnStalled(SequenceKey sequence, ChunkId chunk, StallReason reason) override;

 private:
  void Emit(ChunkName chunk, const BufferEvent::Body& body);

  const BufferId buffer_;
  const ReplayListeners& listeners_;
  bool draining_ = false;
  // The commit under way.
  std::optional<ChunkName> under_way_;
  std::optional<ChunkName> evicting_;  // the chunk whose space is being taken
  bool relocating_ = false;            // it was in the buffer, and moves
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_SESSION_BUFFER_OBSERVER_H_
